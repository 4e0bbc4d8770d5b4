#include "millrace/devices/pjrt/plugin_list.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "millrace/core/base/json_text.h"
#include "millrace/core/base/read_file.h"

namespace millrace::devices::pjrt {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kManifestFolder = "/usr/lib/millrace/plugins.d";

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t at = text.find(separator);
    if (at != 0) parts.push_back(text.substr(0, at));
    text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  }
  return parts;
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const std::span<const char> letters(text);
  const char* const end = letters.data() + letters.size();
  const auto [stopped, error] = std::from_chars(letters.data(), end, value);
  return error == std::errc() && stopped == end ? std::optional<T>(value) : std::nullopt;
}

// "1;2;3".
std::optional<std::vector<std::int64_t>> whole_numbers(std::string_view text) {
  std::vector<std::int64_t> list;
  for (const std::string_view part : split(text, ';')) {
    const auto whole = number<std::int64_t>(part);
    if (!whole) return std::nullopt;
    list.push_back(*whole);
  }
  return list;
}

Attribute typed(std::string_view text) {
  if (text == "true" || text == "false") return text == "true";
  if (const auto whole = number<std::int64_t>(text)) return *whole;
  if (const auto real = number<double>(text)) return *real;
  if (text.contains(';')) {
    if (auto list = whole_numbers(text)) return *std::move(list);
  }
  return std::string(text);
}

// As the type says that was given with it.
Result<Attribute> typed_as(std::string_view type, std::string_view text) {
  std::optional<Attribute> value;
  if (type == "text" || text.starts_with('$')) {
    value = std::string(text);
  } else if (type == "int") {
    value = number<std::int64_t>(text);
  } else if (type == "float") {
    value = number<double>(text);
  } else if (type == "bool") {
    if (text == "true" || text == "false") value = text == "true";
  } else if (type == "ints") {
    value = whole_numbers(text);
  } else {
    return fail(ErrorCode::kInvalidArgument,
                "there is no type '" + std::string(type) + "': text, int, float, bool, ints");
  }
  if (!value)
    return fail(ErrorCode::kInvalidArgument,
                "'" + std::string(text) + "' is no " + std::string(type));
  return *std::move(value);
}

// A whole number of too many digits, which would else pass for a float.
bool is_too_large(std::string_view text) {
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  return !number<std::int64_t>(text) && !digits.empty() &&
         std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
}

// OPTION=VALUE or OPTION:TYPE=VALUE.
Status read_option(std::string_view option, Attributes& options) {
  const std::size_t at = option.find('=');
  const std::size_t colon = option.substr(0, at).rfind(':');
  const std::string name(option.substr(0, std::min(at, colon)));
  if (name.empty() || at == std::string_view::npos) {
    return fail(ErrorCode::kInvalidArgument,
                "'" + std::string(option) + "' is neither OPTION=VALUE nor OPTION:TYPE=VALUE");
  }
  const std::string_view text = option.substr(at + 1);
  if (colon == std::string_view::npos) {
    if (is_too_large(text)) {
      return fail(ErrorCode::kInvalidArgument,
                  "it is " + std::string(text) + ", more than 64 bits with a sign hold");
    }
    options[name] = typed(text);
    return {};
  }
  MILLRACE_TRY(options[name], typed_as(option.substr(colon + 1, at - colon - 1), text));
  return {};
}

// For messages: lists and objects may be long, and deep.
std::string brief(const Json& value) {
  return value.is_structured() ? std::string(value.type_name()) : json_text(value);
}

Result<Attribute> typed(const Json& value) {
  const auto too_large = [](const Json& v) {
    return v.is_number_unsigned() &&
           v.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  };
  if (too_large(value) || (value.is_array() && std::ranges::any_of(value, too_large))) {
    return fail(ErrorCode::kInvalidArgument,
                "it is " + brief(value) + ", more than 64 bits with a sign hold");
  }
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array() &&
      std::ranges::all_of(value, [](const Json& v) { return v.is_number_integer(); })) {
    return value.get<std::vector<std::int64_t>>();
  }
  return fail(
      ErrorCode::kInvalidArgument,
      "it is " + brief(value) +
          ", but a create option is a number, a text, true, false or a list of whole numbers");
}

