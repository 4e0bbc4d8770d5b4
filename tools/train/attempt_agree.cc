// What all ranks of a training have in common before its first step: what it is of, and the
// checkpoint that it resumes. Where ranks are elsewhere, the training that has rank 0 opens the
// folder and sends the others what it has found; its arrays come to them by the first broadcast.
#include <utility>

#include "millrace/core/net/wire_bytes.h"
#include "millrace/tools/train/attempt.h"
#include "millrace/tools/train/awaiting.h"

namespace millrace::train {
namespace {

using collectives::Payloads;
using collectives::ProcessGroup;

std::string yes_or_no(bool value) { return value ? "yes" : "no"; }

// What is the same for all ranks besides the identity of the run. (Steps in flight, threads and
// reads are each rank's own affair.)
RunFacts facts_of_options(const TrainingOptions& options) {
  RunFacts facts = {
      {"the number of epochs", std::to_string(options.epochs)},
      {"--max-steps", options.max_steps ? std::to_string(*options.max_steps) : "none"},
      {"--bucket-bytes", std::to_string(options.bucket_bytes)},
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

// What rank 0 has found in the folder.
struct Found {
  std::string path;      // of the checkpoint to resume; empty: the run begins
  std::string manifest;  // its text
  std::string error;     // empty: none
};
constexpr std::size_t kMostPath = 16 << 10;
constexpr std::size_t kMostManifest = 64 << 20;

std::string to_payload(const Found& found) {
  net::WireWriter out;
  for (const std::string* text : {&found.path, &found.manifest, &found.error}) out.text(*text);
  const net::WireBytes bytes = out.take();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<Found> parse_found(const std::string& payload) {
  net::WireReader in(std::as_bytes(std::span(payload)));
  Found found;
  found.path = in.text(kMostPath);
  found.manifest = in.text(kMostManifest);
  found.error = in.text(kMostManifest);
  MILLRACE_TRY_STATUS(in.end("what rank 0 says of the checkpoints"));
  return found;
}

Result<Found> found_by(const Result<OpenedCheckpoints>& opened) {
  Found found;
  if (!opened) {
    found.error = opened.error().message();
  } else if (opened->newest) {
    found.path = opened->path;
    MILLRACE_TRY(found.manifest, opened->newest->manifest.to_text());
  }
  return found;
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
                   .devices = world(),
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

// The folder of the checkpoints, and the one that this run resumes from.
Task<void> Attempt::open_run() {
  MILLRACE_AWAIT_STATUS(find_identity());
  Result<OpenedCheckpoints> opened = OpenedCheckpoints();
  if (has_first_rank()) {
    const auto open = [this] {
      return open_checkpoints(*options_.checkpoint, run_.identity, model_->carried());
    };
    const Future<OpenedCheckpoints> opening = on_blocking(parts_.environment, open);
    opened = co_await opening;
  }
  if (spans()) MILLRACE_AWAIT_STATUS(agree_on_checkpoint(opened));
  MILLRACE_CO_TRY_STATUS(opened);
  if (has_first_rank()) {
    run_.folder = std::move(opened->folder);
    if (!opened->newest) co_return;
    run_.committed = std::move(opened->newest);
    run_.resumed_from = opened->path;
  }
  if (run_.committed) run_.first_step = run_.committed->manifest.step;
}

// Without a limit of its own: rank 0 may read long.
Task<void> Attempt::agree_on_checkpoint(Result<OpenedCheckpoints> opened) {
  MILLRACE_CO_TRY(const Found mine, found_by(opened));
  std::vector<Future<Payloads>> meetings;
  for (const ProcessGroup& rank : ranks_) {
    const bool says = rank.rank() == collectives::Rank{0};
    meetings.push_back(rank.rendezvous("resume", says ? to_payload(mine) : "", {}, call_));
  }
  MILLRACE_AWAIT(const auto answers, all_of(std::move(meetings)));
  if (has_first_rank()) co_return;
  MILLRACE_CO_TRY(const Found found, parse_found(answers.front()->front()));
  if (!found.error.empty()) {
    Error error(ErrorCode::kFailedPrecondition, "rank 0 does not begin: " + found.error);
    co_await end_with(std::move(error));
  }
  if (found.path.empty()) co_return;
  auto committed = std::make_shared<Committed>();
  MILLRACE_CO_TRY(committed->manifest, CheckpointManifest::parse(found.manifest));
  run_.committed = std::move(committed);
  run_.resumed_from = found.path;
}

}  // namespace millrace::train
