// Rig: what a check works with: the plugin's table, a client, its devices, and the usual steps in a
// line each (put, compile, execute, get, wait). Everything goes through Table, so that each step is
// the plugin's own. Read next: execute_checks.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "millrace/devices/client.h"
#include "millrace/tools/conform/callbacks.h"
#include "millrace/tools/conform/check.h"
#include "millrace/tools/conform/programs.h"
#include "millrace/tools/conform/table.h"

namespace millrace::conform {

struct RigOptions {
  std::map<std::string, devices::Attribute> settings;  // create options
  double patience_seconds = 30;                        // for an event
  int executions = 10'000;                             // of checks that look for leaks
};

enum Semantics : int {
  kImmutableOnlyDuringCall = 0,
  kImmutableUntilTransferCompletes = 1,
  kImmutableZeroCopy = 2,
  kMutableZeroCopy = 3,
};

// A program as the plugin gets it; text and format are borrowed.
abi::Program borrowed_program(std::string& text, const std::string& format);

using Floats = std::vector<float>;
std::string to_string(std::span<const float> values);  // "[1, 2, ...]", the first few

// A host array on its way to the device.
struct Put {
  HeldBuffer buffer;
  HeldEvent done;  // with the host array
};
struct PutOptions {
  int semantics = kImmutableOnlyDuringCall;
  abi::Device* device = nullptr;  // the first, where none is given
  abi::BufferType type = abi::BufferType::kF32;
  std::vector<std::int64_t> dims = {};
  std::vector<std::int64_t> byte_strides = {};
};

struct ExecuteOptions {
  std::vector<std::int64_t> kept;         // inputs that are not to be donated
  abi::Device* execute_device = nullptr;  // for a portable executable
  std::size_t outputs = 1;                // of each device
};
// What a run gives on one device.
struct Run {
  std::vector<HeldBuffer> outputs;
  HeldEvent done;
};

// What the plugin reports of an object, which lives as long.
template <class A, class Object>
struct Facts : A {
  Object of;
};

// A program of one argument and one result, and those.
struct Launch {
  HeldLoaded program;
  HeldBuffer x;
  HeldBuffer y;  // once it is launched
};

// Confined to the thread of the check, but what a check calls from its own threads is const or says
// so: put, get, execute, wait, raw calls.
class Rig {
 public:
  Rig(const Table& table, RigOptions options) : table_(table), options_(std::move(options)) {}

  const Table& table() const { return table_; }
  Trouble& trouble() const { return trouble_; }
  const RigOptions& options() const { return options_; }
  // Destroys the client, so that the next call of client() makes another; the first failure to
  // destroy something.
  Status close();
  // For a second rig of a plugin that is initialized already.
  void adopt_initialized() { initialized_ = true; }
  // A remark for the reader of the report, beside that the check has passed. Ok.
  template <class... Parts>
  Status note(const Parts&... parts) {
    note_ = joined(parts...);
    return {};
  }
  const std::string& remark() const { return note_; }
  // A text that the plugin reports, as the remark: ok unless it is empty.
  Status note_text(const char* text, std::size_t size, std::string_view what);

  // Calls the function of A with a structure that begins with these fields, and gives what the
  // plugin has made of it.
  template <class A, class... Fields>
  Result<A> ask(Fields&&... fields) const {
    A args{{}, fields...};
    MILLRACE_TRY_STATUS(table_.call(args));
    return args;
  }
  // The same, where the first field is the client.
  template <class A, class... Fields>
  Result<A> ask_client(Fields&&... fields) {
    MILLRACE_TRY(abi::Client* const c, client());
    return ask<A>(c, fields...);
  }
  // The same as ask, for a function that only does something.
  template <class A, class... Fields>
  Status call(Fields&&... fields) const {
    A args{{}, fields...};
    return table_.call(args);
  }

  // PJRT_Plugin_Initialize, once.
  Status initialize();
  // Made at the first call, and destroyed at the end of the check.
  Result<abi::Client*> client();
  Result<HeldClient> make_client();
  Result<std::vector<abi::Device*>> devices();
  Result<abi::Device*> device();
  // So many devices, or the check is skipped.
  Result<std::vector<abi::Device*>> several(std::size_t least);
  Result<int> id(abi::Device* device) const;
  Result<abi::Memory*> memory(abi::Device* device) const;  // its default
  Result<abi::Memory*> memory();                           // the first device's

  // For the first device.
  Result<HeldLoaded> compile(const std::string& text);
  Result<HeldLoaded> compile_for(const std::string& text, std::span<abi::Device* const> devices,
                                 int replicas = 1);
  Result<HeldLoaded> compile_raw(std::string text, const std::string& format,
                                 const std::string& options);
  std::string portable_options() const;  // for any one device, which the launch names
  Result<HeldExecutable> executable(abi::LoadedExecutable* loaded) const;