Error problem_of(const std::string& source, ErrorCode code, std::string what) {
  return Error(code, std::move(what)).with_detail(PluginSource{source});
}
std::unexpected<Error> bad_manifest(const std::string& file, const std::string& why) {
  return std::unexpected(problem_of(file, ErrorCode::kInvalidArgument,
                                    "reading the plugin manifest " + file + ": " + why));
}
Status read_options(const std::string& file, const Json& json, Attributes& options) {
  for (const auto& [option, setting] : json.items()) {
    Result<Attribute> attribute = typed(setting);
    if (!attribute)
      return bad_manifest(file, "create option " + option + ": " + attribute.error().message());
    options[option] = *std::move(attribute);
  }
  return {};
}

void add_manifest(const std::string& file, std::string name, PluginList& list) {
  if (Result<PluginEntry> entry = read_manifest(file, std::move(name))) {
    list.entries.push_back(*std::move(entry));
  } else {
    list.problems.push_back(entry.error());
  }
}

void read_variable(const Variables& variables, PluginList& list) {
  constexpr const char* kName = "PJRT_NAMES_AND_LIBRARY_PATHS";
  const std::string text = variables(kName).value_or("");
  for (const std::string_view item : split(text, ',')) {
    const std::size_t colon = item.find(':');
    if (colon == 0 || colon == std::string_view::npos || colon + 1 == item.size()) {
      list.problems.push_back(problem_of(
          kName, ErrorCode::kInvalidArgument,
          std::string(kName) + " has '" + printable(item) + "', where NAME:PATH is expected"));
      continue;
    }
    std::string name(item.substr(0, colon));
    if (const Status named = check_backend_name(name); !named) {
      list.problems.push_back(problem_of(kName, named.error().code(),
                                         std::string(kName) + ": " + named.error().message()));
      continue;
    }
    std::string path(item.substr(colon + 1));
    if (path.ends_with(".json")) {
      add_manifest(path, std::move(name), list);
      continue;
    }
    list.entries.push_back(
        {.name = std::move(name), .path = std::move(path), .settings = {}, .origin = kName});
  }
}

void read_folder(const std::string& folder, PluginList& list) {
  std::vector<std::string> files;
  std::error_code none;
  for (fs::directory_iterator i(folder, none), end; !none && i != end; i.increment(none)) {
    if (i->path().extension() == ".json") files.push_back(i->path().string());
  }
  // The user has not named the standard one, which few machines have.
  if (none && folder != kManifestFolder) {
    list.problems.push_back(problem_of(
        folder, ErrorCode::kNotFound,
        "the folder " + folder + " of MILLRACE_PLUGIN_PATH cannot be read: " + none.message()));
  }
  std::ranges::sort(files);
  for (const std::string& file : files) add_manifest(file, {}, list);
}

// Among manifests that name the same plugin the one with the largest is used, else the first: one
// that was left behind by a library that is gone does no harm.
std::pair<bool, int> rank(const PluginEntry& entry) {
  std::error_code none;
  return {fs::exists(entry.path, none), entry.priority};
}

}  // namespace

Result<PluginEntry> parse_plugin(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ',');
  const std::size_t equals = parts.empty() ? std::string_view::npos : parts[0].find('=');
  if (equals == 0 || equals == std::string_view::npos || equals + 1 == parts[0].size()) {
    return fail(
        ErrorCode::kInvalidArgument,
        "a plugin is given as NAME=PATH[,OPTION=VALUE...], not as '" + printable(text) + "'");
  }
  MILLRACE_TRY_STATUS(check_backend_name(parts[0].substr(0, equals)));
  PluginEntry entry{.name = std::string(parts[0].substr(0, equals)),
                    .path = std::string(parts[0].substr(equals + 1)),
                    .settings = {}};
  if (entry.path.ends_with(".json")) {
    MILLRACE_TRY(entry, read_manifest(entry.path, entry.name));
  }
  entry.origin = kGivenPlugin;
  entry.priority = 1000;
  for (const std::string_view option : std::span(parts).subspan(1)) {
    if (const Status read = read_option(option, entry.settings); !read) {
      return std::unexpected(read.error().with_context("the create option '" + std::string(option) +
                                                       "' of plugin " + entry.name));
    }
  }
  return entry;
}

