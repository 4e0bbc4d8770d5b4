#include "millrace/tools/load/load_target.h"

#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "millrace/core/base/json_text.h"
#include "millrace/tools/serve/v2_datatype.h"

namespace millrace::load {
namespace {

using Json = nlohmann::ordered_json;
using devices::DType;

std::unexpected<Error> bad(const std::string& message) {
  return fail(ErrorCode::kInvalidArgument, message);
}

Result<Json> parse(std::string_view text, const char* what) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_object()) return json;
  return bad(std::string("the server's answer to ") + what + " is no JSON object");
}

// Small numbers, so that no model overflows by them.
std::string elements(DType type, std::size_t count, std::mt19937_64& random) {
  const std::size_t width = devices::byte_width(type);
  std::string bytes(count * width, '\0');
  for (std::size_t i = 0; i < count; ++i) {
    char* const to = bytes.data() + i * width;
    const auto value = static_cast<float>(static_cast<double>(random() >> 11U) * 0x1p-53);
    if (type == DType::kF32) {
      std::memcpy(to, &value, sizeof value);
    } else if (type == DType::kF64) {
      const double wide = value;
      std::memcpy(to, &wide, sizeof wide);
    } else if (type == DType::kF16 || type == DType::kBF16) {
      const std::uint16_t half =
          type == DType::kF16 ? serve::to_fp16(value) : serve::to_bf16(value);
      std::memcpy(to, &half, sizeof half);
    } else {  // 0 or 1: a BOOL, and an index of anything
      *to = static_cast<char>(value < 0.5F ? 0 : 1);
    }
  }
  return bytes;
}

}  // namespace

Result<LoadTarget> parse_target(std::string_view url) {
  const std::string words = "'" + std::string(url) + "' ";
  if (url.starts_with("https://"))
    return bad(words + "wants TLS, which this generator does not speak; ask the server without it");
  constexpr std::string_view kScheme = "http://";
  if (!url.starts_with(kScheme)) return bad(words + "does not begin with http://");
  url.remove_prefix(kScheme.size());
  const std::size_t slash = std::min(url.find('/'), url.size());
  std::string_view place = url.substr(0, slash);
  std::string_view path = url.substr(slash);
  LoadTarget target;
  const std::size_t colon = place.rfind(':');
  if (colon != place.npos && place.find(']', colon) == place.npos) {
    const std::string_view port = place.substr(colon + 1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), target.port);
    if (error != std::errc() || end != port.data() + port.size() || target.port < 1 ||
        target.port > 65535)
      return bad(words + "has no port from 1 to 65535");
    place = place.substr(0, colon);
  }
  if (place.starts_with('[') && place.ends_with(']')) place = place.substr(1, place.size() - 2);
  if (place.empty()) return bad(words + "names no host");
  target.host = place;
  constexpr std::string_view kModels = "/v2/models/";
  if (path.starts_with(kModels)) {
    target.model = path.substr(kModels.size());
    if (target.model.empty() || target.model.find('/') != std::string::npos)
      return bad(words + "names no model as /v2/models/NAME");
  } else if (!path.empty() && path != "/" && path != "/v2") {
    return bad(words + "has a path that is not /v2/models/NAME");
  }
  return target;
}

std::string host_and_port(const LoadTarget& target) {
  const bool is_ipv6 = target.host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + target.host + "]" : target.host) + ":" + std::to_string(target.port);
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == host.npos);
}

Result<std::string> only_model(std::string_view models_json) {
  MILLRACE_TRY(const Json json, parse(models_json, "/v2/models"));
  std::vector<std::string> names;
  for (const Json& model : json.value("models", Json::array())) {
    if (model.is_object() && model.contains("name") && model["name"].is_string())
      names.push_back(model["name"]);
  }
  if (names.size() == 1) return names[0];
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? " " : ", ") + name;
  return fail(ErrorCode::kFailedPrecondition, "the server has " + std::to_string(names.size()) +
                                                  " models" + (all.empty() ? "" : ":" + all) +
                                                  "; name one as http://.../v2/models/NAME");
}

Result<LoadBody> make_body(std::string_view model_json, std::int64_t rows,
                           std::optional<std::int64_t> length, std::uint64_t seed,
                           std::size_t most_bytes) {
  MILLRACE_TRY(const Json model, parse(model_json, "/v2/models/NAME"));
  const Json inputs = model.value("inputs", Json::array());
  std::mt19937_64 random(seed);
  Json asked = Json::array();
  std::string tail;
  for (const Json& input : inputs) {
    if (!input.is_object() || !input.value("name", Json()).is_string() ||
        !input.value("datatype", Json()).is_string() || !input.value("shape", Json()).is_array())
      return bad("the server describes an input without name, datatype or shape");
    const std::string name = input["name"], datatype = input["datatype"];
    const std::optional<DType> type = serve::dtype_of_datatype(datatype);
    if (!type)
      return bad("input '" + name + "' has the datatype " + datatype + ", which is not made here");
    Json shape = Json::array();
    std::size_t count = 1;
    for (const Json& dim : input["shape"]) {
      if (!dim.is_number_integer())
        return bad("input '" + name + "' has a dimension that is no number");
      auto n = dim.get<std::int64_t>();
      if (shape.empty() && n < 0) {
        n = rows;
      } else if (n < 0) {
        if (!length) return bad("input '" + name + "' has rows of any length; say it by --length");
        n = *length;
      }
      if (n > 0 && count > most_bytes / static_cast<std::size_t>(n))
        return bad("input '" + name + "' would be too large");
      count *= static_cast<std::size_t>(n);
      shape.push_back(n);
    }
    const std::string bytes = elements(*type, count, random);
    asked.push_back({{"name", name},
                     {"datatype", datatype},
                     {"shape", shape},
                     {"parameters", {{"binary_data_size", bytes.size()}}}});
    tail += bytes;
  }
  const std::string head =
      json_text(Json{{"inputs", asked}, {"parameters", {{"binary_data_output", true}}}});
  return LoadBody{.bytes = head + tail, .json_bytes = head.size()};
}

}  // namespace millrace::load
