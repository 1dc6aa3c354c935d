#include <gtest/gtest.h>

#include <mutex>
#include <nlohmann/json.hpp>

#include "adapters/kube/kube_client.h"
#include "contract/kube/scripted_server.h"
#include "contract/kube/watch_recorder.h"

namespace kro::contract {
namespace {

using Connection = ScriptedServer::Connection;
using Type = KubeWatchEvent::Type;

const KubeResource kReassignments{"kafka-reassignment.io", "v1alpha1", "kafkareassignments"};
constexpr const char* kMeta = R"({"metadata":{"uid":"u","resourceVersion":"2"}})";
const std::string kStreamHead =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";

Deadline within(milliseconds span) { return {std::chrono::steady_clock::now() + span, {}}; }

std::string added(const std::string& name, const std::string& version) {
  return R"({"type":"ADDED","object":{"metadata":{"name":")" + name + R"(","resourceVersion":")" + version + "\"}}}\n";
}

struct Asked {
  std::mutex mutex;
  std::vector<std::string> list;
  void add(const std::string& text) {
    const std::scoped_lock lock(mutex);
    list.push_back(text);
  }
  std::vector<std::string> get() {
    const std::scoped_lock lock(mutex);
    return list;
  }
};

std::unique_ptr<KubeApi> client(const ScriptedServer& server, Asked* codes = nullptr, const std::string& token = "") {
  KubeConnection connection;
  connection.server = server.url();
  connection.token = token;
  connection.version = "1.2.3";
  connection.watch_quiet_limit = 1s;
  connection.watch_open_limit = 1s;
  return make_kube_client(connection, [codes](std::string_view method, std::string_view code, std::string_view) {
    if (codes != nullptr) codes->add(std::string(method) + " " + std::string(code));
  });
}

TEST(HttpFaults, ThePatchIsWhatTheApiServerWants) {
  Asked requests;
  ScriptedServer server([&](Connection& c) {
    for (std::string request = c.read_request(); !request.empty(); request = c.read_request()) {
      requests.add(request);
      c.answer("200 OK", kMeta);
    }
  });
  Asked codes;
  const auto api = client(server, &codes, "secret");
  const auto put = api->put_status(kReassignments, {"ns", "a"}, "1", R"({"phase":"Running"})", within(5s));
  ASSERT_TRUE(put.has_value()) << put.error().text();
  EXPECT_EQ(put->uid, "u");
  EXPECT_EQ(put->resource_version, "2");
  const std::string request = requests.get().at(0);
  for (
      const char* part :
      {"PATCH /apis/kafka-reassignment.io/v1alpha1/namespaces/ns/kafkareassignments/a/"
       "status?fieldManager=kafka-reassignment-operator HTTP/1.1\r\n",
       "Authorization:Bearer secret\r\n", "User-Agent:kafka-reassignment-operator/1.2.3\r\n",
       "Accept:application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io\r\n",
       "Content-Type:application/json-patch+json",
       R"([{"op":"replace","path":"/metadata/resourceVersion","value":"1"},{"op":"add","path":"/status","value":{"phase":"Running"}}])"}) {
    EXPECT_NE(request.find(part), std::string::npos) << part << "\nin\n" << request;
  }
  EXPECT_EQ(codes.get(), (std::vector<std::string>{"PATCH 200"}));
}

TEST(HttpFaults, ConnectionsAreUsedAgain) {
  ScriptedServer server([](Connection& c) {
    while (!c.read_request().empty()) c.answer("200 OK", "{}");
  });
  const auto api = client(server);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(api->get(kReassignments, {"ns", "a"}, within(5s)).has_value());
  // The library gives a connection back a moment after the answer is whole, so a quick next call may open another.
  EXPECT_LE(server.connections(), 8);
}

TEST(HttpFaults, ARedirectIsNotFollowedAndNoTokenLeaves) {
  ScriptedServer thief([](Connection& c) {
    while (!c.read_request().empty()) c.answer("200 OK", "{}");
  });
  ScriptedServer server([&](Connection& c) {
    while (!c.read_request().empty()) c.answer("307 Temporary Redirect", "", "Location: " + thief.url() + "/x\r\n");
  });
  const auto api = client(server, nullptr, "secret");
  const auto got = api->get(kReassignments, {"ns", "a"}, within(5s));
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code, ErrorCode::kProtocol) << got.error().text();
  EXPECT_EQ(thief.connections(), 0);
}

