// RunFacts: what all ranks of a training must have in common, as words: its model, its data, its
// options. Ranks of other processes say theirs before the first step: a number first, which is
// equal as a rule, and the words only where it is not. Read next: checkpoint_manifest.h, whose
// RunIdentity is a part of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "millrace/collectives/process_group.h"
#include "millrace/core/async/coroutine.h"
#include "millrace/core/base/error.h"

namespace millrace::train {

struct RunFact {
  std::string what;   // "the seed"
  std::string value;  // "1"
  bool operator==(const RunFact&) const = default;
};
using RunFacts = std::vector<RunFact>;

// Pure. Equal facts have equal numbers; others hardly ever.
std::uint64_t fingerprint(const RunFacts& facts);

// Pure. Bytes for other ranks; parse gives kInvalidArgument for what is none.
std::string to_payload(const RunFacts& facts);
Result<RunFacts> parse_facts(const std::string& payload);

// Pure. payloads[r] is rank r's. kFailedPrecondition, with Culprits, names the first rank that
// differs from rank 0, and each fact in which it does, with both values.
Status compare_facts(const std::vector<std::string>& payloads);

// Meets all ranks of the group; ranks are those of this process. The error of compare_facts, on
// every rank, or that of the rendezvous, which names a rank that is missing at the limit.
Task<void> meet_facts(std::vector<collectives::ProcessGroup> ranks, RunFacts facts,
                      CallOptions call, TimePoint limit);

}  // namespace millrace::train
