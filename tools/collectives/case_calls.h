// The calls of a case, as one rank makes them: the right one, and those with a mistake of the rank,
// to see what the others hear. Read next: cases.h; commands/collectives.cc, which waits for them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "millrace/collectives/process_group.h"
#include "millrace/tools/collectives/cases.h"

namespace millrace::tools {

// One of both; neither: the rank does not call.
struct CaseCall {
  Future<devices::Buffers> arrays = {};
  Future<void> done = {};
};

// in: the rank's array (input_of), none for a case without arrays.
CaseCall call_case(const CollectiveCase& one, const collectives::ProcessGroup& group,
                   const devices::Buffers& in, const collectives::CollectiveOptions& options);

// What a rank does wrong. Each is a word: "skip", "op", "dtype", "shape", "root".
enum class Mistake : std::uint8_t {
  kSkip,   // it makes the call after it
  kOp,     // another operation
  kDType,  // arrays of another type
  kShape,  // longer arrays
  kRoot,   // another root
};
std::optional<Mistake> mistake_of(std::string_view word);
// Whether the case has what the mistake is about.
bool may_have(const CollectiveCase& one, Mistake mistake);
// Blocks while an array is put.
CaseCall call_wrong(const CollectiveCase& one, Mistake mistake,
                    const collectives::ProcessGroup& group, const devices::Buffers& in,
                    const collectives::CollectiveOptions& options);

}  // namespace millrace::tools