TEST(HttpFaults, ATokenIsNotSentUnencryptedToAnotherMachine) {
  KubeConnection connection;
  connection.server = "http://192.0.2.1:80";
  connection.token = "secret";
  const auto api = make_kube_client(connection, nullptr);
  const auto got = api->get(kReassignments, {"ns", "a"}, within(5s));
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code, ErrorCode::kInvalid) << got.error().text();
}

TEST(HttpFaults, ASilentServerCostsTheDeadlineAndNoMore) {
  ScriptedServer server([](Connection& c) { c.stay_silent(); });
  Asked codes;
  const auto api = client(server, &codes);
  const auto begin = std::chrono::steady_clock::now();
  const auto got = api->get(kReassignments, {"ns", "a"}, within(300ms));
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code, ErrorCode::kTimeout) << got.error().text();
  EXPECT_EQ(got.error().retry, Retry::kTransient);
  const auto put = api->put_status(kReassignments, {"ns", "a"}, "1", "{}", within(300ms));
  ASSERT_FALSE(put.has_value());
  EXPECT_EQ(put.error().retry, Retry::kAmbiguous) << "it may have been applied";
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  EXPECT_EQ(codes.get(), (std::vector<std::string>{"GET <error>", "PATCH <error>"}));
}

TEST(HttpFaults, ADrippingServerCannotOutliveTheDeadline) {
  ScriptedServer server([](Connection& c) {
    c.read_request();
    c.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
    while (c.send("x")) {
      std::this_thread::sleep_for(50ms);  // the drip itself
    }
  });
  const auto api = client(server);
  const auto begin = std::chrono::steady_clock::now();
  const auto got = api->get(kReassignments, {"ns", "a"}, within(300ms));
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code, ErrorCode::kTimeout) << got.error().text();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 3s);
}

TEST(HttpFaults, AStopEndsACallAtOnce) {
  ScriptedServer server([](Connection& c) { c.stay_silent(); });
  const auto api = client(server);
  std::stop_source stop;
  std::jthread stopper([&] {
    while (server.connections() == 0) std::this_thread::yield();
    stop.request_stop();
  });
  const auto got = api->get(kReassignments, {"ns", "a"}, {std::chrono::steady_clock::now() + 60s, stop.get_token()});
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code, ErrorCode::kCancelled);
}

TEST(HttpFaults, HalfAnAnswerIsNone) {
  ScriptedServer server([](Connection& c) {
    c.read_request();
    c.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"half\":");
  });
  const auto api = client(server);
  const auto got = api->get(kReassignments, {"ns", "a"}, within(5s));
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code, ErrorCode::kUnavailable) << got.error().text();
}

TEST(HttpFaults, NobodyListensIsUnavailable) {
  std::string url;
  {
    ScriptedServer gone([](Connection&) {});
    url = gone.url();
  }
  KubeConnection connection;
  connection.server = url;
  const auto api = make_kube_client(connection, nullptr);
  for (int i = 0; i < 5; ++i) {  // past the renewal of the library's client
    const auto got = api->get(kReassignments, {"ns", "a"}, within(5s));
    ASSERT_FALSE(got.has_value());
    EXPECT_EQ(got.error().code, ErrorCode::kUnavailable) << got.error().text();
    EXPECT_EQ(got.error().retry, Retry::kTransient);
  }
}

TEST(HttpFaults, AnIdleConnectionThatTheServerClosedIsReplaced) {
  ScriptedServer server([](Connection& c) {
    c.read_request();
    c.answer("200 OK", "{}");
  });  // one answer a connection, then closed without a word
  const auto api = client(server);
  for (int i = 0; i < 5; ++i) {
    const auto got = api->get(kReassignments, {"ns", "a"}, within(5s));
    ASSERT_TRUE(got.has_value()) << got.error().text();
  }
}

