// Plugin: a shared library that exports the PJRT C API, loaded and initialised, and the one place
// where its functions are called: every call states its structure's size, asks whether the plugin
// has the function, and turns its error into ours. Read next: client.h, which is made of a plugin.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "millrace/core/async/call_options.h"
#include "millrace/core/async/executor.h"
#include "millrace/core/async/future.h"
#include "millrace/core/base/error.h"
#include "millrace/core/base/mutex.h"
#include "millrace/devices/client.h"
#include "millrace/devices/pjrt/abi/api.h"
#include "millrace/devices/pjrt/calls_under_way.h"
#include "millrace/devices/pjrt/named_values.h"

namespace millrace::devices::pjrt {

// An opening: a plugin's library is loaded, and its client made, on a thread that is lent for it,
// because none of these calls need ever return (hardware that does not answer, a peer that never
// comes). The caller waits for as long as it wants, and then leaves the thread to itself. This is
// how one may take part in it.
struct OpeningOptions {
  // A thread for this alone; where it is left in a call, it stays until the process ends.
  // nullptr: the caller's, which then waits for as long as the plugin likes.
  Executor* thread = nullptr;
  CallOptions call;  // by steady_clock()
};

// Such a thread, for all who wait for it. Value type; what it points to is thread-safe.
struct Opening {
  std::string plugin;  // for messages
  Future<void> ended;  // it has done what it is there for
  TimePoint begin = steady_clock().now();
  std::shared_ptr<std::atomic<std::thread::id>> thread =
      std::make_shared<std::atomic<std::thread::id>>();  // from the begin of its work on
  std::uint32_t number = 0;                              // of the plugin, once it has one
  // When it lasts longer than most do, a warning says what is waited for.
  Duration patience = std::chrono::seconds(5);
  // Why it fails, if that is known before it has ended.
  struct Failure {
    Mutex mutex;
    std::optional<Error> error MILLRACE_GUARDED_BY(mutex);
  };
  std::shared_ptr<Failure> failure = std::make_shared<Failure>();
};

// The error of an opening that has not begun and that its caller would not wait for.
Status may_begin(const std::string& plugin, const CallOptions& call);

// Blocks until it has ended. The error of an opening that is given up (OpeningGivenUp of
// registry.h) names the plugin and the call that has not returned.
Status wait_for(const Opening& opening, const CallOptions& call);

// Lives until the process ends: a plugin is never unloaded, for its threads run on. Thread-safety:
// immutable.
class Plugin {
 public:
  // The plugin at path, loaded, checked and initialised at the first call and the same one at
  // every later call. Blocking, for no longer than `opening` says; a thread that asks for the same
  // one meanwhile waits for the thread that was lent first. kNotFound, kInvalidArgument (no PJRT
  // plugin, or of a version that this client does not speak; the error names both versions),
  // OpeningGivenUp (registry.h), or the plugin's own error. known_as: its name, for messages; the
  // first counts.
  static Result<const Plugin*> load(const std::string& path, const OpeningOptions& opening = {},
                                    const std::string& known_as = {});
  // For a table that is there already (a plugin that is linked in, a test's). Not shared. build:
  // see below.
  static Result<const Plugin*> adopt(const abi::Api* api, std::string name, std::string build = {});

  // For messages: the path, with the name that it is known as: "npu (/p/plugin.so)".
  const std::string& name() const { return name_; }
  // What distinguishes one build of the library from another of the same version
  // (cache/build_id.h). Empty for a table that was adopted.
  const std::string& build() const { return build_; }
  // The number of no other plugin of the process, among the first 65,535.
  std::uint16_t number() const { return number_; }
  int minor_version() const { return api_->version.minor_version; }
  // "0.115".
  std::string version_text() const;
  // What the plugin reports about itself: "xla_version", "stablehlo_current_version", ...
  const Attributes& attributes() const { return attributes_; }

