#include "adapters/os/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace kro {
namespace {

tl::unexpected<Error> failed(const std::string& path, int number) {
  ErrorCode code = ErrorCode::kInternal;
  if (number == ENOENT || number == ENOTDIR) code = ErrorCode::kNotFound;
  if (number == EACCES || number == EPERM) code = ErrorCode::kUnauthorized;
  return fail(code, Retry::kTransient, "cannot read " + path + ": " + std::strerror(number));
}

struct Descriptor {
  int fd = -1;
  explicit Descriptor(int n) : fd(n) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t most) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd < 0) return failed(path, errno);
  std::string out;
  std::array<char, 16384> buffer{};
  while (true) {
    const ssize_t n = ::read(file.fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed(path, errno);
    if (n == 0) return out;
    out.append(buffer.data(), static_cast<std::size_t>(n));
    if (out.size() > most)
      return fail(ErrorCode::kTooLarge, Retry::kTransient, path + " has more than " + std::to_string(most) + " bytes");
  }
}

std::string hostname() {
  std::array<char, 256> buffer{};
  if (::gethostname(buffer.data(), buffer.size() - 1) != 0 || buffer[0] == '\0') return "localhost";
  return buffer.data();
}

}  // namespace kro
