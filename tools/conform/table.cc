#include "millrace/tools/conform/table.h"

#include <dlfcn.h>

#include <exception>
#include <ranges>

namespace millrace::conform {

namespace {

// By type, with a blank between.
constexpr std::string_view kNames =
    "GpuCustomCall Profiler CustomPartitioner Stream Layouts FFI MemoryDescriptions Triton "
    "RawBuffer PhaseCompile Example Unknown CrossHostTransfers ExecutableMetadata Callback "
    "HostAllocator TpuTopology TpuExecutable Megascale Shardings AbiVersion Collectives "
    "MultiSlice HostMemoryAllocator XlaTransform";

}  // namespace

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

Status Table::destroy(abi::Error* error) const {
  abi::ErrorDestroyArgs args{{}, error};
  return call(args);
}

Error Table::take_error(abi::Error* error, std::string_view what) const {
  abi::ErrorMessageArgs text;
  text.error = error;
  static_cast<void>(call(text));
  abi::ErrorGetCodeArgs code;
  code.error = error;
  if (const Result<abi::Error*> refused = raw(code); refused && *refused != nullptr)
    static_cast<void>(destroy(*refused));
  std::string reported = std::string(what) + ": ";
  reported += text.message == nullptr ? "an error without a message"
                                      : std::string(text.message, text.message_size);
  static_cast<void>(destroy(error));
  const bool known = code.code >= static_cast<int>(ErrorCode::kCancelled) &&
                     code.code <= static_cast<int>(ErrorCode::kUnauthenticated);
  return Error(known ? static_cast<ErrorCode>(code.code) : ErrorCode::kUnknown, std::move(reported))
      .with_detail(PluginError{});
}

const abi::Extension* first_extension(const Table& table) {
  return static_cast<const abi::Extension*>(table.api()->extension_start);
}

const abi::Extension* find_extension(const Table& table, int type) {
  std::size_t length = 0;
  for (const abi::Extension* e = first_extension(table); e != nullptr; e = e->next) {
    if (e->type == type) return e;
    if (++length > kMostExtensions) break;
  }
  return nullptr;
}

std::string extension_name(int type) {
  int known = 0;
  for (const auto name : kNames | std::views::split(' ')) {
    if (known++ == type) return std::string(std::string_view(name));
  }
  return std::to_string(type);
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