  // Its functions that have not returned, on any thread: "PJRT_LoadedExecutable_Execute for device
  // 0". Empty: there is none.
  std::string calls_under_way() const;
  bool has(abi::Slot slot) const { return api_->has(slot); }
  // The plugin's extension of this type, at least as large as its head; nullptr if it has none.
  const abi::Extension* extension(int type) const;
  // Calls the function of args. kUnimplemented, with its name, if the plugin has none; kInternal,
  // with its name, if it throws; else its error, of its code, with the function and the plugin in
  // front: "PJRT_Client_Compile of the plugin npu (/p/plugin.so): ...". Callers add what for.
  template <class A>
  Status call(A& args) const {
    return call_for({}, args);
  }
  // The same for a structure that begins with these fields; what the plugin has made of it.
  template <class A, class... Fields>
  Result<A> ask(Fields... fields) const {
    A args{{}, fields...};
    MILLRACE_TRY_STATUS(call(args));
    return args;
  }
  // The same as call, and the plugin's own error is one of `what`, unless that is empty: of the
  // call that gave an event.
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
      return lacks(abi::to_string(kSlot));
    abi::Error* error = nullptr;
    try {
      under_way.name(kSlot);
      error = api_->function<A>()(&args);
    } catch (...) {
      return thrown(abi::to_string(kSlot));
    }
    if (error == nullptr) [[likely]]
      return {};
    return std::unexpected(take_error(error, what.empty() ? abi::to_string(kSlot) : what));
  }
  // A function of an extension, which may be missing, and whose errors may be of a kind of its own:
  // what it gives, nullptr where it succeeds.
  template <class E, class A>
  Result<E*> call_extension(E* (*function)(A*), OtherCall name, A& args) const {
    if (function == nullptr) return std::unexpected(lacks(to_string(name)).error());
    try {
      const CallUnderWay under_way(number_, name);
      return function(&args);
    } catch (...) {
      return std::unexpected(thrown(to_string(name)).error());
    }
  }
  // After a call of A that succeeded: kInternal, with its name, unless it gave what it has to.
  template <class A>
  Status require(bool given, std::string_view what) const {
    return given ? Status() : missing(abi::Call<A>::kSlot, what);
  }
  // The named values that a call gives which only describes; none where the plugin lacks it.
  template <class A>
  Result<Attributes> values_of(A& args) const {
    if (const Status asked = call(args); !asked) {
      if (asked.error().code() == ErrorCode::kUnimplemented) return Attributes();
      return std::unexpected(asked.error());
    }
    MILLRACE_TRY_STATUS(
        require<A>(args.attributes != nullptr || args.num_attributes == 0, "list of attributes"));
    return read_values(args.attributes, args.num_attributes);
  }
  // A function of the plugin that gives no error, and is no function of the table: a deleter. What
  // it throws is logged under this name.
  template <class F>
  void quietly(std::string_view name, F&& function) const {
    try {
      function();
    } catch (...) {
      log_failure(thrown(name).error());
    }
  }
  // For destruction, whose error no caller can be given: it is logged. The structure begins with
  // these fields.
  template <class A, class... Fields>
  void call_quietly(Fields... fields) const {
    CallUnderWay under_way(number_);
    call_quietly_in<A>(under_way, fields...);
  }
  template <class A, class... Fields>
  void call_quietly_in(CallUnderWay& under_way, Fields... fields) const {
    A args{{}, fields...};
    if (const Status status = call_in(under_way, {}, args); !status) log_failure(status.error());
  }
  // Takes the error away from the plugin. what: what was called, for its text as above. Never
  // throws what the plugin's functions throw.
  Error take_error(abi::Error* error, std::string_view what) const;

 private:
  Plugin(const abi::Api* api, std::string name, std::string build)
      : api_(api), name_(std::move(name)), build_(std::move(build)) {}
  static std::uint16_t next_number();
  static Result<const Plugin*> open(const std::string& path, const std::string& name);
  Status check_version() const;
  Status initialize();
  Status lacks(std::string_view function) const;
  Status thrown(std::string_view function) const;  // in a handler
  Status missing(abi::Slot slot, std::string_view what) const;
  void log_failure(const Error& error) const;

  const abi::Api* api_;
  const std::uint16_t number_ = next_number();
  const std::string name_;
  const CalledHere called_{number_, name_.c_str()};
  const std::string build_;
  Attributes attributes_;
};

// More devices than one process has, or one program runs on: what is larger is no number of them.
inline constexpr std::size_t kMostDevices = 1 << 16;

}  // namespace millrace::devices::pjrt
