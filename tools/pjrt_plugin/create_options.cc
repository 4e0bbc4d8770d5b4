#include "millrace/tools/pjrt_plugin/create_options.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "millrace/core/base/cores.h"

namespace millrace::pjrt_plugin {
namespace {

constexpr std::string_view kFlag = "--xla_force_host_platform_device_count=";

std::unexpected<Error> bad_number(std::string_view where, std::string_view given, int most) {
  return fail(ErrorCode::kInvalidArgument, std::string(where) + " is '" + std::string(given) +
                                               "', not a number from 1 to " + std::to_string(most));
}

Result<int> read_number(std::string_view where, std::string_view text, int most) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size() || number < 1 || number > most)
    return bad_number(where, text, most);
  return static_cast<int>(number);
}

Result<int> read_option(const std::string& name, const devices::Attribute& value, int most) {
  const std::string where = "the option '" + name + "'";
  if (const auto* text = std::get_if<std::string>(&value)) return read_number(where, *text, most);
  if (const auto* number = std::get_if<std::int64_t>(&value))
    return read_number(where, std::to_string(*number), most);
  return bad_number(where, "no number and no text", most);
}

// The last one counts, as XLA reads them.
std::optional<std::string_view> flag_in(std::string_view flags) {
  const std::size_t at = flags.rfind(kFlag);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = flags.substr(at + kFlag.size());
  return rest.substr(0, rest.find_first_of(" \t\n"));
}

Result<int> devices_of(const devices::Variables& variables) {
  for (const char* name : {"CPU_NUM_DEVICES", "JAX_NUM_CPU_DEVICES"}) {
    const std::optional<std::string> said = variables(name);
    // -1 is how JAX says that the number is not given.
    if (said && !said->empty() && *said != "-1")
      return read_number(name, *said, CreateOptions::kMostDevices);
  }
  const std::optional<std::string> flags = variables("XLA_FLAGS");
  const std::optional<std::string_view> said = flags ? flag_in(*flags) : std::nullopt;
  if (!said) return 1;
  return read_number("--xla_force_host_platform_device_count in XLA_FLAGS", *said,
                     CreateOptions::kMostDevices);
}

}  // namespace

Result<CreateOptions> read_create_options(const devices::Attributes& options,
                                          const devices::Variables& variables) {
  CreateOptions read;
  read.devices = 0;
  for (const auto& [name, value] : options) {
    if (name == "num_devices") {
      MILLRACE_TRY(read.devices, read_option(name, value, CreateOptions::kMostDevices));
    } else if (name == "threads") {
      MILLRACE_TRY(read.threads, read_option(name, value, most_threads()));
    } else if (name == "platform_name") {
      const auto* text = std::get_if<std::string>(&value);
      if (text == nullptr || text->empty()) {
        return fail(ErrorCode::kInvalidArgument, "the option 'platform_name' is no text, or empty");
      }
      read.platform_name = *text;
    } else {
      return fail(ErrorCode::kInvalidArgument,
                  "the option '" + name +
                      "' is not known: there are num_devices, threads and platform_name");
    }
  }
  if (read.devices == 0) {
    MILLRACE_TRY(read.devices, devices_of(variables));
  }
  return read;
}

}  // namespace millrace::pjrt_plugin
