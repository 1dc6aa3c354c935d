#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json_cursor.h"
#include "api/json_writer.h"
#include "api/types.h"

// What both kinds' codecs share. Private to api/*.cc.
namespace kro::api {

// Collects the paths of members that a decoder did not know, for the test that compares it with the CRDs.
using Ignored = std::vector<std::string>;

struct Reader {
  JsonCursor& json;
  Ignored* ignored = nullptr;

  void unknown(std::string_view path, std::string_view key) const {
    if (ignored != nullptr) ignored->push_back(std::string(path) + "." + std::string(key));
    json.skip();
  }
};

void read_meta(const Reader& in, ObjectMeta& out);
void read_conditions(const Reader& in, std::vector<Condition>& out);
void read_problems(const Reader& in, std::vector<ProblemPartition>& out);
// {"name": "…"}
void read_name(const Reader& in, std::string_view path, std::string& out);
// Reads a 32-bit number; what is wrong goes to `problem` (first one wins) and leaves `out`.
void read_int32(JsonCursor& json, std::string_view field, std::int64_t least, std::int32_t& out, std::string& problem);
void note(std::string& problem, std::string what);

void write_conditions(JsonWriter& out, const std::vector<Condition>& conditions);
void write_problems(JsonWriter& out, const std::vector<ProblemPartition>& problems);

// The kind of a cluster name in the schema: [a-z0-9]([-a-z0-9]*[a-z0-9])?, at most 63.
bool valid_cluster_name(std::string_view name);

}  // namespace kro::api
