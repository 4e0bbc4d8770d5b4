// Where an attempt begins: anew, after the checkpoint that the run resumes, or after what was
// committed before a failure. Where ranks are elsewhere, all begin after the newest commit that any
// of them holds: each counts only once all had agreed on it. The process that has it sends the
// others what they must know of it; its arrays come to them by the first broadcast, and a process
// that had none keeps them.
#include <algorithm>
#include <limits>
#include <utility>

#include "millrace/core/net/wire_bytes.h"
#include "millrace/tools/train/attempt.h"
#include "millrace/tools/train/awaiting.h"

namespace millrace::train {
namespace {

using collectives::AgreeOp;
using collectives::Payloads;
using collectives::ProcessGroup;
using collectives::Rank;

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

// What a process says to the others of the start.
struct Start {
  std::string path;              // of the checkpoint to resume; empty: none, or one in memory
  std::string manifest;          // its text; empty: the run begins
  std::string error;             // of rank 0, that ends the run; empty: none
  std::uint64_t file_step = 0;   // of rank 0: of the newest checkpoint in its folder
  std::uint64_t begin_step = 0;  // of the run, of a process that has begun it
  // How the attempt before ended, where there was one.
  std::string interruption;      // its error; empty: a rank waited to join
  std::uint64_t steps = 0;       // that had ended
  std::uint64_t elapsed_ns = 0;  // since its end
  std::uint64_t recoveries = 0;  // before
};
constexpr std::size_t kMostPath = 16 << 10;
constexpr std::size_t kMostManifest = 64 << 20;
constexpr std::size_t kMostError = 4 << 10;
constexpr std::uint64_t kMostNumber = std::numeric_limits<std::uint64_t>::max() >> 1;

std::string to_payload(const Start& start) {
  net::WireWriter out;
  for (const std::string* text : {&start.path, &start.manifest, &start.error, &start.interruption})
    out.text(*text);
  for (const std::uint64_t number :
       {start.file_step, start.begin_step, start.steps, start.elapsed_ns, start.recoveries})
    out.number(number);
  const net::WireBytes bytes = out.take();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<Start> parse_start(const std::string& payload) {
  net::WireReader in(std::as_bytes(std::span(payload)));
  Start start;
  start.path = in.text(kMostPath);
  start.manifest = in.text(kMostManifest);
  start.error = in.text(kMostManifest);
  start.interruption = in.text(kMostError);
  for (std::uint64_t* const number :
       {&start.file_step, &start.begin_step, &start.steps, &start.elapsed_ns, &start.recoveries})
    *number = in.number(kMostNumber);
  MILLRACE_TRY_STATUS(in.end("what a rank says of the start"));
  return start;
}

}  // namespace

// After it begin_ is what the attempt begins after, in each process; run_.committed only where its
// arrays are.
Task<void> Attempt::find_start() {
  Result<OpenedCheckpoints> opened = OpenedCheckpoints();
  const bool looks = options_.checkpoint && run_.folder == nullptr;
  Rank begun{-1};
  if (looks) MILLRACE_AWAIT_STATUS(find_identity());
  if (elastic()) {
    MILLRACE_AWAIT(begun, first_rank_with(run_.begun));
  }
  goes_on_ = index(begun) >= 0;
  if (looks && has_first_rank()) {
    Task<OpenedCheckpoints> opening = open_folder();
    opened = co_await std::move(opening);
  }
  if (elastic() || (spans() && looks)) MILLRACE_AWAIT_STATUS(agree_on_start(opened, begun));
  MILLRACE_CO_TRY_STATUS(opened);
  if (opened->folder) run_.folder = std::move(opened->folder);
  if (!spans() && !elastic()) {
    if (looks && opened->newest) {
      run_.committed = std::move(opened->newest);
      run_.resumed_from = opened->path;
    }
    if (run_.committed) begin_ = run_.committed->manifest;
  }
  const bool begins = run_.losses.empty() && run_.first_step == 0;
  if (begins && begin_) run_.first_step = begin_->step;
  if (!goes_on_) run_.begin_step = run_.first_step;
}

// A run that has begun goes on with what the folder has, whatever it was asked for. Where all its
// processes were started anew, the job alone knows that it has.
Task<OpenedCheckpoints> Attempt::open_folder() {
  CheckpointOptions options = *options_.checkpoint;
  KeyValueStore* const store = parts_.job_store;
  const std::string key = "train has begun in " + options.folder;
  options.resume = options.resume || goes_on_;
  if (!options.resume && store != nullptr) {
    const Result<std::string> begun = co_await store->try_get(key);
    if (!begun && begun.error().code() != ErrorCode::kNotFound) co_return begun.error();
    options.resume = begun.has_value();
  }
  const auto open = [this, options] {
    return open_checkpoints(options, run_.identity, model_->carried());
  };
  const Future<OpenedCheckpoints> opening = on_blocking(parts_.environment, open);
  MILLRACE_AWAIT(OpenedCheckpoints opened, opening);
  if (store != nullptr) MILLRACE_AWAIT_STATUS(store->put(key, ""));
  co_return opened;
}

// A small number of all processes.
Task<std::int64_t> Attempt::agree(AgreeOp op, std::int64_t value) {
  collectives::CollectiveOptions collective;
  collective.call = call_;
  std::vector<Future<std::int64_t>> answers;
  for (const ProcessGroup& rank : ranks_) answers.push_back(rank.agree(op, value, collective));
  MILLRACE_AWAIT(const auto agreed, all_of(std::move(answers)));
  co_return agreed.front();
}

// The first rank of a process in which it is true; Rank{-1}: there is none.
Task<Rank> Attempt::first_rank_with(bool condition) {
  MILLRACE_AWAIT(const std::int64_t first,
                 agree(AgreeOp::kMin, condition ? index(ranks_.front().rank()) : kNone));
  co_return Rank{first == kNone ? -1 : static_cast<std::int32_t>(first)};
}

// Without a limit of its own: rank 0 may read long.
Task<void> Attempt::agree_on_start(Result<OpenedCheckpoints> opened, Rank begun) {
  const auto step_of = [](const std::shared_ptr<const Committed>& committed) {
    return committed ? static_cast<std::int64_t>(committed->manifest.step) : -1;
  };
  if (opened && step_of(opened->newest) > step_of(run_.committed)) {
    run_.committed = opened->newest;
    run_.resumed_from = opened->path;
  }
  const std::int64_t mine = step_of(run_.committed);
  MILLRACE_AWAIT(const std::int64_t newest, agree(AgreeOp::kMax, mine));
  MILLRACE_AWAIT(const Rank holder, first_rank_with(newest >= 0 && mine == newest));
  MILLRACE_AWAIT(const Rank reporter, first_rank_with(run_.interruption.has_value()));
  root_ = index(holder) >= 0 ? holder : Rank{0};

  Start start;
  start.begin_step = run_.begin_step;
  if (!opened) start.error = opened.error().message();
  if (opened && opened->newest) start.file_step = opened->newest->manifest.step;
  if (is_here(holder)) {
    MILLRACE_CO_TRY(start.manifest, run_.committed->manifest.to_text());
    start.path = run_.resumed_from;
  }
  if (is_here(reporter)) {
    const Interruption& last = *run_.interruption;
    if (last.error) start.interruption = last.error->message().substr(0, kMostError);
    start.steps = last.steps;
    start.elapsed_ns = static_cast<std::uint64_t>(
        std::max<Duration>(parts_.environment.clock->now() - last.at, Duration(0)).count());
    start.recoveries = run_.recoveries;
  }
  std::vector<Future<Payloads>> meetings;
  for (const ProcessGroup& rank : ranks_) {
    const Rank sayers[] = {Rank{0}, holder, begun, reporter};
    const bool says = std::ranges::find(sayers, rank.rank()) != std::end(sayers);
    meetings.push_back(rank.rendezvous("start", says ? to_payload(start) : "", {}, call_));
  }
  MILLRACE_AWAIT(const auto answers, all_of(std::move(meetings)));
  const std::vector<std::string>& said = *answers.front();

  MILLRACE_CO_TRY(const Start first, parse_start(said.front()));
  if (!has_first_rank() && !first.error.empty()) {
    Error error(ErrorCode::kFailedPrecondition, "rank 0 does not begin: " + first.error);
    co_await end_with(std::move(error));
  }
  if (options_.checkpoint) file_step_ = first.file_step;
  if (index(holder) >= 0 && mine != newest) {
    MILLRACE_CO_TRY(const Start held, parse_start(said.at(at(holder))));
    MILLRACE_CO_TRY(begin_, CheckpointManifest::parse(held.manifest));
    run_.resumed_from = held.path;
  } else if (index(holder) >= 0) {
    begin_ = run_.committed->manifest;
  }
  if (index(begun) >= 0) {
    MILLRACE_CO_TRY(const Start earlier, parse_start(said.at(at(begun))));
    run_.begin_step = earlier.begin_step;
  }
  run_.begun = opened.has_value();
  if (index(reporter) < 0) co_return;
  MILLRACE_CO_TRY(const Start last, parse_start(said.at(at(reporter))));
  const std::uint64_t step = newest >= 0 ? static_cast<std::uint64_t>(newest) : 0;
  interrupted_ =
      parts_.environment.clock->now() - Duration(static_cast<Duration::rep>(last.elapsed_ns));
  recovery_ = RecoveryReport{.devices = {},
                             .error = {},
                             .step = step,
                             .steps_lost = last.steps - std::min(last.steps, step),
                             .recoveries = last.recoveries + 1,
                             .world_size = world()};
  if (!last.interruption.empty()) recovery_->error = Error(ErrorCode::kAborted, last.interruption);
}

// This attempt begins after what is committed.
Status Attempt::resume_from_committed() {
  Position start;  // nothing is committed: anew
  if (begin_) {
    start = {.step = begin_->step, .epoch = begin_->epoch, .item = begin_->epoch_item};
    shares_ = spread_over(begin_->ranks, world());
  }
  const auto rows_of_step = static_cast<std::uint64_t>(options_.same_shard ? rows() : batch());
  const std::uint64_t items = options_.train_data->items();
  if (rows_of_step > items || start.item > items) {
    return fail(ErrorCode::kInvalidArgument,
                "the data have " + std::to_string(items) + " items, and a batch has " +
                    std::to_string(rows_of_step) + ": take a smaller batch");
  }
  plan_.emplace(start, items, rows_of_step, options_.epochs, options_.max_steps);
  run_.first_step = std::min(run_.first_step, start.step);
  run_.losses.resize(start.step - run_.first_step);
  run_.rows.resize(run_.losses.size());
  if (!plan_->is_past_end()) return {};
  const std::uint64_t all = options_.epochs * plan_->steps_per_epoch();
  return fail(ErrorCode::kInvalidArgument,
              run_.resumed_from + " is after step " + std::to_string(start.step) +
                  ", but this run ends at step " +
                  std::to_string(std::min(all, options_.max_steps.value_or(all))) +
                  ": let it have more epochs or steps");
}

}  // namespace millrace::train
