#include "app/operator_config.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <exception>
#include <set>

#include "adapters/os/files.h"
#include "app/options_addresses.h"

namespace kro {
namespace {

constexpr std::size_t kMostClusters = 100;
constexpr std::size_t kMostListEntries = 1000;

// Ends at the boundary of this file: parse_operator_config turns it into a Result.
struct Problem {
  YAML::Mark mark;
  ErrorCode code;
  std::string message;
};

[[noreturn]] void refuse(const YAML::Node& where, const std::string& message, ErrorCode code = ErrorCode::kInvalid) {
  throw Problem{where.Mark(), code, message};
}

bool good_label(std::string_view text) {
  if (text.empty() || text.size() > 63 || text.front() == '-' || text.back() == '-') return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

bool good_glob(std::string_view text) {
  if (text.empty() || text.size() > 249) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-' || c == '*' || c == '?';
  });
}

// The keys of one map, each looked at once; what nobody looked at is an unknown key.
class Keys {
 public:
  Keys(const YAML::Node& map, std::string where) : map_(map), where_(std::move(where)) {
    if (!map.IsMap()) refuse(map, where_ + " must be a map");
    for (const auto& entry : map) {
      if (!entry.first.IsScalar()) refuse(entry.first, where_ + ": a key must be a text");
      if (!unseen_.insert(entry.first.Scalar()).second)
        refuse(entry.first, where_ + ": \"" + entry.first.Scalar() + "\" stands there twice");
    }
  }

  // Null (undefined) where the key is absent.
  YAML::Node take(const std::string& key) {
    known_ += (known_.empty() ? "" : ", ") + key;
    if (unseen_.erase(key) == 0) return YAML::Node(YAML::NodeType::Undefined);
    return map_[key];
  }

  YAML::Node need(const std::string& key, const std::string& example) {
    const bool there = unseen_.contains(key);
    const YAML::Node value = take(key);
    if (!there) refuse(map_, where_ + ": \"" + key + "\" is missing; write " + example);
    return value;
  }

  void end() const {
    if (unseen_.empty()) return;
    for (const auto& entry : map_)
      if (unseen_.contains(entry.first.Scalar()))
        refuse(entry.first, where_ + ": unknown key \"" + entry.first.Scalar() + "\"; known are " + known_);
  }

