#include "millrace/tools/conform/table.h"

#include <dlfcn.h>

#include <exception>

#include "millrace/tools/conform/check.h"

namespace millrace::conform {

Result<Table> Table::load(const std::string& path, Progress* progress) {
  progress->slot = Progress::kLoad;
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = ::dlerror();
    return broken("it cannot be loaded: " + std::string(why != nullptr ? why : "no reason given"));
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

bool Table::has(abi::Slot slot) const {
  const auto i = static_cast<std::size_t>(slot);
  return i < slots() && api_->functions[i] != nullptr;
}

Result<abi::Error*> Table::raw(abi::Slot slot, void* args, Invoke invoke) const {
  if (!has(slot)) return lacks("there is no function " + std::string(abi::to_string(slot)));
  progress_->slot.store(static_cast<int>(slot), std::memory_order_relaxed);
  std::string thrown;
  try {
    return invoke(api_->functions[static_cast<std::size_t>(slot)], args);
  } catch (const std::exception& e) {
    thrown = e.what();
  } catch (...) {
    thrown = "none of std::exception";
  }
  return broken(std::string(abi::to_string(slot)) +
                " threw a C++ exception through the C interface: " + thrown);
}

Status Table::message(abi::ErrorMessageArgs& args) const {
  if (!has(abi::Slot::kError_Message)) return lacks("there is no function PJRT_Error_Message");
  args.struct_size = abi::Call<abi::ErrorMessageArgs>::kSize;
  progress_->slot = static_cast<int>(abi::Slot::kError_Message);
  reinterpret_cast<abi::QuietFunction<abi::ErrorMessageArgs>>(
      api_->functions[static_cast<std::size_t>(abi::Slot::kError_Message)])(&args);
  return {};
}

Status Table::destroy(abi::Error* error) const {
  if (!has(abi::Slot::kError_Destroy)) return lacks("there is no function PJRT_Error_Destroy");
  abi::ErrorDestroyArgs args;
  args.struct_size = abi::Call<abi::ErrorDestroyArgs>::kSize;
  args.error = error;
  progress_->slot = static_cast<int>(abi::Slot::kError_Destroy);
  reinterpret_cast<abi::QuietFunction<abi::ErrorDestroyArgs>>(
      api_->functions[static_cast<std::size_t>(abi::Slot::kError_Destroy)])(&args);
  return {};
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
  while (busy_.test_and_set()) {
  }
  if (!error_) error_ = std::make_unique<Error>(error);
  busy_.clear();
}

Status Trouble::first() const {
  while (busy_.test_and_set()) {
  }
  Status status;
  if (error_) status = std::unexpected(*error_);
  busy_.clear();
  return status;
}

}  // namespace millrace::conform