Result<PluginEntry> read_manifest(const std::string& file, std::string name) {
  const Result<std::string> text = read_file(file);
  if (!text) return bad_manifest(file, text.error().message());
  Json json;
  try {
    json = Json::parse(*text);
  } catch (const Json::exception& why) {
    return bad_manifest(file, "it is no JSON object: " + printable(why.what()));
  }
  if (!json.is_object()) return bad_manifest(file, "it is no JSON object");
  PluginEntry entry{.name = std::move(name), .path = {}, .settings = {}, .origin = file};
  for (const auto& [key, value] : json.items()) {
    if (key == "name" && value.is_string()) {
      if (entry.name.empty()) entry.name = value.get<std::string>();
    } else if (key == "library_path" && value.is_string() &&
               !value.get_ref<const std::string&>().empty() &&
               !value.get_ref<const std::string&>().contains('\0')) {  // no path of any file
      entry.path = (fs::path(file).parent_path() / value.get<std::string>()).string();
    } else if (key == "priority" && value.is_number_integer()) {
      // A number that no int holds is as good as the nearest.
      entry.priority = static_cast<int>(std::clamp<double>(
          value.get<double>(), std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
    } else if (key == "create_options" && value.is_object()) {
      MILLRACE_TRY_STATUS(read_options(file, value, entry.settings));
    } else if (key == "process_options" && value.is_object()) {
      entry.process_settings.clear();
      MILLRACE_TRY_STATUS(read_options(file, value, entry.process_settings));
    } else {
      return bad_manifest(file, "it has '" + key + "': " + brief(value) +
                                    "; there are name, library_path, create_options, "
                                    "process_options and priority");
    }
  }
  if (entry.name.empty()) return bad_manifest(file, "it has no name");
  if (const Status named = check_backend_name(entry.name); !named)
    return bad_manifest(file, named.error().message());
  if (entry.path.empty()) return bad_manifest(file, "it has no library_path");
  return entry;
}

PluginList find_plugins(std::span<const PluginEntry> given, const Variables& variables) {
  PluginList list;
  list.entries.assign(given.begin(), given.end());
  read_variable(variables, list);
  const std::size_t chosen = list.entries.size();  // by hand; behind them those of manifests
  const std::optional<std::string> folders = variables("MILLRACE_PLUGIN_PATH");
  const std::string text = folders.value_or(kManifestFolder);
  for (const std::string_view folder : split(text, ':')) read_folder(std::string(folder), list);

  std::vector<PluginEntry> kept;
  std::vector<bool> of_manifest;  // kept[i] is
  for (std::size_t i = 0; i < list.entries.size(); ++i) {
    PluginEntry& entry = list.entries[i];
    const auto same = std::ranges::find(kept, lower(entry.name),
                                        [](const PluginEntry& e) { return lower(e.name); });
    if (same == kept.end()) {
      kept.push_back(std::move(entry));
      of_manifest.push_back(i >= chosen);
      continue;
    }
    if (of_manifest[static_cast<std::size_t>(same - kept.begin())] && rank(entry) > rank(*same))
      std::swap(entry, *same);
    list.problems.push_back(problem_of(entry.origin, ErrorCode::kAlreadyExists,
                                       entry.origin + " names a plugin '" + entry.name +
                                           "', which " + same->origin +
                                           " names, too: that one is used"));
  }
  list.entries = std::move(kept);
  return list;
}

Result<Attributes> create_options(const PluginEntry& entry, const ProcessPlace& process) {
  const std::map<std::string_view, std::int64_t> words = {{"$process", process.index},
                                                          {"$processes", process.count},
                                                          {"$local_rank", process.local_rank},
                                                          {"$local_size", process.local_size},
                                                          {"$host", process.host}};
  Attributes options = entry.settings;
  if (process.count > 1)
    options.insert(entry.process_settings.begin(), entry.process_settings.end());
  for (auto& [name, value] : options) {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr || !text->starts_with('$')) continue;
    if (text->starts_with("$$")) {  // a text that begins with one
      value = text->substr(1);
      continue;
    }
    const auto word = words.find(*text);
    if (word == words.end()) {
      std::string what = "the create option " + name + " of plugin " + entry.name + " is '" + *text;
      const char* between = "'; known are: ";
      for (const auto& [one, number] : words) what.append(std::exchange(between, ", ")).append(one);
      return fail(ErrorCode::kInvalidArgument, std::move(what));
    }
    value = word->second;
  }
  return options;
}

}  // namespace millrace::devices::pjrt
