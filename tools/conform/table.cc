#include "millrace/tools/conform/table.h"

#include <dlfcn.h>

#include <exception>

namespace millrace::conform {

Result<Table> Table::load(const std::string& path, Progress* progress) {
  progress->slot = Progress::kLoad;
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = ::dlerror();
    return broken("it cannot be loaded: ", (why != nullptr ? why : "no reason given"));
  }
  const auto get_api = reinterpret_cast<GetApi>(::dlsym(library, "GetPjrtApi"));
  if (get_api == nullptr) return broken("it exports no function GetPjrtApi");
  progress->slot = Progress::kGetApi;
  try {
    return Table(get_api, get_api(), progress);
  } catch (...) {
    return broken("GetPjrtApi threw a C++ exception");
  }
}

std::size_t Table::slots() const {
  const std::size_t head = offsetof(abi::Api, functions);
  return api_->struct_size < head ? 0 : (api_->struct_size - head) / sizeof(void*);
}

Result<abi::Error*> Table::raw(abi::Slot slot, void* args, Invoke invoke) const {
  if (!has(slot)) return lacks("there is no function ", abi::to_string(slot));
  progress_->slot.store(static_cast<int>(slot), std::memory_order_relaxed);
  std::string thrown;
  try {
    return invoke(*api_, args);
  } catch (const std::exception& e) {
    thrown = e.what();
  } catch (...) {
    thrown = "none of std::exception";
  }
  return broken(abi::to_string(slot), " threw a C++ exception through the C interface: ", thrown);
}

template <class A>
Status Table::quiet(A& args) const {
  constexpr abi::Slot kSlot = abi::Call<A>::kSlot;
  if (!has(kSlot)) return lacks("there is no function ", abi::to_string(kSlot));
  args.struct_size = abi::Call<A>::kSize;
  progress_->slot = static_cast<int>(kSlot);
  api_->function<A>()(&args);
  return {};
}

Status Table::message(abi::ErrorMessageArgs& args) const { return quiet(args); }

Status Table::destroy(abi::Error* error) const {
  abi::ErrorDestroyArgs args{{}, error};
  return quiet(args);
}

Error Table::take_error(abi::Error* error, std::string_view what) const {
  abi::ErrorMessageArgs text;
  text.error = error;
  static_cast<void>(message(text));
  abi::ErrorGetCodeArgs code;
  code.error = error;
  if (const Result<abi::Error*> refused = raw(code); refused && *refused != nullptr)
    static_cast<void>(destroy(*refused));
  std::string told = std::string(what) + ": ";
  told += text.message == nullptr ? "an error without a message"
                                  : std::string(text.message, text.message_size);
  static_cast<void>(destroy(error));
  const bool known = code.code >= static_cast<int>(ErrorCode::kCancelled) &&
                     code.code <= static_cast<int>(ErrorCode::kUnauthenticated);
  return Error(known ? static_cast<ErrorCode>(code.code) : ErrorCode::kUnknown, std::move(told))
      .with_detail(PluginError{});
}

void Trouble::note(const Error& error) {
  const std::scoped_lock lock(mutex_);
  if (first_) first_ = std::unexpected(error);
}

Status Trouble::first() const {
  const std::scoped_lock lock(mutex_);
  return first_;
}

}  // namespace millrace::conform
