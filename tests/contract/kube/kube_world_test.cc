#include "contract/kube/kube_world.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "adapters/kube/kube_client.h"
#include "fakes/fake_kube.h"

namespace kro::contract {
namespace {

class FakeWorld final : public KubeWorld {
 public:
  KubeApi& api() override { return fake_; }
  [[nodiscard]] std::string ns() const override { return "kro-contract"; }
  Result<KubeMeta> apply(const std::string& manifest_json) override { return fake_.apply(manifest_json); }
  Status erase(const KubeResource& resource, const KubeName& name) override { return fake_.erase(resource, name); }
  void expire_first_version() override { fake_.expire_versions(); }
  [[nodiscard]] bool is_real() const override { return false; }

 private:
  FakeKube fake_{[] { return WallTime(milliseconds(1'800'000'000'000)); }};
};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

class RealWorld final : public KubeWorld {
 public:
  RealWorld() {
    auto connection = load_kubeconfig(environment("KUBECONFIG"));
    if (!connection) throw std::runtime_error(connection.error().text());
    api_ = make_kube_client(*connection, nullptr);
    std::random_device random;
    std::array<char, 32> suffix{};
    std::snprintf(suffix.data(), suffix.size(), "%08x%04x", random(), random() & 0xFFFFU);
    ns_ = std::string("kro-contract-") + suffix.data();
    const auto made = api_->create({"", "v1", "namespaces"}, "", R"({"metadata":{"name":")" + ns_ + R"("}})",
                                   {std::chrono::steady_clock::now() + 10s, {}});
    if (!made) throw std::runtime_error(made.error().text());
  }
  ~RealWorld() override { (void)kubectl("delete namespace " + ns_ + " --wait=false"); }
  RealWorld(const RealWorld&) = delete;
  RealWorld& operator=(const RealWorld&) = delete;

  KubeApi& api() override { return *api_; }
  [[nodiscard]] std::string ns() const override { return ns_; }
  Result<KubeMeta> apply(const std::string& manifest_json) override {
    const std::string file = "/tmp/" + ns_ + ".json";
    std::ofstream(file) << manifest_json;
    auto text = kubectl("apply --server-side --force-conflicts --field-manager=people -o json -f " + file);
    std::remove(file.c_str());
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object()) return invalid(text);
    return KubeMeta{json["metadata"]["uid"].get<std::string>(), json["metadata"]["resourceVersion"].get<std::string>()};
  }
  Status erase(const KubeResource& resource, const KubeName& name) override {
    const std::string type = resource.plural + (resource.group.empty() ? "" : "." + resource.group);
    const auto out = kubectl("delete " + type + " -n " + name.ns + " " + name.name + " --wait=false");
    if (out.find("deleted") == std::string::npos) return invalid(out);
    return {};
  }
  // A real server is far beyond it.
  void expire_first_version() override {}
  [[nodiscard]] bool is_real() const override { return true; }

 private:
  static std::string kubectl(const std::string& arguments) {
    std::string out;
    FILE* pipe = popen(("kubectl " + arguments + " 2>&1").c_str(), "r");
    if (pipe == nullptr) return "cannot run kubectl";
    std::array<char, 4096> buffer{};
    for (std::size_t n = 0; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) out.append(buffer.data(), n);
    pclose(pipe);
    return out;
  }

  std::unique_ptr<KubeApi> api_;
  std::string ns_;
};

}  // namespace

std::unique_ptr<KubeWorld> make_fake_world() { return std::make_unique<FakeWorld>(); }
std::unique_ptr<KubeWorld> make_real_world() { return std::make_unique<RealWorld>(); }

std::vector<std::string> world_names() {
  std::vector<std::string> out{"fake"};
  if (!environment("KUBECONFIG").empty() && environment("KRO_TEST_REAL_KUBE") == "1") out.emplace_back("real");
  return out;
}

std::unique_ptr<KubeWorld> make_world(const std::string& name) {
  return name == "real" ? make_real_world() : make_fake_world();
}

}  // namespace kro::contract
