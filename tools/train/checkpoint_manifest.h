// CheckpointManifest: what a checkpoint says about itself, in checkpoint.json beside its arrays:
// of which run it is, where that run was, and what its files must be. Pure. Read next:
// checkpoint_folder.h, where it lies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/tools/train/epoch_share.h"
#include "millrace/tools/train/run_facts.h"

namespace millrace::train {

// A file by its content.
struct FileFacts {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;
  bool operator==(const FileFacts&) const = default;
};

// Everything that the numbers of a step depend on, apart from the step: only a run that has the
// same may resume from a checkpoint. (How fast it runs is its own affair: steps in flight, threads
// and buckets are not here.)
struct RunIdentity {
  std::string model;
  std::vector<FileFacts> programs;  // grad and update
  std::uint64_t items = 0;
  std::string data;  // ItemSource::fingerprint()
  std::int64_t batch_size = 0;
  std::uint64_t devices = 0;
  std::uint64_t seed = 0;
  bool shuffle = false;
  bool same_shard = false;
  bool deterministic = false;  // other kernels, with other roundings
};

// The same in words: a fact for each field, and one for each program.
RunFacts facts_of(const RunIdentity& run);
// "the program 'update'", "312 bytes with checksum 1a2b3c4d".
RunFact fact_of_program(const FileFacts& program);

// kFailedPrecondition lists every difference, theirs first, and says what would help.
Status check_same_run(const RunIdentity& checkpoint, const RunIdentity& run);

struct CheckpointManifest {
  RunIdentity run;
  std::uint64_t step = 0;        // finished ones of the whole run
  std::uint64_t epoch = 0;       // of the next step: the position of the loader
  std::uint64_t epoch_item = 0;  // so many items of it come before the next step
  std::vector<RankState>
      ranks;  // that there were; fewer than the run's devices, where some had gone
  FileFacts arrays;

  // JSON, with a checksum of itself; the same checkpoint gives the same text. kInvalidArgument: a
  // name or the fingerprint of the data is no UTF-8, which would not be read back as it was.
  // parse() reads it back or gives kDataLoss (it is not what to_text() wrote), kUnimplemented (of
  // another schema).
  Result<std::string> to_text() const;
  static Result<CheckpointManifest> parse(const std::string& text);
};

}  // namespace millrace::train
