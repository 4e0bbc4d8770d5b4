// Plugin: a shared library that exports the PJRT C API, loaded and initialised, and the one place
// where its functions are called: every call states its structure's size, asks whether the plugin
// has the function, and turns its error into ours. Read next: client.h, which is made of a plugin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "millrace/core/error.h"
#include "millrace/devices/client.h"
#include "millrace/devices/pjrt/abi.h"
#include "millrace/devices/pjrt/calls_under_way.h"
#include "millrace/devices/pjrt/opening.h"

namespace millrace::devices::pjrt {

// Lives until the process ends: a plugin is never unloaded, for its threads run on. Thread-safety:
// immutable.
class Plugin {
 public:
  // The plugin at path, loaded, checked and initialised at the first call and the same one at
  // every later call. Blocking, for no longer than `opening` says; whoever asks for the same one
  // meanwhile waits for the thread that was lent first. kNotFound, kInvalidArgument (no PJRT
  // plugin, or of a version that this client does not speak; both versions are told),
  // OpeningGivenUp (registry.h), or the plugin's own error. known_as: its name, for messages; the
  // first counts.
  static Result<const Plugin*> load(const std::string& path, const OpeningOptions& opening = {},
                                    const std::string& known_as = {});
  // For a table that is there already (a plugin that is linked in, a test's). Not shared.
  static Result<const Plugin*> adopt(const abi::Api* api, std::string name);

  // For messages: the path, with the name that it is known as: "npu (/p/plugin.so)".
  const std::string& name() const { return name_; }
  // What tells one build of the library from another of the same version (cache/build_id.h). Empty
  // for a table that was adopted.
  const std::string& build() const { return build_; }
  // Of no other plugin of the process, of the first 65,535.
  std::uint16_t number() const { return number_; }
  // Of the plugin of this number; "?" if there is none.
  static std::string name_of(std::uint16_t number);
  int minor_version() const { return api_->version.minor_version; }
  // "0.115".
  std::string version_text() const;
  // What the plugin tells about itself: "xla_version", "stablehlo_current_version", ...
  const std::map<std::string, Attribute>& attributes() const { return attributes_; }

  // Its functions that have not returned, on any thread: "PJRT_LoadedExecutable_Execute for device
  // 0". Empty: there is none.
  std::string calls_under_way() const;
  bool has(abi::Slot slot) const {
    const auto end =
        offsetof(abi::Api, functions) + (static_cast<std::size_t>(slot) + 1) * sizeof(void*);
    return api_->struct_size >= end && function(slot) != nullptr;
  }
  // The plugin's extension of this type, at least as large as its head; nullptr if it has none.
  const abi::Extension* extension(int type) const;
  // Calls the function of args. kUnimplemented, with its name, if the plugin has none; kInternal,
  // with its name, if it throws; else its error, of its code, with the function and the plugin in
  // front: "PJRT_Client_Compile of the plugin npu (/p/plugin.so): ...". Callers add what for.
  template <class A>
  Status call(A& args) const {
    return call_for({}, args);
  }
  // The same, and the plugin's own error is one of `what`, unless that is empty: of the call that
  // gave an event.
  template <class A>
  Status call_for(std::string_view what, A& args) const {
    CallUnderWay under_way(number_);
    return call_in(under_way, what, args);
  }
  // The same, as one of several in a row.
  template <class A>
  Status call_in(CallUnderWay& under_way, std::string_view what, A& args) const {
    constexpr abi::Slot kSlot = abi::Call<A>::kSlot;
    args.struct_size = abi::Call<A>::kSize;
    if (!has(kSlot)) [[unlikely]]
      return lacks(kSlot);
    abi::Error* error = nullptr;
    try {
      under_way.name(kSlot);
      error = reinterpret_cast<abi::Function<A>>(function(kSlot))(&args);
    } catch (...) {
      return thrown(kSlot);
    }
    if (error == nullptr) [[likely]]
      return {};
    return std::unexpected(take_error(error, what.empty() ? abi::to_string(kSlot) : what));
  }
  // After a call of A that succeeded: kInternal, with its name, unless it gave what it has to.
  template <class A>
  Status require(bool given, std::string_view what) const {
    return given ? Status() : missing(abi::Call<A>::kSlot, what);
  }
  // A function of the plugin that gives no error, and is no function of the table: a deleter. What
  // it throws is logged under this name.
  template <class F>
  void quietly(std::string_view name, F&& function) const {
    try {
      function();
    } catch (...) {
      log_throw(name);
    }
  }
  // For what cannot be told to anybody: destruction. Logged.
  template <class A>
  void call_quietly(A&& args) const {
    CallUnderWay under_way(number_);
    call_quietly_in(under_way, args);
  }
  template <class A>
  void call_quietly_in(CallUnderWay& under_way, A& args) const {
    if (const Status status = call_in(under_way, {}, args); !status) log_failure(status.error());
  }
  // Takes the error away from the plugin. what: what was called, for its text as above. Never
  // throws what the plugin's functions throw.
  Error take_error(abi::Error* error, std::string_view what) const;

 private:
  Plugin(const abi::Api* api, std::string name) : api_(api), name_(std::move(name)) {}
  static std::uint16_t next_number();
  static Result<const Plugin*> open(const std::string& path, const std::string& name);
  static Result<const Plugin*> adopt(const abi::Api* api, std::string name, std::string build);
  Status check_version() const;
  Status initialize();
  Status lacks(abi::Slot slot) const;
  Status thrown(abi::Slot slot) const;  // in a handler
  Status missing(abi::Slot slot, std::string_view what) const;
  void log_throw(std::string_view name) const;
  void* function(abi::Slot slot) const { return api_->functions[static_cast<std::size_t>(slot)]; }
  void log_failure(const Error& error) const;

  const abi::Api* api_;
  const std::uint16_t number_ = next_number();
  const std::string name_;
  const CalledHere called_{number_, name_.c_str()};
  std::string build_;
  std::map<std::string, Attribute> attributes_;
};

// More devices than one process has, or one program runs on: what is larger is no number of them.
inline constexpr std::size_t kMostDevices = 1 << 16;

// The values of a list, as the plugin has it: none where it has no list.
std::map<std::string, Attribute> read_values(const abi::NamedValue* values, std::size_t count);

// Values for a plugin; what they point to is borrowed from the map.
class NamedValues {
 public:
  explicit NamedValues(const std::map<std::string, Attribute>& values);
  const abi::NamedValue* data() const { return list_.data(); }
  std::size_t size() const { return list_.size(); }

 private:
  std::vector<abi::NamedValue> list_;
};

}  // namespace millrace::devices::pjrt
