// Table: a plugin's functions, called as they are: the checks test the plugin, not our client.
// Notes in shared memory which function was called last, so that the process that finds this
// one ended can report it. Read next: rig.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>

#include "millrace/core/base/error.h"
#include "millrace/devices/pjrt/abi/extensions.h"
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
  Status destroy(abi::Error* error) const;
  // Frees the error.
  Error take_error(abi::Error* error, std::string_view what) const;

 private:
  template <class A>
  Result<abi::Error*> raw_as_is(A& args) const {
    return raw(abi::Call<A>::kSlot, &args, [](const abi::Api& api, void* untyped) -> abi::Error* {
      const abi::Function<A> function = api.function<A>();
      auto* const typed = static_cast<A*>(untyped);
      if constexpr (!std::is_void_v<decltype(function(typed))>) return function(typed);
      function(typed);  // Error_Message or Error_Destroy, which give nothing back
      return nullptr;
    });
  }
  using Invoke = abi::Error* (*)(const abi::Api& api, void* args);
  Table(GetApi get_api, const abi::Api* api, Progress* progress)
      : get_api_(get_api), api_(api), progress_(progress) {}
  Result<abi::Error*> raw(abi::Slot slot, void* args, Invoke invoke) const;

  GetApi get_api_;
  const abi::Api* api_;
  Progress* progress_;
};

// The extensions of a table, by their types and names.
inline constexpr std::size_t kMostExtensions = 256;  // a longer chain is a loop

const abi::Extension* first_extension(const Table& table);
// Null where there is none.
const abi::Extension* find_extension(const Table& table, int type);
// "Layouts", or "99" where it is not known.
std::string extension_name(int type);

template <class E>
inline constexpr int kTypeOf = -1;
template <>
inline constexpr int kTypeOf<abi::LayoutsExtension> = abi::kLayoutsExtension;
template <>
inline constexpr int kTypeOf<abi::AbiVersionExtension> = abi::kAbiVersionExtension;
template <>
inline constexpr int kTypeOf<abi::StreamExtension> = abi::kStreamExtension;

// Calls a function of an extension, which is called `name`. Its errors are the plugin's; it lacks
// what an extension lacks that is absent or ends before the function.
template <class E, class A>
Status call(const Table& table, abi::Error* (*E::*function)(A*), A& args, std::string_view name) {
  constexpr int kType = kTypeOf<E>;
  const auto* const e = static_cast<const E*>(find_extension(table, kType));
  if (e == nullptr) return lacks("there is no extension ", extension_name(kType));
  const auto begin = reinterpret_cast<std::uintptr_t>(e);
  const auto end = reinterpret_cast<std::uintptr_t>(&(e->*function)) + sizeof(e->*function);
  if (e->struct_size < end - begin || e->*function == nullptr) {
    return lacks("the extension ", extension_name(kType), " of ", e->struct_size,
                 " bytes has no function ", name);
  }
  args.struct_size = sizeof(A);
  abi::Error* const error = (e->*function)(&args);
  if (error == nullptr) return {};
  return std::unexpected(table.take_error(error, name));
}

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
// An object of the plugin that the check owns; it stands for its pointer in calls.
template <class T>
class Held : public std::unique_ptr<T, Destroyer> {
 public:
  using std::unique_ptr<T, Destroyer>::unique_ptr;
  operator T*() const { return this->get(); }  // NOLINT(google-explicit-constructor)
};
using HeldClient = Held<abi::Client>;
using HeldBuffer = Held<abi::Buffer>;
using HeldEvent = Held<abi::Event>;
using HeldExecutable = Held<abi::Executable>;
using HeldLoaded = Held<abi::LoadedExecutable>;
using HeldTopology = Held<abi::Topology>;
using HeldTransferManager = Held<abi::TransferManager>;

}  // namespace millrace::conform
