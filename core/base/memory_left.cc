#include "millrace/core/base/memory_left.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <system_error>

namespace millrace {
namespace {

std::optional<std::size_t> limit_of(__rlimit_resource_t resource) {
  struct rlimit limit{};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

// The begin of a file of /proc, without an allocation; empty where it cannot be read.
template <std::size_t kSize>
std::string_view read_begin(const char* path, std::array<char, kSize>& buffer) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t got = ::read(file, buffer.data(), buffer.size());
  ::close(file);
  return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

// number * unit. Nothing where the number ends with the text, as it may be cut off then.
std::optional<std::size_t> leading_number(std::string_view text, std::size_t unit) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data() + text.size()) return std::nullopt;
  return number * unit;
}

// What the kernel counts for RLIMIT_AS.
std::optional<std::size_t> mapped_addresses() {
  std::array<char, 128> buffer;
  return leading_number(read_begin("/proc/self/statm", buffer),
                        static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
}

// What the kernel counts for RLIMIT_DATA.
std::optional<std::size_t> mapped_data() {
  constexpr std::string_view kName = "\nVmData:";
  std::array<char, 4096> buffer;
  std::string_view text = read_begin("/proc/self/status", buffer);
  const std::size_t at = text.find(kName);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + kName.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return leading_number(text, 1024);
}

bool leaves(std::optional<std::size_t> limit, std::size_t has, std::size_t wanted) {
  return !limit || (has <= *limit && wanted <= *limit - has);
}

// Where /proc does not say. For a moment other threads do not get what this takes.
bool can_map(std::size_t bytes) {
  // No page is touched.
  void* const trial = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (trial == MAP_FAILED) return false;
  ::munmap(trial, bytes);
  return true;
}

}  // namespace

bool memory_left(std::size_t bytes) {
  const auto addresses = limit_of(RLIMIT_AS);
  const auto data = limit_of(RLIMIT_DATA);
  if (!addresses && !data) return true;
  std::size_t wanted = 0;
  if (__builtin_add_overflow(bytes, kReservedBytes, &wanted)) return false;
  const auto has_addresses = addresses ? mapped_addresses() : std::size_t{0};
  const auto has_data = data ? mapped_data() : std::size_t{0};
  if (!has_addresses || !has_data) return can_map(wanted);
  return leaves(addresses, *has_addresses, wanted) && leaves(data, *has_data, wanted);
}

Error no_memory(std::string_view what, std::size_t bytes) {
  std::string text = what.empty() ? "no memory is left" : "no memory for " + std::string(what);
  if (bytes != 0) text += ": " + std::to_string(bytes) + " bytes are needed";
  if (const auto limit = limit_of(RLIMIT_AS)) {
    text += "; the process may have " + std::to_string(*limit) + " bytes of addresses (ulimit -v)";
    if (const auto has = mapped_addresses()) {
      text += ", has " + std::to_string(*has) + " and keeps " + std::to_string(kReservedBytes) +
              " free";
    }
  }
  if (const auto limit = limit_of(RLIMIT_DATA))
    text += "; the process may have " + std::to_string(*limit) + " bytes of data (ulimit -d)";
  return Error(ErrorCode::kResourceExhausted, std::move(text)).with_detail(MemoryShortage{bytes});
}

}  // namespace millrace