TEST(HttpFaults, RetryAfterIsPassedOn) {
  ScriptedServer server([](Connection& c) {
    while (!c.read_request().empty()) c.answer("429 Too Many Requests", "busy", "Retry-After: 7\r\n");
  });
  const auto api = client(server);
  const auto got = api->put_status(kReassignments, {"ns", "a"}, "1", "{}", within(5s));
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().retry, Retry::kTransient);
  EXPECT_EQ(got.error().retry_after_ms, 7000);
  WatchRecorder watch(*api, kReassignments, {});
  const auto outcome = watch.outcome();
  ASSERT_TRUE(outcome && !outcome->has_value());
  EXPECT_EQ(outcome->error().retry_after_ms, 7000);
  EXPECT_TRUE(watch.events().empty()) << "not opened";
}

TEST(HttpFaults, EventsAreWholeWhereverTheirChunksEnd) {
  const std::string stream = added("a", "1") + added("b", "2") + added("c", "3");
  for (const std::size_t size : {1U, 7U, 50U, 1000U}) {
    ScriptedServer server([&](Connection& c) {
      c.read_request();
      c.send(kStreamHead);
      for (std::size_t at = 0; at < stream.size(); at += size) c.chunk(stream.substr(at, size));
      c.send("0\r\n\r\n");
      c.stay_silent();
    });
    const auto api = client(server);
    WatchRecorder watch(*api, kReassignments, {});
    const auto outcome = watch.outcome();
    ASSERT_TRUE(outcome && outcome->has_value()) << size;
    std::string names;
    for (const auto& event : watch.events()) names += event.name() + event.resource_version;
    EXPECT_EQ(names, "a1b2c3") << size;
  }
}

TEST(HttpFaults, AnEventIsToldBeforeTheStreamGoesOn) {
  ScriptedServer server([&](Connection& c) {
    c.read_request();
    c.send(kStreamHead);
    c.chunk(added("a", "1"));
    c.stay_silent();
  });
  const auto api = client(server);
  WatchRecorder watch(*api, kReassignments, {});
  EXPECT_TRUE(watch.wait_for(Type::kAdded, "a"));
}

TEST(HttpFaults, ACutStreamIsAnErrorAndASilentOneToo) {
  ScriptedServer cut([&](Connection& c) {
    c.read_request();
    c.send(kStreamHead);
    c.chunk(added("a", "1"));
    c.send("ff\r\n{\"type\":");
  });
  const auto api = client(cut);
  WatchRecorder watch(*api, kReassignments, {});
  auto outcome = watch.outcome();
  ASSERT_TRUE(outcome && !outcome->has_value());
  EXPECT_EQ(outcome->error().code, ErrorCode::kUnavailable) << outcome->error().text();

  ScriptedServer inside([&](Connection& c) {
    c.read_request();
    c.send(kStreamHead);
    c.chunk(R"({"type":"ADDED","obj)");
    c.send("0\r\n\r\n");
    c.stay_silent();
  });
  const auto other = client(inside);
  WatchRecorder half(*other, kReassignments, {});
  outcome = half.outcome();
  ASSERT_TRUE(outcome && !outcome->has_value()) << "ended as it should, but inside an event";

  ScriptedServer silent([&](Connection& c) {
    c.read_request();
    c.send(kStreamHead);
    c.chunk(added("a", "1"));
    c.stay_silent();
  });
  const auto third = client(silent);
  WatchRecorder quiet(*third, kReassignments, {});
  outcome = quiet.outcome();
  ASSERT_TRUE(outcome && !outcome->has_value());
  EXPECT_EQ(outcome->error().code, ErrorCode::kTimeout) << outcome->error().text();

  ScriptedServer mute([&](Connection& c) { c.stay_silent(); });
  const auto fourth = client(mute);
  WatchRecorder closed(*fourth, kReassignments, {});
  outcome = closed.outcome();
  ASSERT_TRUE(outcome && !outcome->has_value());
  EXPECT_EQ(outcome->error().code, ErrorCode::kTimeout) << outcome->error().text();
  EXPECT_TRUE(closed.events().empty());
}