 private:
  const YAML::Node map_;
  const std::string where_;
  std::set<std::string> unseen_;
  std::string known_;
};

std::string text_of(const YAML::Node& node, const std::string& what) {
  if (!node.IsScalar() || node.Scalar().empty()) refuse(node, what + " must be a text");
  return node.Scalar();
}

std::vector<std::string> list_of(const YAML::Node& node, const std::string& what, const std::string& example,
                                 bool (*good)(std::string_view)) {
  std::vector<std::string> out;
  if (!node.IsDefined() || node.IsNull()) return out;
  if (!node.IsSequence()) refuse(node, what + " must be a list, such as " + example);
  if (node.size() > kMostListEntries)
    refuse(node, what + " has more than " + std::to_string(kMostListEntries) + " entries");
  for (const auto& entry : node) {
    std::string text = text_of(entry, "an entry of " + what);
    if (!good(text)) refuse(entry, "\"" + text + "\" cannot stand in " + what + "; write entries such as " + example);
    if (std::find(out.begin(), out.end(), text) != out.end()) refuse(entry, "\"" + text + "\" stands twice in " + what);
    out.push_back(std::move(text));
  }
  return out;
}

ZooKeeperAuthConfig auth_of(const YAML::Node& node, const std::string& where) {
  Keys keys(node, where);
  ZooKeeperAuthConfig out;
  const YAML::Node scheme = keys.need("scheme", "scheme: digest");
  out.scheme = text_of(scheme, where + ".scheme");
  if (out.scheme == "sasl-digest-md5")
    refuse(scheme, where + ".scheme: sasl-digest-md5 is not supported by this build yet; use digest",
           ErrorCode::kUnsupported);
  if (out.scheme != "digest") refuse(scheme, where + ".scheme: \"" + out.scheme + "\" is not known; use digest");
  out.username_file = text_of(keys.need("usernameFile", "the path of a mounted file"), where + ".usernameFile");
  out.password_file = text_of(keys.need("passwordFile", "the path of a mounted file"), where + ".passwordFile");
  keys.end();
  return out;
}

ZooKeeperClusterConfig zookeeper_of(const YAML::Node& node, const std::string& where) {
  Keys keys(node, where);
  ZooKeeperClusterConfig out;
  const YAML::Node connect = keys.need("connect", "connect: \"zk-0:2181,zk-1:2181\"");
  out.connect = text_of(connect, where + ".connect");
  if (out.connect.find('/') != std::string::npos)
    refuse(connect, where + ".connect: write the path as chroot, not at the end of connect");
  if (auto good = check_host_ports(out.connect, where + ".connect"); !good) refuse(connect, good.error().text());

  const YAML::Node chroot = keys.take("chroot");
  if (chroot.IsDefined() && !chroot.IsNull() && !(chroot.IsScalar() && chroot.Scalar().empty())) {
    out.chroot = text_of(chroot, where + ".chroot");
    if (auto good = check_chroot(out.chroot); !good) refuse(chroot, where + "." + good.error().text());
  }

  const YAML::Node timeout = keys.take("sessionTimeout");
  if (timeout.IsDefined()) {
    const auto span = parse_duration(text_of(timeout, where + ".sessionTimeout"));
    if (!span || *span < 1s || *span > 600s)
      refuse(timeout, where + ".sessionTimeout must be a duration from 1s to 10m, such as 10s");
    out.session_timeout = *span;
  }

  const YAML::Node tls = keys.take("tls");
  if (tls.IsDefined() && !tls.IsNull())
    refuse(tls, where + ".tls is not supported by this build yet; leave it out only if plain text is acceptable",
           ErrorCode::kUnsupported);
  const YAML::Node auth = keys.take("auth");
  if (auth.IsDefined() && !auth.IsNull()) out.auth = auth_of(auth, where + ".auth");
  keys.end();
  return out;
}

ClusterConfig cluster_of(const YAML::Node& node, std::size_t index) {
  const std::string where = "clusters[" + std::to_string(index) + "]";
  Keys keys(node, where);
  ClusterConfig out;
  const YAML::Node name = keys.need("name", "name: prod-eu");
  out.name = text_of(name, where + ".name");
  if (!good_label(out.name))
    refuse(name, where + ".name: \"" + out.name +
                     "\" is no cluster name; use 1 to 63 of a-z 0-9 -, with a letter or digit at both ends");
  out.zookeeper = zookeeper_of(keys.need("zookeeper", "zookeeper: {connect: \"zk-0:2181\"}"), where + ".zookeeper");
  out.allowed_namespaces = list_of(keys.take("allowedNamespaces"), where + ".allowedNamespaces", "[kafka]", good_label);
  out.allowed_topics = list_of(keys.take("allowedTopics"), where + ".allowedTopics", "[\"*\"]", good_glob);
  keys.end();
  return out;
}

OperatorConfig config_of(const YAML::Node& root) {
  Keys keys(root, "the configuration");
  OperatorConfig out;
  const YAML::Node id = keys.need("operatorId", "operatorId: kube-prod-1, unique among all operators of an ensemble");
  out.operator_id = text_of(id, "operatorId");
  if (out.operator_id.size() > 63 || !std::all_of(out.operator_id.begin(), out.operator_id.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
      }))
    refuse(id, "operatorId: \"" + out.operator_id + "\" must be 1 to 63 of a-z 0-9 -");

  const YAML::Node clusters = keys.need("clusters", "a list of Kafka clusters");
  if (!clusters.IsSequence()) refuse(clusters, "clusters must be a list");
  if (clusters.size() > kMostClusters) refuse(clusters, "more than " + std::to_string(kMostClusters) + " clusters");
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    ClusterConfig cluster = cluster_of(clusters[i], i);
    for (const auto& other : out.clusters) {
      if (other.name == cluster.name)
        refuse(clusters[i],
               "clusters[" + std::to_string(i) + "].name: \"" + cluster.name + "\" is taken by another cluster");
      if (other.zookeeper.connect == cluster.zookeeper.connect && other.zookeeper.chroot == cluster.zookeeper.chroot)
        refuse(clusters[i],
               "clusters[" + std::to_string(i) + "]: \"" + other.name + "\" has the same connect and chroot");
    }
    out.clusters.push_back(std::move(cluster));
  }
  out.watch_namespaces = list_of(keys.take("watchNamespaces"), "watchNamespaces", "[kafka]", good_label);
  keys.end();
  return out;
}

}  // namespace

Result<OperatorConfig> parse_operator_config(std::string_view text, const std::string& file) {
  const auto at = [&](const YAML::Mark& mark) {
    return file + ":" + (mark.is_null() ? std::string("1") : std::to_string(mark.line + 1)) + ": ";
  };
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(std::string(text));
    if (documents.size() != 1 || documents[0].IsNull())
      return invalid(file + ":1: must hold one YAML document, with operatorId and clusters");
    return config_of(documents[0]);
  } catch (const Problem& problem) {
    return fail(problem.code, Retry::kPermanent, at(problem.mark) + problem.message);
  } catch (const YAML::Exception& error) {
    return invalid(at(error.mark) + error.msg);
  } catch (const std::exception& error) {
    return invalid(file + ": " + error.what());
  }
}

Result<OperatorConfig> load_operator_config(const std::string& file) {
  const auto text = read_file(file);
  if (!text) return tl::unexpected<Error>(text.error());
  return parse_operator_config(*text, file);
}

}  // namespace kro
