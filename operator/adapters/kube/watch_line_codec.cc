#include "adapters/kube/watch_line_codec.h"

#include <optional>
#include <utility>

#include "adapters/kube/json_scan.h"

namespace kro {
namespace {

using json_scan::member;
using json_scan::plain_string;

struct Spans {
  std::string_view type;
  std::string_view object;
};

// What every API server sends: {"type":"X","object":{…}}, compact and in this order. The object is not even
// scanned.
std::optional<Spans> usual_spans(std::string_view line) {
  constexpr std::string_view kHead = R"({"type":")";
  constexpr std::string_view kMiddle = R"(","object":{)";
  if (!line.starts_with(kHead) || !line.ends_with("}}")) return std::nullopt;
  const std::size_t type_end = line.find('"', kHead.size());
  if (type_end == std::string_view::npos || !line.substr(type_end).starts_with(kMiddle)) return std::nullopt;
  const std::size_t begin = type_end + kMiddle.size() - 1;
  return Spans{line.substr(kHead.size(), type_end - kHead.size()), line.substr(begin, line.size() - 1 - begin)};
}

std::optional<Spans> any_spans(std::string_view line) {
  const auto type = member(line, "type");
  const auto object = member(line, "object");
  if (!type || !object || object->empty() || object->front() != '{') return std::nullopt;
  const auto text = plain_string(*type);
  if (!text) return std::nullopt;
  return Spans{*text, *object};
}

std::string_view string_member(std::string_view object, std::string_view key) {
  const auto value = member(object, key);
  return value ? plain_string(*value).value_or(std::string_view{}) : std::string_view{};
}

bool ends_initial_list(std::string_view metadata) {
  const auto annotations = member(metadata, "annotations");
  return annotations && string_member(*annotations, "k8s.io/initial-events-end") == "true";
}

}  // namespace

Result<WatchLine> decode_watch_line(std::string_view line) {
  auto spans = usual_spans(line);
  if (!spans) spans = any_spans(line);
  if (!spans) {
    return fail(ErrorCode::kProtocol, Retry::kTransient,
                "not a watch event: " + std::string(line.substr(0, 80)) + (line.size() > 80 ? "…" : ""));
  }
  WatchLine out;
  if (spans->type == "ERROR") {
    out.is_error = true;
    out.error = spans->object;
    return out;
  }
  using Type = KubeWatchEvent::Type;
  const std::string_view metadata = member(spans->object, "metadata").value_or(std::string_view{});
  out.event.resource_version = string_member(metadata, "resourceVersion");
  out.event.object = spans->object;
  if (spans->type == "ADDED") {
    out.event.type = Type::kAdded;
  } else if (spans->type == "MODIFIED") {
    out.event.type = Type::kModified;
  } else if (spans->type == "DELETED") {
    out.event.type = Type::kDeleted;
  } else if (spans->type == "BOOKMARK") {
    out.event.type = ends_initial_list(metadata) ? Type::kInitialListEnd : Type::kBookmark;
    out.event.object = {};
  } else {
    return fail(ErrorCode::kProtocol, Retry::kTransient, "unknown watch event type " + std::string(spans->type));
  }
  return out;
}

}  // namespace kro
