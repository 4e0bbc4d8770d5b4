#include "millrace/tools/conform/extensions.h"

#include <array>
#include <string_view>

namespace millrace::conform {
namespace {

constexpr std::array<std::string_view, 25> kNames = {"GpuCustomCall",
                                                     "Profiler",
                                                     "CustomPartitioner",
                                                     "Stream",
                                                     "Layouts",
                                                     "FFI",
                                                     "MemoryDescriptions",
                                                     "Triton",
                                                     "RawBuffer",
                                                     "PhaseCompile",
                                                     "Example",
                                                     "Unknown",
                                                     "CrossHostTransfers",
                                                     "ExecutableMetadata",
                                                     "Callback",
                                                     "HostAllocator",
                                                     "TpuTopology",
                                                     "TpuExecutable",
                                                     "Megascale",
                                                     "Shardings",
                                                     "AbiVersion",
                                                     "Collectives",
                                                     "MultiSlice",
                                                     "HostMemoryAllocator",
                                                     "XlaTransform"};

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
  if (type < 0 || static_cast<std::size_t>(type) >= kNames.size()) return std::to_string(type);
  return std::string(kNames[static_cast<std::size_t>(type)]);
}

}  // namespace millrace::conform