TEST(HttpFaults, NonsenseInAStreamEndsIt) {
  ScriptedServer server([&](Connection& c) {
    c.read_request();
    c.send(kStreamHead);
    c.chunk("<html>\n");
    c.stay_silent();
  });
  const auto api = client(server);
  WatchRecorder watch(*api, kReassignments, {});
  const auto outcome = watch.outcome();
  ASSERT_TRUE(outcome && !outcome->has_value());
  EXPECT_EQ(outcome->error().code, ErrorCode::kProtocol);
}

TEST(HttpFaults, AnEndlessLineIsCutOff) {
  ScriptedServer server([&](Connection& c) {
    c.read_request();
    c.send(kStreamHead);
    for (int i = 0; i < 80; ++i) c.chunk(std::string(64 * 1024, 'x'));
    c.stay_silent();
  });
  const auto api = client(server);
  WatchRecorder watch(*api, kReassignments, {});
  const auto outcome = watch.outcome();
  ASSERT_TRUE(outcome && !outcome->has_value());
  EXPECT_EQ(outcome->error().code, ErrorCode::kProtocol) << outcome->error().text();
}

TEST(HttpFaults, ASlowConsumerLosesNothing) {
  constexpr int kEvents = 3000;
  const std::string pad(1000, 'p');
  ScriptedServer server([&](Connection& c) {
    c.read_request();
    c.send(kStreamHead);
    for (int i = 1; i <= kEvents; ++i) {
      c.chunk(R"({"type":"ADDED","object":{"metadata":{"resourceVersion":")" + std::to_string(i) + R"("},"pad":")" +
              pad + "\"}}\n");
    }
    c.send("0\r\n\r\n");
    c.stay_silent();
  });
  const auto api = client(server);
  int seen = 0;
  bool in_order = true;
  const Status outcome = api->watch(kReassignments, {},
                                    [&](const KubeWatchEvent& event) {
                                      if (event.type != Type::kAdded) return true;
                                      ++seen;
                                      in_order = in_order && event.resource_version == std::to_string(seen);
                                      if (seen % 500 == 0) std::this_thread::sleep_for(30ms);  // the slowness itself
                                      return true;
                                    },
                                    {});
  EXPECT_TRUE(outcome.has_value()) << outcome.error().text();
  EXPECT_EQ(seen, kEvents);
  EXPECT_TRUE(in_order);
}

TEST(HttpFaults, ARefusedTokenIsReadAgainOnce) {
  const std::string file = testing::TempDir() + "kro-token-" + std::to_string(::getpid());
  const auto write = [&](const std::string& text) {
    FILE* out = std::fopen(file.c_str(), "w");
    std::fputs(text.c_str(), out);
    std::fclose(out);
  };
  write("old");
  Asked requests;
  ScriptedServer server([&](Connection& c) {
    for (std::string request = c.read_request(); !request.empty(); request = c.read_request()) {
      requests.add(request);
      if (request.find("Bearer new") != std::string::npos) {
        c.answer("200 OK", "{}");
      } else {
        write("new");
        c.answer("401 Unauthorized", R"({"kind":"Status","message":"Unauthorized","code":401})");
      }
    }
  });
  KubeConnection connection;
  connection.server = server.url();
  connection.token_file = file;
  const auto api = make_kube_client(connection, nullptr);
  const auto got = api->get(kReassignments, {"ns", "a"}, within(5s));
  EXPECT_TRUE(got.has_value()) << got.error().text();
  EXPECT_EQ(requests.get().size(), 2U);
  std::remove(file.c_str());
}

TEST(HttpFaults, ManyThreadsMayCall) {
  ScriptedServer server([](Connection& c) {
    while (!c.read_request().empty()) c.answer("200 OK", "{}");
  });
  const auto api = client(server);
  std::atomic<int> good{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 25; ++i) good += api->get(kReassignments, {"ns", "a"}, within(20s)).has_value() ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(good, 200);
}

}  // namespace
}  // namespace kro::contract
