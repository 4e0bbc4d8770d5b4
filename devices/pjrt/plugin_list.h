// Which PJRT plugins are known here: those of the command line, of the environment and of manifest
// files. Nothing is loaded before it is asked for, and no kind of device is named in the code.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/registry.h"

namespace millrace::devices::pjrt {

// The origin of plugins that parse_plugin has read.
inline constexpr const char* kGivenPlugin = "--plugin";

struct PluginEntry {
  std::string name = {};  // PJRT_DEVICE may name it, in any case
  std::string path = {};  // of the shared library
  // Create options, typed. Of values "$process", "$processes", "$local_rank", "$local_size" and
  // "$host" stand for these whole numbers of this process (ProcessPlace), and "$$" in front of a
  // text for one "$".
  Attributes settings = {};
  // Where the job has several processes, these too, unless settings has them: a manifest asks for
  // them, where its plugin knows them (node_id, num_nodes, ...). Others refuse what they do not
  // know.
  Attributes process_settings = {};
  std::string origin = {};  // for messages: "--plugin", a manifest file, ...
  int priority = 400;       // the highest is taken where none is named; cpu: 0
};

// Where a problem is: a manifest file, a folder, a variable.
struct PluginSource {
  std::string name = {};
};

struct PluginList {
  std::vector<PluginEntry> entries = {};  // names differ
  // Those of variables and manifests, each with the detail PluginSource: none keeps another from
  // working.
  std::vector<Error> problems = {};
};

// "NAME=PATH", with create options behind commas: "xla_cpu=/p/plugin.so,cpu_device_count=2". Values
// are whole numbers, true and false, other numbers, lists of whole numbers (1;2;3), or else text;
// where they shall be another type than they look like, it stands behind a colon: "name:text=2".
// Types are text, int, float, bool and ints. PATH may be a manifest (.json), whose create options
// hold where none of the same name is given here.
Result<PluginEntry> parse_plugin(std::string_view text);

// One manifest: {"name": …, "library_path": …, "create_options": {…}, "process_options": {…},
// "priority": …}; the path may be relative to the file. name: where the manifest need not have one.
Result<PluginEntry> read_manifest(const std::string& file, std::string name = {});

// In this order: `given`, PJRT_NAMES_AND_LIBRARY_PATHS (NAME:PATH,…; a path may be a .json with
// library_path and create_options), and *.json in the folders of MILLRACE_PLUGIN_PATH (FOLDER:…;
// where it is not set, /usr/lib/millrace/plugins.d). Of one name the first of that is used; of
// manifests that whose library is there, then that of the highest priority.
PluginList find_plugins(std::span<const PluginEntry> given, const Variables& variables);

// The create options of a plugin in this process. kInvalidArgument for a "$word" that stands for
// nothing.
Result<Attributes> create_options(const PluginEntry& entry, const ProcessPlace& process);

// Loads the plugin when a client is created.
ClientFactory make_factory(const PluginEntry& entry);

}  // namespace millrace::devices::pjrt
