// TracePart: the part that one rank of a job writes of the job's timeline. All parts become one
// file in the end:
//
//   FILE                     what was there before, until the last rank ends
//   FILE.JOB.rank2.4711      the part of rank 2, process 4711: a trace of its own, while it runs
//
//  - TP-1 a part is locked while its writer lives, however that ends.
//  - TP-2 who ends makes FILE of all parts, in the order of the ranks, if no part is locked any
//  more;
//    of several that end at once, one. So the lanes of a rank that was killed are in it, too.
//  - TP-3 parts are removed when FILE has all of them, and stay where it cannot be written. Where
//    every rank was killed, they stay: one after the other they are the whole.
// Everything here blocks. Read next: trace_file.h, which writes a part.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "millrace/core/base/descriptor.h"
#include "millrace/core/base/error.h"

namespace millrace::trace {

struct TracePart {
  std::string job;  // none other has its name
  int rank = 0;
};

// Pure. The bytes of the whole packets that a trace begins with: what comes after is of a packet
// that was cut off, or of none.
std::size_t whole_packets(std::string_view bytes);

// The path of the part of this process.
std::string part_path(const std::string& file, const TracePart& part);

// A file that is there and no regular one (a pipe, a device) has no parts.
bool may_have_parts(const std::string& file);

// Makes the part and locks it for as long as the descriptor is open (TP-1).
Result<Descriptor> open_part(const std::string& path);

// The writer of a part has closed it: TP-2, TP-3. file_lock: FILE, open for writing.
Status join_parts(const std::string& file, const std::string& job, const Descriptor& file_lock);

}  // namespace millrace::trace
