#include "millrace/devices/cache/build_id.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "millrace/devices/cache/sha256.h"

namespace millrace::devices {
namespace {

constexpr std::string_view kGnu("GNU\0", 4);

std::size_t padded(std::size_t size, std::size_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

struct Search {
  std::uintptr_t address;
  std::string found;
};

// Looks into one loaded library; ends the search at the one that holds the address.
int look_into(dl_phdr_info* library, std::size_t /*size*/, void* data) {
  auto& search = *static_cast<Search*>(data);
  const std::span segments(library->dlpi_phdr, library->dlpi_phnum);
  bool holds = false;
  for (const auto& segment : segments) {
    const std::uintptr_t begin = library->dlpi_addr + segment.p_vaddr;
    holds = holds || (segment.p_type == PT_LOAD && search.address >= begin &&
                      search.address - begin < segment.p_memsz);
  }
  if (!holds) return 0;
  for (const auto& segment : segments) {
    if (segment.p_type != PT_NOTE || !search.found.empty()) continue;
    const auto* notes = reinterpret_cast<const std::byte*>(library->dlpi_addr + segment.p_vaddr);
    search.found = build_id_of_notes({notes, segment.p_memsz}, segment.p_align == 8 ? 8 : 4);
  }
  return 1;
}

}  // namespace

std::string build_id_of_notes(std::span<const std::byte> notes, std::size_t alignment) {
  struct Head {
    std::uint32_t name_size, description_size, type;
  };
  while (notes.size() >= sizeof(Head)) {
    Head head;
    std::memcpy(&head, notes.data(), sizeof head);
    // The name begins right after the head, the description at the next aligned place.
    const std::size_t name_end = sizeof head + head.name_size;
    const std::size_t begin = padded(name_end, alignment);
    if (begin > notes.size() || head.description_size > notes.size() - begin) break;
    const std::string_view name(reinterpret_cast<const char*>(notes.data()) + sizeof head,
                                head.name_size);
    if (head.type == NT_GNU_BUILD_ID && name == kGnu && head.description_size > 0) {
      return to_hex({reinterpret_cast<const std::uint8_t*>(&notes[begin]), head.description_size});
    }
    const std::size_t next = padded(begin + head.description_size, alignment);
    if (next > notes.size()) break;
    notes = notes.subspan(next);
  }
  return {};
}

std::string build_of(const void* address, const std::string& path) {
  Search search{reinterpret_cast<std::uintptr_t>(address), {}};
  dl_iterate_phdr(&look_into, &search);
  if (!search.found.empty()) return "build ID " + search.found;
  std::error_code unknown;
  const auto size = std::filesystem::file_size(path, unknown);
  const auto time = std::filesystem::last_write_time(path, unknown).time_since_epoch().count();
  return std::to_string(size) + " bytes of " + std::to_string(time);
}

std::string build_of(const void* address) {
  Dl_info info;
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code unknown;
  // The loader may know the program itself by a name that is relative to another folder.
  const bool there = std::filesystem::exists(info.dli_fname, unknown);
  return build_of(address, there ? info.dli_fname : "/proc/self/exe");
}

const std::string& host_processor() {
  static const std::string found = [] {
    std::ifstream in("/proc/cpuinfo");
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("flags") || line.starts_with("Features")) return line;
    }
    return std::string("unknown");
  }();
  return found;
}

}  // namespace millrace::devices
