// tree-tool: looks at and edits znodes for the end-to-end tests, one line of JSON per answer.
//
//   tree-tool HOST:PORT[/chroot] dump PATH          every znode at and below PATH: {"path","data","version","czxid"}
//   tree-tool … create PATH [DATA] | create-seq PREFIX [DATA] | set PATH DATA | delete PATH
//   tree-tool … serve                               the same commands, one a line on stdin, tab between words

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "adapters/os/system_clock.h"
#include "adapters/zookeeper/zk_connector.h"
#include "tree/paths.h"

namespace {

using kro::ZkMode;
using nlohmann::json;

class Tool {
 public:
  explicit Tool(kro::ZkSession& session) : session_(session) {}

  bool run(const std::vector<std::string>& words) {
    if (words.empty()) return fail("no command");
    const std::string& verb = words[0];
    const std::string path = words.size() > 1 ? words[1] : "/";
    const std::string data = words.size() > 2 ? words[2] : "";
    if (verb == "dump") {
      json out = json::array();
      if (!dump(path, out)) return false;
      std::cout << out.dump() << std::endl;
      return true;
    }
    if (verb == "create") return write(kro::ZkCreate{path, data, ZkMode::kPersistent});
    if (verb == "create-seq") return write(kro::ZkCreate{path, data, ZkMode::kPersistentSequential});
    if (verb == "set") return write(kro::ZkSet{path, data});
    if (verb == "delete") return write(kro::ZkDelete{path});
    return fail("unknown command " + verb);
  }

 private:
  kro::Deadline deadline() const { return clock_.in(std::chrono::seconds(20)); }

  static bool fail(const std::string& text) {
    std::cout << json{{"error", text}}.dump() << std::endl;
    return false;
  }

  bool write(kro::ZkOp op) {
    const auto written = session_.multi({std::move(op)}, deadline());
    if (!written) return fail(written.error().text());
    std::cout << json{{"path", written->front().path}}.dump() << std::endl;
    return true;
  }

  bool dump(const std::string& path, json& out) {
    const auto node = session_.get(path, false, deadline());
    if (!node) return fail(node.error().text());
    if (!*node) return true;
    out.push_back({{"path", path},
                   {"data", (*node)->data},
                   {"version", (*node)->stat.version},
                   {"czxid", kro::tree::hex((*node)->stat.czxid)}});
    const auto children = session_.children(path, false, deadline());
    if (!children) return fail(children.error().text());
    if (!*children) return true;
    for (const std::string& name : (*children)->names)
      if (!dump(path == "/" ? "/" + name : path + "/" + name, out)) return false;
    return true;
  }

  kro::ZkSession& session_;
  kro::SystemClock clock_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: tree-tool HOST:PORT[/chroot] dump|create|create-seq|set|delete|serve …\n", stderr);
    return 2;
  }
  const std::string address = argv[1];
  const auto slash = address.find('/');
  kro::ZkConfig config;
  config.connect = address.substr(0, slash);
  config.chroot = slash == std::string::npos ? "" : address.substr(slash);
  const auto connector = kro::make_zk_connector();
  auto session = connector->open(config, [](const kro::ZkEvent&) {});
  const kro::SystemClock clock;
  if (!session || !(*session)->wait_connected(clock.in(std::chrono::seconds(20)))) {
    std::fputs("tree-tool: no connection to ZooKeeper\n", stderr);
    return 1;
  }
  Tool tool(**session);
  bool good = true;
  if (std::string(argv[2]) == "serve") {
    for (std::string line; std::getline(std::cin, line);) {
      std::vector<std::string> words;
      std::istringstream in(line);
      for (std::string word; std::getline(in, word, '\t');) words.push_back(word);
      tool.run(words);
    }
  } else {
    good = tool.run({argv + 2, argv + argc});
  }
  (*session)->close();
  return good ? 0 : 1;
}
