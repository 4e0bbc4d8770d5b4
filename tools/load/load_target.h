// LoadTarget: the server and model that a load generator asks, and the request that it sends. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "millrace/core/base/error.h"

namespace millrace::load {

struct LoadTarget {
  std::string host = {};
  int port = 80;
  std::string model = {};  // empty: the one that the server has
  bool operator==(const LoadTarget&) const = default;
};

// "http://HOST[:PORT][/v2/models/NAME]"; a host of IPv6 is in brackets. kInvalidArgument says what
// is wrong.
Result<LoadTarget> parse_target(std::string_view url);
// "HOST:PORT" as the header Host has it: an address of IPv6 is in brackets.
std::string host_and_port(const LoadTarget& target);
// By its name or address alone: "localhost", 127.x.x.x, ::1.
bool is_loopback(std::string_view host);
// The one model of GET /v2/models; kFailedPrecondition: there are several, or none.
Result<std::string> only_model(std::string_view models_json);

struct LoadBody {
  std::string bytes = {};
  std::size_t json_bytes = 0;  // Inference-Header-Content-Length; binary tensors follow
};
// A request of so many rows, of numbers drawn by the seed, for a model as GET /v2/models/NAME
// describes it. length: of dimensions that vary; kInvalidArgument: the model has some, and it is
// not given, or a datatype is none, or what it describes is larger than most_bytes.
Result<LoadBody> make_body(std::string_view model_json, std::int64_t rows,
                           std::optional<std::int64_t> length, std::uint64_t seed,
                           std::size_t most_bytes = std::size_t{1} << 30);

}  // namespace millrace::load