  Result<Put> put_any(const void* data, const PutOptions& options);
  // Copied in the call; the buffer may be used at once.
  Result<HeldBuffer> put(std::span<const float> values, abi::Device* device = nullptr);
  Result<Floats> get(abi::Buffer* buffer, std::int64_t elements = kLength) const;
  // Reads as many elements as there are in `wanted`, and compares.
  Status expect(abi::Buffer* buffer, std::span<const float> wanted, std::string_view what) const;
  Status get_bytes(abi::Buffer* buffer, void* target, std::size_t size) const;
  Result<HeldEvent> start_get(abi::Buffer* buffer, void* target, std::size_t size) const;

  Result<Run> execute(abi::LoadedExecutable* loaded, std::span<abi::Buffer* const> arguments,
                      const ExecuteOptions& options = {}) const;
  // One launch on several devices: arguments[device][argument].
  Result<std::vector<Run>> execute_all(abi::LoadedExecutable* loaded,
                                       const std::vector<std::vector<abi::Buffer*>>& arguments,
                                       const ExecuteOptions& options = {}) const;
  // Runs an executable of one argument and one result.
  Result<HeldBuffer> apply(abi::LoadedExecutable* loaded, abi::Buffer* argument) const;
  Result<Launch> prepare(const std::string& program, std::span<const float> x);
  Result<Launch> launch(const std::string& program, std::span<const float> x);
  // Ok if the plugin has refused, at the launch or by the result.
  Status expect_refused_run(const Result<Run>& run, std::string_view what) const;

  Result<HeldEvent> ready_event(abi::Buffer* buffer) const;
  Result<bool> is_ready(abi::Event* event) const;
  // Until it is ready, by its callback; its error. kDeadlineExceeded after options().patience.
  Status wait(const HeldEvent& event, std::string_view what) const;
  // Ok once so many calls have come.
  Status wait(const Callback& callback, int calls, std::string_view what) const;
  Status wait_ready(abi::Buffer* buffer) const;
  // Ok if the buffer says that it is deleted, or that it is not, as wanted.
  Status expect_deleted(abi::Buffer* buffer, bool wanted, std::string_view what) const;
  Status remove(abi::Buffer* buffer) const;  // PJRT_Buffer_Delete
  // Holds the memory of a buffer from outside while the work is done, and gives what is in it then;
  // numbers() where the host cannot read it.
  Result<Floats> with_memory_held(abi::Buffer* buffer, const std::function<Status()>& work) const;

  template <class T>
  Held<T> hold(T* object) const {
    return Held<T>(object, Destroyer{&table_, &trouble_});
  }

 private:
  Result<std::string> options_for(std::span<abi::Device* const> devices, int replicas) const;

  const Table& table_;
  const RigOptions options_;
  mutable Trouble trouble_;
  std::string note_;
  bool initialized_ = false;
  HeldClient client_;
  std::vector<abi::Device*> devices_;
  std::string first_device_options_;  // of compile; empty until it is called
};

// The usual arguments: 1, 2, 3, 4, and so much more.
inline Floats numbers(float more = 0) { return {1 + more, 2 + more, 3 + more, 4 + more}; }
// Those of a device or a thread: different for each.
inline Floats numbers_of(std::size_t i, float more = 0) {
  return numbers(1000 * static_cast<float>(i) + more);
}
// The bytes that a plugin gives with the function that frees them, which is called.
template <class Holder>
Result<std::string> take_bytes(const char* bytes, std::size_t size, Holder* holder,
                               void (*free)(Holder*)) {
  if (free == nullptr) return broken("there is nothing that frees the bytes");
  std::string copy(bytes, size);
  free(holder);
  if (copy.empty()) return broken("there are no bytes");
  return copy;
}
// The names of attributes, with commas between: no two the same, of types up to the last.
Result<std::string> attribute_names(const abi::NamedValue* values, std::size_t count,
                                    abi::ValueType last);
// Ok if the values are equal.
Status expect_floats(std::span<const float> got, std::span<const float> wanted,
                     std::string_view what);
// An error of the plugin itself is what the check wants: ok. Any other failure is returned.
Status expect_refused(const Status& status, std::string_view what);
template <class T>
Status expect_refused(const Result<T>& result, std::string_view what) {
  return expect_refused(result ? Status() : std::unexpected(result.error()), what);
}

// Runs body(i) on so many threads at once; the first error of any.
Status on_threads(std::size_t threads, const std::function<Status(std::size_t)>& body);
inline constexpr std::size_t kThreads = 16;

// A buffer whose contents will never come is made by PJRT_Client_CreateErrorBuffer or, where a
// plugin lacks it, by a transfer that fails. It has this error.
inline constexpr int kErrorCode = 11;  // OUT_OF_RANGE
inline constexpr std::string_view kErrorText = "an error for a check";

// A buffer of kLength floats, on the first device.
Result<HeldBuffer> error_buffer(Rig& rig);
// A transfer in pieces to one such buffer, which is there before its contents, and which may fail.
Result<HeldTransferManager> make_transfer_manager(Rig& rig);
Result<HeldBuffer> retrieve_buffer(Rig& rig, const HeldTransferManager& manager);
Status fail_transfer(Rig& rig, const HeldTransferManager& manager);
// Ok if the status is that error, or one of any code that reports it.
Status expect_that_error(const Status& status, std::string_view where, bool any_code = false);

}  // namespace millrace::conform
