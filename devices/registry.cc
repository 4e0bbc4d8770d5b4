#include "millrace/devices/registry.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <utility>

namespace millrace::devices {
namespace {

bool is_control(char c) {
  const auto code = static_cast<unsigned char>(c);
  return code < 0x20 || code == 0x7f;
}

}  // namespace

std::string lower(std::string_view name) {
  std::string result(name);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::string printable(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string shown;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (!is_control(c)) {
      shown += c;
    } else {
      shown.append("\\x").append({kDigits[code / 16], kDigits[code % 16]});
    }
  }
  return shown;
}

Status check_backend_name(std::string_view name) {
  if (!name.empty() && std::ranges::none_of(name, is_control)) return {};
  return fail(ErrorCode::kInvalidArgument,
              "'" + printable(name) +
                  "' cannot name a kind of device: a name has at least one character, and no "
                  "control characters");
}

Variables process_variables() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  };
}

Result<std::optional<int>> read_count(const Variables& variables, const std::string& name,
                                      int least, int most) {
  const std::optional<std::string> text = variables(name);
  if (!text || text->empty()) return std::nullopt;
  int value = 0;
  const char* const end = text->data() + text->size();
  const auto [stopped, error] = std::from_chars(text->data(), end, value);
  if (error == std::errc() && stopped == end && value >= least && value <= most) return value;
  return fail(ErrorCode::kInvalidArgument,
              name + " is '" + *text + "', but must be a whole number from " +
                  std::to_string(least) + " to " + std::to_string(most));
}

Status ClientRegistry::add(std::string_view name, const ClientFactory& factory, int priority,
                           std::string_view named_by) {
  MILLRACE_TRY_STATUS(check_backend_name(name));
  const std::string key = lower(name);
  const Entry entry{.factory = factory,
                    .priority = priority,
                    .place = entries_.size(),
                    .named_by = std::string(named_by)};
  if (entries_.try_emplace(key, entry).second) return {};
  return fail(ErrorCode::kAlreadyExists, "there is a device kind '" + key + "' already");
}

std::vector<std::string> ClientRegistry::names() const {
  std::vector<std::string> names;
  names.reserve(entries_.size());
  for (const auto& [name, entry] : entries_) names.push_back(name);
  std::ranges::sort(names, {}, [this](const std::string& name) {
    const Entry& entry = entries_.at(name);
    return std::pair(-entry.priority, entry.place);
  });
  return names;
}

Status ClientRegistry::check(std::string_view name, std::string_view origin) const {
  if (entries_.contains(lower(name))) return {};
  std::string known;
  for (const auto& [kind, entry] : entries_) known += (known.empty() ? "" : ", ") + kind;
  return fail(ErrorCode::kNotFound, std::string(origin) + " names the device kind '" +
                                        std::string(name) +
                                        "', which is not known here; known: " + known);
}

Result<ClientChoice> ClientRegistry::choose(const Variables& variables, const CanOpen& can_open,
                                            std::string_view said_by) const {
  const std::string asked = variables("PJRT_DEVICE").value_or("");
  if (!asked.empty()) {
    MILLRACE_TRY_STATUS(check(asked, said_by));
    const std::string name = lower(asked);
    MILLRACE_TRY_STATUS(can_open(name));
    return ClientChoice{.name = name, .reason = std::string(said_by) + "=" + asked};
  }
  std::string reason = "PJRT_DEVICE is not set";
  std::optional<Error> first;
  const std::vector<std::string> tried = names();
  for (const std::string& name : tried) {
    const std::string& named_by = entries_.at(name).named_by;
    const Status opened = can_open(name);
    if (opened) {
      if (!named_by.empty()) {
        reason += "; " + named_by + " names '" + name + "'";
      } else if (!first && tried.size() > 1) {
        reason += "; '" + name + "' comes first of " + std::to_string(tried.size());
      }
      return ClientChoice{
          .name = name, .reason = reason, .automatic = named_by.empty() && tried.size() > 1};
    }
    if (!named_by.empty()) {
      return std::unexpected(
          opened.error().with_context(named_by + " names '" + name +
                                      "', which cannot be used (PJRT_DEVICE=cpu takes the CPU)"));
    }
    reason += "; '" + name + "' cannot be used: " + opened.error().message();
    if (!first) first = opened.error();
  }
  return std::unexpected(*first);
}

Result<OpenedClient> ClientRegistry::open(const Variables& variables, const ClientOptions& options,
                                          std::string_view said_by) const {
  OpenedClient opened;
  std::optional<Error> given_up;
  const CanOpen open_it = [&](const std::string& name) -> Status {
    if (given_up) return std::unexpected(*given_up);
    Result<std::unique_ptr<Client>> client = create(name, options);
    if (!client) {
      if (client.error().detail<OpeningGivenUp>() != nullptr) given_up = client.error();
      return std::unexpected(client.error());
    }
    opened.client = *std::move(client);
    return {};
  };
  Result<ClientChoice> choice = choose(variables, open_it, said_by);
  if (given_up) return std::unexpected(*std::move(given_up));
  MILLRACE_TRY(opened.choice, std::move(choice));
  return opened;
}

Result<std::unique_ptr<Client>> ClientRegistry::create(std::string_view name,
                                                       const ClientOptions& options) const {
  MILLRACE_TRY_STATUS(check(name, "create"));
  return entries_.at(lower(name)).factory(options);
}

}  // namespace millrace::devices
