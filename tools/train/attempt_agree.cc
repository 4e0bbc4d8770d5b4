// What all ranks of a training must have in common before its first step: what it is of.
#include <utility>

#include "millrace/tools/train/attempt.h"
#include "millrace/tools/train/awaiting.h"

namespace millrace::train {
namespace {

std::string yes_or_no(bool value) { return value ? "yes" : "no"; }

// What is the same for all ranks besides the identity of the run. (Steps in flight, threads and
// reads are each rank's own affair.)
RunFacts facts_of_options(const TrainingOptions& options) {
  RunFacts facts = {
      {"the number of epochs", std::to_string(options.epochs)},
      {"--max-steps", options.max_steps ? std::to_string(*options.max_steps) : "none"},
      {"--bucket-bytes", std::to_string(options.bucket_bytes)},
      {"--commit-every", std::to_string(options.commit_every)},
      {"the test data", options.test_data ? "'" + options.test_data->fingerprint() + "'" : "none"}};
  const auto& checkpoint = options.checkpoint;
  facts.push_back({"--checkpoint", checkpoint ? "'" + checkpoint->folder + "'" : "none"});
  if (!checkpoint) return facts;
  facts.push_back({"--every", std::to_string(checkpoint->every)});
  facts.push_back({"--resume", yes_or_no(checkpoint->resume)});
  return facts;
}

// The files of these kinds of programs, with these rows where they have rows. One that the model
// lacks has no bytes. Blocking.
Result<std::vector<FileFacts>> program_files(const Model& model,
                                             std::initializer_list<const char*> kinds,
                                             std::int64_t rows) {
  std::vector<FileFacts> files;
  for (const char* const kind : kinds) {
    Result<const ProgramSpec*> program = model.program(kind, rows);
    if (!program) program = model.program(kind);
    if (!program) {
      files.push_back({.name = kind});
      continue;
    }
    MILLRACE_TRY(FileFacts file, file_facts((*program)->path, (*program)->name));
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace

// Everything that the numbers of a step depend on, apart from the step. Once in a run.
Task<void> Attempt::find_identity() {
  if (!run_.identity.data.empty()) co_return;
  run_.identity = {.model = model_->name(),
                   .programs = {},
                   .items = options_.train_data->items(),
                   .data = {},
                   .batch_size = options_.batch_size,
                   .devices = run_.full,
                   .seed = options_.seed,
                   .shuffle = options_.shuffle,
                   .same_shard = options_.same_shard,
                   .deterministic = deterministic()};
  const auto read = [this]() -> Status {
    RunIdentity& run = run_.identity;
    run.data = options_.train_data->fingerprint();
    MILLRACE_TRY(run.programs, program_files(*model_, {"grad", "update"}, rows()));
    return {};
  };
  MILLRACE_AWAIT_STATUS(on_blocking(parts_.environment, read));
}

// Before anything of it is looked for: what a rank lacks for its own options is no news.
Task<void> Attempt::agree_on_facts() {
  MILLRACE_AWAIT_STATUS(find_identity());
  const auto read = [this]() -> Result<RunFacts> {
    RunFacts facts = facts_of(run_.identity);
    for (RunFact& fact : facts_of_options(options_)) facts.push_back(std::move(fact));
    const std::vector<std::int64_t> eval_rows = model_->rows_of("eval");
    MILLRACE_TRY(
        const std::vector<FileFacts> others,
        program_files(*model_, {"init", "eval"}, eval_rows.empty() ? 0 : eval_rows.back()));
    for (const FileFacts& file : others) facts.push_back(fact_of_program(file));
    return facts;
  };
  MILLRACE_AWAIT(RunFacts facts, on_blocking(parts_.environment, read));
  MILLRACE_AWAIT_STATUS(meet_facts(ranks_, std::move(facts), call_,
                                   parts_.environment.clock->now() + kRendezvousLimit));
}

}  // namespace millrace::train
