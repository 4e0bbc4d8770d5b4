#include "millrace/tools/api/installed_plugins.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <utility>

namespace millrace {
namespace {

namespace fs = std::filesystem;
using devices::pjrt::PluginEntry;

// What the entries of a folder are called, sorted; none of one that cannot be read.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed))
    entries.push_back(at->path());
  std::ranges::sort(entries);
  return entries;
}

// The folders of packages below PREFIX/lib, the newest Python first.
void add_package_folders(const fs::path& prefix, std::vector<fs::path>& folders) {
  std::vector<fs::path> pythons = entries_of(prefix / "lib");
  std::erase_if(
      pythons, [](const fs::path& one) { return !one.filename().string().starts_with("python3"); });
  std::ranges::reverse(pythons);
  for (const fs::path& python : pythons) {
    for (const char* name : {"site-packages", "dist-packages"}) folders.push_back(python / name);
  }
}

bool is_plugin_library(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.ends_with(".so") && (name.contains("plugin") || name.contains("pjrt"));
}

// "xla_cuda13" is CUDA's, whatever its version.
std::string device_of(std::string folder) {
  for (const char* known : {"cuda", "rocm"}) {
    if (folder.contains(known)) return known;
  }
  return folder;
}

void add_from(const fs::path& packages, std::vector<PluginEntry>& found) {
  const auto add = [&found](std::string name, const fs::path& library) {
    if (std::ranges::find(found, name, &PluginEntry::name) != found.end()) return;
    found.push_back(
        {.name = std::move(name), .path = library.string(), .origin = "--find-plugins"});
  };
  std::error_code failed;
  if (fs::exists(packages / "libtpu" / "libtpu.so", failed))
    add("tpu", packages / "libtpu" / "libtpu.so");
  for (const fs::path& package : entries_of(packages / "jax_plugins")) {
    for (const fs::path& file : entries_of(package)) {
      if (is_plugin_library(file)) add(device_of(package.filename().string()), file);
    }
  }
  for (const fs::path& file : entries_of(packages / "torch_xla_cuda_plugin" / "lib")) {
    if (is_plugin_library(file)) add("cuda", file);
  }
}

struct Package {
  const char* device;  // as users name it
  const char* name;    // the plugin's, as above
  const char* pip;
};
constexpr std::array kPackages = {
    Package{"cuda", "cuda", "jax-cuda13-pjrt"}, Package{"gpu", "cuda", "jax-cuda13-pjrt"},
    Package{"rocm", "rocm", "jax-rocm7-pjrt"},  Package{"tpu", "tpu", "libtpu"},
    Package{"tpu_legacy", "tpu", "libtpu"},
};

}  // namespace

std::vector<PluginEntry> installed_plugins(const devices::Variables& variables) {
  std::vector<fs::path> folders;
  const auto add_below = [&](const char* variable, const char* below) {
    const std::string prefix = variables(variable).value_or("");
    if (!prefix.empty()) add_package_folders(fs::path(prefix) / below, folders);
  };
  add_below("VIRTUAL_ENV", "");
  add_below("CONDA_PREFIX", "");
  add_below("HOME", ".local");
  add_package_folders("/usr/local", folders);
  add_package_folders("/usr", folders);
  std::vector<PluginEntry> found;
  for (const fs::path& folder : folders) add_from(folder, found);
  return found;
}

Error with_plugin_advice(const Error& error, const devices::ClientRegistry& registry,
                         std::string_view device, const devices::Variables& variables) {
  const std::string asked = devices::lower(device);
  const std::vector<std::string> known = registry.names();
  if (device.empty() || std::ranges::find(known, asked) != known.end()) return error;
  const auto* const package = std::ranges::find(kPackages, asked, &Package::device);
  const std::string name = package != kPackages.end() ? package->name : asked;
  std::string advice = ". ";
  const std::vector<PluginEntry> installed = installed_plugins(variables);
  const auto there = std::ranges::find(installed, name, &PluginEntry::name);
  if (there != installed.end()) {
    advice += "pip has installed " + there->path + ": --find-plugins takes it";
  } else if (package != kPackages.end()) {
    advice += "pip install " + std::string(package->pip) +
              " brings a plugin for it, which --find-plugins takes";
  } else {
    advice += "It takes a PJRT plugin";
  }
  if (name != asked) advice += ", as PJRT_DEVICE=" + name;
  advice += "; one that lies elsewhere is named by --plugin " + name +
            "=PATH, PJRT_NAMES_AND_LIBRARY_PATHS=" + name +
            ":PATH, a manifest (MILLRACE_PLUGIN_PATH) or RuntimeOptions::plugins";
  return {error.code(), error.message() + advice};
}

}  // namespace millrace
