#include <yaml-cpp/yaml.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "adapters/kube/kube_client.h"
#include "base/log.h"

namespace kro {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
}

std::optional<std::string> decode_base64(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int have = 0;
  for (const char c : text) {
    std::uint32_t value = 0;
    if (c >= 'A' && c <= 'Z') {
      value = static_cast<std::uint32_t>(c - 'A');
    } else if (c >= 'a' && c <= 'z') {
      value = static_cast<std::uint32_t>(c - 'a') + 26;
    } else if (c >= '0' && c <= '9') {
      value = static_cast<std::uint32_t>(c - '0') + 52;
    } else if (c == '+') {
      value = 62;
    } else if (c == '/') {
      value = 63;
    } else if (c == '=' || c == '\n' || c == '\r' || c == ' ') {
      continue;
    } else {
      return std::nullopt;
    }
    bits = (bits << 6U) | value;
    have += 6;
    if (have >= 8) {
      have -= 8;
      out.push_back(static_cast<char>((bits >> static_cast<unsigned>(have)) & 0xFFU));
    }
  }
  return out;
}

std::string text_of(const YAML::Node& map, const char* key) {
  if (!map.IsMap()) return {};
  const YAML::Node value = map[key];
  return value && value.IsScalar() ? value.Scalar() : std::string();
}

// The entry `name` of a kubeconfig list ("clusters", "users", "contexts"), its inner map.
std::optional<YAML::Node> entry(const YAML::Node& root, const char* list, const char* inner, const std::string& name) {
  const YAML::Node items = root[list];
  if (!items || !items.IsSequence()) return std::nullopt;
  for (const YAML::Node& item : items) {
    if (text_of(item, "name") == name && item[inner] && item[inner].IsMap()) return item[inner];
  }
  return std::nullopt;
}

// `key`-data (base64) or the file that `key` names, relative to the kubeconfig.
Result<std::string> data_or_file(const YAML::Node& map, const std::string& key, const fs::path& folder) {
  if (const std::string data = text_of(map, (key + "-data").c_str()); !data.empty()) {
    auto decoded = decode_base64(data);
    if (!decoded) return invalid(key + "-data is not base64");
    return std::move(*decoded);
  }
  const std::string file = text_of(map, key.c_str());
  if (file.empty()) return std::string();
  auto content = read_file(folder / file);
  if (!content) return invalid(key + ": cannot read " + (folder / file).string());
  return std::move(*content);
}

Status read_cluster(const YAML::Node& cluster, const fs::path& folder, KubeConnection& out) {
  out.server = text_of(cluster, "server");
  if (out.server.empty()) return invalid("the cluster has no server");
  while (out.server.ends_with('/')) out.server.pop_back();
  if (!text_of(cluster, "proxy-url").empty()) {
    return fail(ErrorCode::kUnsupported, Retry::kPermanent, "proxy-url is not supported");
  }
  auto ca = data_or_file(cluster, "certificate-authority", folder);
  if (!ca) return tl::unexpected(std::move(ca.error()));
  out.ca_pem = std::move(*ca);
  out.tls_server_name = text_of(cluster, "tls-server-name");
  out.insecure = text_of(cluster, "insecure-skip-tls-verify") == "true";
  if (out.insecure && !out.ca_pem.empty()) {
    return invalid("the cluster has both a certificate-authority and insecure-skip-tls-verify");
  }
  if (out.insecure) log::warn("the API server's certificate is not verified", {{"server", out.server}});
  return {};
}

Status read_user(const YAML::Node& user, const fs::path& folder, KubeConnection& out) {
  for (const char* key : {"exec", "auth-provider", "username", "password", "as", "as-groups"}) {
    if (user[key]) {
      return fail(ErrorCode::kUnsupported, Retry::kPermanent,
                  std::string("the user has '") + key +
                      "', which is not supported; use a token, a tokenFile or a client certificate (for example "
                      "`kubectl create token` for a service account)");
    }
  }
  out.token = text_of(user, "token");
  if (const std::string file = text_of(user, "tokenFile"); !file.empty()) {
    out.token_file = (folder / file).string();
    out.token.clear();
    if (!read_file(out.token_file)) return invalid("tokenFile: cannot read " + out.token_file);
  }
  auto cert = data_or_file(user, "client-certificate", folder);
  if (!cert) return tl::unexpected(std::move(cert.error()));
  auto key = data_or_file(user, "client-key", folder);
  if (!key) return tl::unexpected(std::move(key.error()));
  if (cert->empty() != key->empty()) return invalid("the user has only one of client-certificate and client-key");
  out.client_cert_pem = std::move(*cert);
  out.client_key_pem = std::move(*key);
  return {};
}

Result<KubeConnection> read_root(const YAML::Node& root, const fs::path& folder) {
  if (!root.IsMap()) return invalid("not a kubeconfig");
  const std::string current = text_of(root, "current-context");
  if (current.empty()) return invalid("no current-context");
  const auto context = entry(root, "contexts", "context", current);
  if (!context) return invalid("no context '" + current + "'");
  const auto cluster = entry(root, "clusters", "cluster", text_of(*context, "cluster"));
  if (!cluster) return invalid("no cluster '" + text_of(*context, "cluster") + "'");
  KubeConnection out;
  if (auto read = read_cluster(*cluster, folder, out); !read) return tl::unexpected(std::move(read.error()));
  if (const std::string ns = text_of(*context, "namespace"); !ns.empty()) out.default_namespace = ns;
  const std::string user_name = text_of(*context, "user");
  if (!user_name.empty()) {
    const auto user = entry(root, "users", "user", user_name);
    if (!user) return invalid("no user '" + user_name + "'");
    if (auto read = read_user(*user, folder, out); !read) return tl::unexpected(std::move(read.error()));
  }
  return out;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): start-up, before threads
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

Result<KubeConnection> load_kubeconfig(const std::string& path) {
  try {
    const auto text = read_file(path);
    if (!text) return invalid("cannot read the kubeconfig " + path);
    auto out = read_root(YAML::Load(*text), fs::path(path).parent_path());
    if (!out) return pass_on(std::move(out.error()), "kubeconfig " + path);
    return out;
  } catch (const std::exception& e) {
    return invalid("kubeconfig " + path + ": " + e.what());
  }
}

Result<KubeConnection> in_cluster() {
  constexpr const char* kFolder = "/var/run/secrets/kubernetes.io/serviceaccount";
  std::string host = environment("KUBERNETES_SERVICE_HOST");
  std::string port = environment("KUBERNETES_SERVICE_PORT");
  if (host.empty()) return invalid("not in a cluster: KUBERNETES_SERVICE_HOST is not set");
  if (port.empty()) port = "443";
  // The HTTP library cannot connect to an IPv6 literal; the service has this name in every cluster.
  if (host.find(':') != std::string::npos) host = "kubernetes.default.svc";
  KubeConnection out;
  out.server = "https://" + host + ":" + port;
  out.ca_file = std::string(kFolder) + "/ca.crt";
  out.token_file = std::string(kFolder) + "/token";
  for (const std::string& file : {out.ca_file, out.token_file}) {
    if (!read_file(file)) return invalid("not in a cluster: cannot read " + file);
  }
  if (auto ns = read_file(std::string(kFolder) + "/namespace"); ns && !ns->empty()) out.default_namespace = *ns;
  return out;
}

}  // namespace kro
