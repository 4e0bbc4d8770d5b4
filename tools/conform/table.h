// Table: a plugin's functions, called as they are: the checks test the plugin, not our client.
// Notes in shared memory which function was called last, so that whoever finds the process dead can
// tell. Read next: rig.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "millrace/core/error.h"
#include "millrace/tools/conform/abi.h"

namespace millrace::conform {

// Lives in memory that the process of a check shares with the one that waits for it.
struct Progress {
  // Of the function that was called last; before the first, one of these.
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
  bool has(abi::Slot slot) const;

  // The plugin's error as ours, with the function's name in front; "threw a C++ exception" is one.
  template <class A>
  Status call(A& args) const {
    MILLRACE_TRY(abi::Error* const error, raw(args));
    if (error == nullptr) return {};
    return std::unexpected(take_error(error, abi::to_string(abi::Call<A>::kSlot)));
  }
  // The same with the plugin's own error object, which the caller has then.
  template <class A>
  Result<abi::Error*> raw(A& args) const {
    args.struct_size = abi::Call<A>::kSize;
    return raw_as_is(args);
  }
  // With the size that the structure states already.
  template <class A>
  Result<abi::Error*> raw_as_is(A& args) const {
    constexpr abi::Slot kSlot = abi::Call<A>::kSlot;
    return raw(kSlot, &args, [](void* function, void* typed) {
      return reinterpret_cast<abi::Function<A>>(function)(static_cast<A*>(typed));
    });
  }
  // Error_Message and Error_Destroy, which give nothing back.
  Status message(abi::ErrorMessageArgs& args) const;
  Status destroy(abi::Error* error) const;
  // Frees the error.
  Error take_error(abi::Error* error, std::string_view what) const;

 private:
  using Invoke = abi::Error* (*)(void* function, void* args);
  Table(GetApi get_api, const abi::Api* api, Progress* progress)
      : get_api_(get_api), api_(api), progress_(progress) {}
  Result<abi::Error*> raw(abi::Slot slot, void* args, Invoke invoke) const;

  GetApi get_api_;
  const abi::Api* api_;
  Progress* progress_;
};

// An object of the plugin that is destroyed with this; a plugin that fails to destroy it is broken,
// which `trouble` keeps for the end of the check.
struct Trouble {
  void note(const Error& error);
  Status first() const;

 private:
  mutable std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  std::unique_ptr<Error> error_;
};

template <class T, class DestroyArgs, auto kMember>
class Held {
 public:
  Held() = default;
  Held(const Table& table, Trouble& trouble, T* object)
      : table_(&table), trouble_(&trouble), object_(object) {}
  Held(Held&& other) noexcept
      : table_(other.table_), trouble_(other.trouble_), object_(std::exchange(other.object_, {})) {}
  Held& operator=(Held&& other) noexcept {
    if (this != &other) {
      reset();
      table_ = other.table_;
      trouble_ = other.trouble_;
      object_ = std::exchange(other.object_, nullptr);
    }
    return *this;
  }
  ~Held() { reset(); }

  T* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  T* release() { return std::exchange(object_, nullptr); }
  void reset() {
    if (object_ == nullptr) return;
    DestroyArgs args;
    args.*kMember = std::exchange(object_, nullptr);
    if (const Status done = table_->call(args); !done) trouble_->note(done.error());
  }

 private:
  const Table* table_ = nullptr;
  Trouble* trouble_ = nullptr;
  T* object_ = nullptr;
};

using HeldClient = Held<abi::Client, abi::ClientDestroyArgs, &abi::ClientDestroyArgs::client>;
using HeldBuffer = Held<abi::Buffer, abi::BufferDestroyArgs, &abi::BufferDestroyArgs::buffer>;
using HeldEvent = Held<abi::Event, abi::EventDestroyArgs, &abi::EventDestroyArgs::event>;
using HeldExecutable =
    Held<abi::Executable, abi::ExecutableDestroyArgs, &abi::ExecutableDestroyArgs::executable>;
using HeldLoaded = Held<abi::LoadedExecutable, abi::LoadedExecutableDestroyArgs,
                        &abi::LoadedExecutableDestroyArgs::executable>;
using HeldTopology =
    Held<abi::Topology, abi::TopologyDestroyArgs, &abi::TopologyDestroyArgs::topology>;
using HeldTransferManager = Held<abi::TransferManager, abi::TransferManagerDestroyArgs,
                                 &abi::TransferManagerDestroyArgs::manager>;

}  // namespace millrace::conform
