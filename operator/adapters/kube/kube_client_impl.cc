#include "adapters/kube/kube_client_impl.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "adapters/kube/kube_errors.h"
#include "adapters/kube/line_splitter.h"
#include "adapters/kube/watch_line_codec.h"

namespace kro {
namespace {

constexpr std::string_view kFieldManager = "kafka-reassignment-operator";
constexpr std::string_view kOnlyMetadata = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
constexpr std::size_t kLongestLine = 4 * 1024 * 1024;
constexpr std::size_t kLongestErrorBody = 64 * 1024;

std::string encode(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    if (plain) {
      out.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out.append({'%', kHex[byte >> 4U], kHex[byte & 15U]});
    }
  }
  return out;
}

std::string collection(const KubeResource& resource, const std::string& ns) {
  std::string out = resource.group.empty() ? "/api/" : "/apis/" + encode(resource.group) + "/";
  out += encode(resource.version);
  if (!ns.empty()) out += "/namespaces/" + encode(ns);
  return out + "/" + encode(resource.plural);
}

std::string object_path(const KubeResource& resource, const KubeName& name) {
  return collection(resource, name.ns) + "/" + encode(name.name);
}

std::string with_field_manager(std::string target) {
  return std::move(target) + "?fieldManager=" + std::string(kFieldManager);
}

std::string watch_target(const KubeResource& resource, const KubeWatchOptions& options) {
  std::string out = collection(resource, options.ns) +
                    "?watch=true&allowWatchBookmarks=true&timeoutSeconds=" + std::to_string(options.timeout.count());
  if (options.resource_version.empty()) {
    return out + "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
  }
  return out + "&resourceVersion=" + encode(options.resource_version);
}

// The whole of `value_json` replaces what is at `path`, on the version `resource_version` alone.
std::string guarded_patch(const std::string& resource_version, const char* path, const std::string& value_json) {
  return R"([{"op":"replace","path":"/metadata/resourceVersion","value":)" +
         nlohmann::json(resource_version).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
         R"(},{"op":"add","path":")" + path + R"(","value":)" + value_json + "}]";
}

Result<KubeMeta> read_meta(const std::string& body) {
  const auto json = nlohmann::json::parse(body, nullptr, false);
  KubeMeta out;
  if (json.is_object()) {
    const auto meta = json.find("metadata");
    if (meta != json.end() && meta->is_object()) {
      const auto text = [&meta](const char* key) {
        const auto it = meta->find(key);
        return it != meta->end() && it->is_string() ? it->get<std::string>() : std::string();
      };
      out.uid = text("uid");
      out.resource_version = text("resourceVersion");
    }
  }
  if (out.resource_version.empty()) {
    return fail(ErrorCode::kProtocol, Retry::kAmbiguous, "the answer to a write has no metadata.resourceVersion");
  }
  return out;
}

std::string host_of(const std::string& server) {
  const auto scheme = server.find("://");
  const std::string rest = scheme == std::string::npos ? server : server.substr(scheme + 3);
  return rest.substr(0, rest.find('/'));
}

bool is_loopback(const std::string& host) {
  const std::string name = host.substr(0, host.rfind(':'));
  return name == "127.0.0.1" || name == "localhost";
}

HttpConfig http_config(const KubeConnection& connection) {
  HttpConfig out;
  out.server = connection.server;
  out.host_header = connection.tls_server_name;
  out.user_agent = std::string(kFieldManager) + "/" + connection.version;
  out.tls = {connection.ca_pem, connection.ca_file, connection.client_cert_pem, connection.client_key_pem,
             connection.insecure};
  return out;
}

}  // namespace

KubeClient::KubeClient(KubeConnection connection, RequestObserver observer)
    : connection_(std::move(connection)),
      observer_(std::move(observer)),
      host_(host_of(connection_.server)),
      token_(connection_.token, connection_.token_file),
      unary_(http_config(connection_)),
      streams_(http_config(connection_)) {}

void KubeClient::observe(const std::string& method, int code) const {
  if (observer_) observer_(method, code == 0 ? "<error>" : std::to_string(code), host_);
}

Result<HttpAnswer> KubeClient::send(HttpRequest request, const Deadline& deadline) {
  const auto now = [] { return std::chrono::steady_clock::now(); };
  request.token = token_.get(now());
  if (!request.token.empty() && !connection_.server.starts_with("https://") && !is_loopback(host_)) {
    return fail(ErrorCode::kInvalid, Retry::kPermanent, "the token would go over the network unencrypted: " + host_);
  }
  for (bool again = false;; again = true) {
    auto answer = unary_.call(request, deadline);
    observe(request.method, answer ? answer->head.code : 0);
    if (!answer) return pass_on(std::move(answer.error()), request.method + " " + request.target);
    const int code = answer->head.code;
    if (code >= 200 && code < 300) return answer;
    if (code == 401 && !again && token_.renew(request.token, now())) {
      request.token = token_.get(now());
      continue;
    }
    auto error = error_of_answer(code, answer->body, answer->head.retry_after_ms, request.method != "GET");
    return pass_on(std::move(error), request.method + " " + request.target);
  }
}

Result<KubeMeta> KubeClient::patch_meta(std::string target, std::string patch, const Deadline& deadline) {
  HttpRequest request;
  request.method = "PATCH";
  request.target = with_field_manager(std::move(target));
  request.body = std::move(patch);
  request.content_type = "application/json-patch+json";
  request.accept = kOnlyMetadata;
  auto answer = send(std::move(request), deadline);
  if (!answer) return tl::unexpected(std::move(answer.error()));
  return read_meta(answer->body);
}

