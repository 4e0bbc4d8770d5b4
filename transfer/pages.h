// Pages: memory from the system, page-aligned and zeroed, in huge pages where those help. The
// staging pool uses them. Read next: staging_ledger.h.
#pragma once

#include <cstddef>

namespace millrace::transfer {

inline constexpr std::size_t kPageBytes = 4096;
// Blocks of at least this size start at a multiple of it and ask for huge pages: filling them takes
// a fraction of the page faults, and copying out of them of the TLB misses. The system may refuse.
inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

// bytes > 0, a multiple of kPageBytes. nullptr if the system has none.
std::byte* map_pages(std::size_t bytes);
void unmap_pages(std::byte* pages, std::size_t bytes);

// Where AddressSanitizer runs, touching the pages is an error from guard_pages() to
// unguard_pages(); else nothing.
void guard_pages(std::byte* pages, std::size_t bytes);
void unguard_pages(std::byte* pages, std::size_t bytes);

}  // namespace millrace::transfer
