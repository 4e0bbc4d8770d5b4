// Table: a plugin's functions, called as they are: the checks test the plugin, not our client.
// Notes in shared memory which function was called last, so that the process that finds this
// one dead can report it. Read next: rig.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "millrace/core/base/error.h"
#include "millrace/tools/conform/check.h"

namespace millrace::conform {

// Lives in memory that the process of a check shares with the one that waits for it.
struct Progress {
  // The slot of the function that was called last; before the first, one of these.
  static constexpr int kNothing = -1, kLoad = -2, kGetApi = -3;
  std::atomic<int> slot{kNothing};
};

// Thread-safe: checks call from many threads.
class Table {
 public:
  using GetApi = const abi::Api* (*)();

  // The library at path. Errors are those of the dynamic linker.
  static Result<Table> load(const std::string& path, Progress* progress);

  // Null where GetPjrtApi gives none.
  const abi::Api* api() const { return api_; }
  GetApi get_api() const { return get_api_; }
  int minor() const { return api_->version.minor_version; }
  std::size_t slots() const;  // that the table says to have
  bool has(abi::Slot slot) const { return api_->has(slot); }

  // The plugin's error as ours, with the function's name in front; "threw a C++ exception" is one.
  template <class A>
  Status call(A& args) const {
    args.struct_size = abi::Call<A>::kSize;
    return call_as_is(args);
  }
  // As call, with the size that the structure states already.
  template <class A>
  Status call_as_is(A& args) const {
    MILLRACE_TRY(abi::Error* const error, raw_as_is(args));
    if (error == nullptr) return {};
    return std::unexpected(take_error(error, abi::to_string(abi::Call<A>::kSlot)));
  }
  // As call, but gives the plugin's own error object, which the caller has then.
  template <class A>
  Result<abi::Error*> raw(A& args) const {
    args.struct_size = abi::Call<A>::kSize;
    return raw_as_is(args);
  }
  // Error_Message and Error_Destroy, which give nothing back.
  Status message(abi::ErrorMessageArgs& args) const;
  Status destroy(abi::Error* error) const;
  // Frees the error.
  Error take_error(abi::Error* error, std::string_view what) const;

 private:
  template <class A>
  Result<abi::Error*> raw_as_is(A& args) const {
    return raw(abi::Call<A>::kSlot, &args, [](const abi::Api& api, void* typed) {
      return api.function<A>()(static_cast<A*>(typed));
    });
  }
  using Invoke = abi::Error* (*)(const abi::Api& api, void* args);
  Table(GetApi get_api, const abi::Api* api, Progress* progress)
      : get_api_(get_api), api_(api), progress_(progress) {}
  Result<abi::Error*> raw(abi::Slot slot, void* args, Invoke invoke) const;
  template <class A>
  Status quiet(A& args) const;

  GetApi get_api_;
  const abi::Api* api_;
  Progress* progress_;
};

// The first failure to destroy an object of the plugin, kept for the end of the check. Thread-safe.
class Trouble {
 public:
  void note(const Error& error);
  Status first() const;

 private:
  mutable std::mutex mutex_;
  Status first_;
};

// Destroys objects of the plugin; a failure is trouble.
struct Destroyer {
  const Table* table = nullptr;
  Trouble* trouble = nullptr;

  void operator()(abi::Client* object) const { call<abi::ClientDestroyArgs>(object); }
  void operator()(abi::Buffer* object) const { call<abi::BufferDestroyArgs>(object); }
  void operator()(abi::Event* object) const { call<abi::EventDestroyArgs>(object); }
  void operator()(abi::Executable* object) const { call<abi::ExecutableDestroyArgs>(object); }
  void operator()(abi::LoadedExecutable* o) const { call<abi::LoadedExecutableDestroyArgs>(o); }
  void operator()(abi::Topology* object) const { call<abi::TopologyDestroyArgs>(object); }
  void operator()(abi::TransferManager* o) const { call<abi::TransferManagerDestroyArgs>(o); }

 private:
  template <class A, class T>
  void call(T* object) const {
    A args{{}, object};
    if (const Status done = table->call(args); !done) trouble->note(done.error());
  }
};
template <class T>
using Held = std::unique_ptr<T, Destroyer>;
using HeldClient = Held<abi::Client>;
using HeldBuffer = Held<abi::Buffer>;
using HeldEvent = Held<abi::Event>;
using HeldExecutable = Held<abi::Executable>;
using HeldLoaded = Held<abi::LoadedExecutable>;
using HeldTopology = Held<abi::Topology>;
using HeldTransferManager = Held<abi::TransferManager>;

}  // namespace millrace::conform
