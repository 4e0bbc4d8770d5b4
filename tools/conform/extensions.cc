#include "millrace/tools/conform/extensions.h"

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

}  // namespace millrace::conform