Result<std::optional<std::string>> KubeClient::get(const KubeResource& resource, const KubeName& name,
                                                   const Deadline& deadline) {
  HttpRequest request;
  request.method = "GET";
  request.target = object_path(resource, name);
  auto answer = send(std::move(request), deadline);
  if (answer) return std::optional<std::string>(std::move(answer->body));
  if (answer.error().code == ErrorCode::kNotFound) return std::optional<std::string>();
  return tl::unexpected(std::move(answer.error()));
}

Result<KubeMeta> KubeClient::put_status(const KubeResource& resource, const KubeName& name,
                                        const std::string& resource_version, const std::string& status_json,
                                        const Deadline& deadline) {
  return patch_meta(object_path(resource, name) + "/status", guarded_patch(resource_version, "/status", status_json),
                    deadline);
}

Result<KubeMeta> KubeClient::put_finalizers(const KubeResource& resource, const KubeName& name,
                                            const std::string& resource_version, const std::string& finalizers_json,
                                            const Deadline& deadline) {
  return patch_meta(object_path(resource, name),
                    guarded_patch(resource_version, "/metadata/finalizers", finalizers_json), deadline);
}

Result<std::string> KubeClient::create(const KubeResource& resource, const std::string& ns,
                                       const std::string& object_json, const Deadline& deadline) {
  HttpRequest request;
  request.method = "POST";
  request.target = with_field_manager(collection(resource, ns));
  request.body = object_json;
  request.content_type = "application/json";
  auto answer = send(std::move(request), deadline);
  if (!answer) return tl::unexpected(std::move(answer.error()));
  return std::move(answer->body);
}

Result<std::string> KubeClient::replace(const KubeResource& resource, const KubeName& name,
                                        const std::string& object_json, const Deadline& deadline) {
  HttpRequest request;
  request.method = "PUT";
  request.target = with_field_manager(object_path(resource, name));
  request.body = object_json;
  request.content_type = "application/json";
  auto answer = send(std::move(request), deadline);
  if (!answer) return tl::unexpected(std::move(answer.error()));
  return std::move(answer->body);
}

Result<std::string> KubeClient::merge_patch(const KubeResource& resource, const KubeName& name,
                                            const std::string& patch_json, const Deadline& deadline) {
  HttpRequest request;
  request.method = "PATCH";
  request.target = with_field_manager(object_path(resource, name));
  request.body = patch_json;
  request.content_type = "application/merge-patch+json";
  auto answer = send(std::move(request), deadline);
  if (!answer) return tl::unexpected(std::move(answer.error()));
  return std::move(answer->body);
}

Status KubeClient::watch(const KubeResource& resource, const KubeWatchOptions& options, const KubeWatchSink& sink,
                         std::stop_token stop) {
  const auto now = [] { return std::chrono::steady_clock::now(); };
  HttpRequest request;
  request.method = "GET";
  request.target = watch_target(resource, options);
  request.token = token_.get(now());
  if (!request.token.empty() && !connection_.server.starts_with("https://") && !is_loopback(host_)) {
    return fail(ErrorCode::kInvalid, Retry::kPermanent, "the token would go over the network unencrypted: " + host_);
  }
  int code = 0;
  auto outcome = watch_once(request, sink, stop, code);
  if (code == 401 && token_.renew(request.token, now())) {
    request.token = token_.get(now());
    outcome = watch_once(request, sink, stop, code);
  }
  if (!outcome) return pass_on(std::move(outcome.error()), "watch " + resource.plural);
  return outcome;
}

Status KubeClient::watch_once(const HttpRequest& request, const KubeWatchSink& sink, const std::stop_token& stop,
                              int& code) {
  LineSplitter lines(kLongestLine);
  HttpHead head;
  std::string error_body;
  std::optional<Error> in_stream;

  const auto on_line = [&](std::string_view line) {
    auto decoded = decode_watch_line(line);
    if (!decoded) {
      in_stream = std::move(decoded.error());
      return false;
    }
    if (decoded->is_error) {
      in_stream = error_of_status_object(decoded->error);
      return false;
    }
    return sink(decoded->event);
  };
  HttpTransport::Stream stream;
  stream.open_limit = connection_.watch_open_limit;
  stream.quiet_limit = connection_.watch_quiet_limit;
  stream.on_head = [&](const HttpHead& told) {
    head = told;
    observe(request.method, head.code);
    if (head.code != 200) return true;  // its body says why
    KubeWatchEvent opened;
    opened.type = KubeWatchEvent::Type::kOpened;
    return sink(opened);
  };
  stream.on_bytes = [&](std::string_view bytes) {
    if (head.code != 200) {
      error_body.append(bytes.substr(0, kLongestErrorBody - error_body.size()));
      return true;
    }
    const auto outcome = lines.feed(bytes, on_line);
    if (outcome == LineSplitter::Outcome::kTooLong) {
      Error error;
      error.code = ErrorCode::kProtocol;
      error.message = "a watch event is longer than " + std::to_string(kLongestLine) + " bytes";
      in_stream = std::move(error);
    }
    return outcome == LineSplitter::Outcome::kGoOn;
  };

  auto outcome = streams_.stream(request, stream, stop);
  code = head.code;
  if (head.code == 0) observe(request.method, 0);
  if (in_stream) return tl::unexpected(std::move(*in_stream));
  if (head.code != 0 && head.code != 200) {
    return tl::unexpected(error_of_answer(head.code, error_body, head.retry_after_ms, false));
  }
  if (outcome && lines.has_rest()) {
    return fail(ErrorCode::kUnavailable, Retry::kTransient, "the stream ended inside an event");
  }
  return outcome;
}

std::unique_ptr<KubeApi> make_kube_client(KubeConnection connection, RequestObserver observer) {
  return std::make_unique<KubeClient>(std::move(connection), std::move(observer));
}

}  // namespace kro
