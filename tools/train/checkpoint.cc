#include "millrace/tools/train/checkpoint.h"

#include <algorithm>
#include <string>
#include <utility>

#include "millrace/core/base/check.h"
#include "millrace/tools/train/awaiting.h"

namespace millrace::train {
namespace {

using devices::Buffer;
using devices::Buffers;
using devices::HostArray;

// What one checkpoint is made of; lives in the frame of its coroutine.
struct Job {
  std::shared_ptr<const CheckpointParts> parts;
  std::vector<Replica> replicas;
  CheckpointManifest manifest;
  std::size_t keep = 1;
  bool in_files = true;
};

Status write_files(const CheckpointParts& parts, const Committed& committed) {
  std::vector<transfer::NamedArray> named;
  for (std::size_t i = 0; i < committed.arrays.size(); ++i) {
    const HostArray& array = committed.arrays[i];
    named.push_back({parts.names[i], array.shape(), array.bytes()});
  }
  return parts.folder->write(committed.manifest, named, parts.call.stop);
}

// The same answer for all ranks: where one that is here has heard of a rank that waits.
Task<bool> any_newcomers(std::shared_ptr<const CheckpointParts> parts) {
  const std::string mine = parts->has_newcomers() ? "yes" : "no";
  std::vector<Future<collectives::Payloads>> meetings;
  for (const collectives::ProcessGroup& rank : parts->ranks)
    meetings.push_back(rank.rendezvous("newcomers", mine, {}, parts->call));
  MILLRACE_AWAIT(const auto answers, all_of(std::move(meetings)));
  co_return std::ranges::find(*answers.front(), "yes") != answers.front()->end();
}

Task<Written> write_checkpoint(Job job) {
  const CheckpointParts& parts = *job.parts;
  const std::uint64_t step = job.manifest.step;
  // f on the thread that may block, where there are files.
  const bool in_files = job.in_files && parts.folder != nullptr;
  const auto with_files = [&parts = job.parts, in_files](auto f) {
    if (!in_files) return make_ready();
    return on_blocking(parts->environment, [parts, f = std::move(f)] { return f(*parts); });
  };
  const TimePoint begin = parts.environment.clock->now();
  Written written;
  written.in_files = in_files;
  CheckpointReport& report = written.report;
  report.step = step;
  if (in_files) report.path = parts.folder->path_of(step);

  MILLRACE_AWAIT(std::vector<Buffer> buffers, written_arrays(std::exchange(job.replicas, {}),
                                                             parts.call, parts.environment.timers));
  MILLRACE_CHECK(buffers.size() == parts.names.size(), "each array has a name");
  const bool is_used = in_files || parts.keep_committed;
  std::vector<Future<HostArray>> fetches;
  for (const Buffer& buffer : buffers) {
    if (is_used) fetches.push_back(parts.ranks[0].device().fetch(buffer, parts.call));
  }
  buffers.clear();
  auto committed = std::make_shared<Committed>();
  MILLRACE_AWAIT(committed->arrays, all_of(std::move(fetches)));
  for (const HostArray& array : committed->arrays) report.bytes += array.bytes().size();
  committed->manifest = job.manifest;
  MILLRACE_AWAIT_STATUS(
      with_files([committed](const CheckpointParts& p) { return write_files(p, *committed); }));

  const TimePoint limit = parts.rendezvous_limit == kNoRendezvousLimit
                              ? kNoDeadline
                              : parts.environment.clock->now() + parts.rendezvous_limit;
  Task<EpochShare> meeting =
      meet(parts.ranks, "checkpoint", job.manifest.ranks, &RankState::run_share, parts.call, limit);
  const Result<EpochShare> agreed = co_await std::move(meeting);
  if (!agreed) {
    const Future<void> removed = with_files([step](const CheckpointParts& p) {
      p.folder->remove_part(step);
      return Status();
    });
    static_cast<void>(co_await removed);
    co_return agreed.error();
  }
  // Agreed is agreed: no stop comes between.
  MILLRACE_AWAIT_STATUS(with_files(
      [step, keep = job.keep](const CheckpointParts& p) { return p.folder->publish(step, keep); }));
  report.time = parts.environment.clock->now() - begin;
  if (parts.keep_committed) written.committed = std::move(committed);
  if (!parts.has_newcomers) co_return written;
  Task<bool> asking = any_newcomers(job.parts);
  written.newcomers = (co_await std::move(asking)).value_or(false);  // an error ends the steps, too
  co_return written;
}

}  // namespace

Task<std::vector<Buffer>> written_arrays(std::vector<Replica> replicas, CallOptions call,
                                         TimerQueue* timers) {
  std::vector<Buffer> arrays;
  for (std::size_t r = 0; r < replicas.size(); ++r) {
    const Future<Buffers> families[] = {replicas[r].params, replicas[r].momenta, replicas[r].state};
    for (const Future<Buffers>& family : families) {
      MILLRACE_AWAIT(const Buffers buffers, family);
      for (const Buffer& buffer : buffers) {
        MILLRACE_AWAIT_STATUS(with_options(buffer.ready(), call, *timers));
        if (r == 0) arrays.push_back(buffer);
      }
    }
  }
  co_return arrays;
}

std::string checkpoint_array_name(const TensorSpec& array) {
  const char* const family = array.role == Role::kParam      ? "param/"
                             : array.role == Role::kMomentum ? "momentum/"
                                                             : "state/";
  return family + array.name;
}

Result<OpenedCheckpoints> open_checkpoints(const CheckpointOptions& options, const RunIdentity& run,
                                           std::span<const TensorSpec> arrays) {
  OpenedCheckpoints opened;
  MILLRACE_TRY(CheckpointFolder folder, CheckpointFolder::open(options.folder));
  opened.folder = std::make_shared<CheckpointFolder>(std::move(folder));
  if (!options.resume) {
    MILLRACE_TRY(const std::vector<std::uint64_t> steps, opened.folder->steps());
    if (steps.empty()) return opened;
    return fail(ErrorCode::kFailedPrecondition,
                opened.folder->path_of(steps.back()) +
                    " is there from an earlier run: --resume resumes it; for a new run, name "
                    "another folder or empty this one");
  }
  MILLRACE_TRY(const std::optional<LoadedCheckpoint> newest, opened.folder->load_newest());
  if (!newest) return opened;
  const CheckpointManifest& manifest = newest->manifest;
  Status same = check_same_run(manifest.run, run);
  if (same && (manifest.ranks.empty() || manifest.ranks.size() > run.devices)) {
    same = fail(ErrorCode::kDataLoss,
                "its manifest lists " + std::to_string(manifest.ranks.size()) + " ranks");
  }
  if (!same) return std::unexpected(same.error().with_context("resuming from " + newest->path));
  auto committed = std::make_shared<Committed>();
  committed->manifest = manifest;
  for (const TensorSpec& wanted : arrays) {
    const std::string name = checkpoint_array_name(wanted);
    MILLRACE_TRY(HostArray array, newest->arrays.array(name));
    if (array.shape() != wanted.shape) {
      return fail(ErrorCode::kDataLoss, newest->arrays.path() + ": array '" + name + "' is " +
                                            array.shape().to_string() + ", but the model has " +
                                            wanted.shape.to_string());
    }
    committed->arrays.push_back(std::move(array));
  }
  opened.newest = std::move(committed);
  opened.path = newest->path;
  return opened;
}

Checkpointer::Checkpointer(CheckpointParts parts, const CheckpointOptions& options,
                           std::uint64_t first_step, std::uint64_t file_step)
    : parts_(std::make_shared<const CheckpointParts>(std::move(parts))),
      every_(options.every > 0 ? options.every : parts_->plan.steps_per_epoch()),
      keep_(options.keep),
      step_(first_step),
      file_step_(file_step) {}

bool Checkpointer::take_if_due(std::uint64_t step, std::span<const Replica> replicas) {
  if (step < due() || state_ != State::kIdle) return false;
  take(step, replicas);
  return true;
}

void Checkpointer::take_last(std::uint64_t step, std::span<const Replica> replicas) {
  MILLRACE_CHECK(state_ == State::kIdle, "the last checkpoint comes after the others");
  if (step <= file_step_) return;
  take(step, replicas);
  file_step_ = step;
}

void Checkpointer::take(std::uint64_t step, std::span<const Replica> replicas) {
  state_ = State::kTaken;
  if (step >= file_due()) file_step_ = step;
  step_ = step;
  replicas_.assign(replicas.begin(), replicas.end());
}

void Checkpointer::begin(std::vector<RankState> ranks) {
  MILLRACE_CHECK(state_ == State::kTaken, "what is begun was taken");
  Job job;
  job.parts = parts_;
  job.replicas = std::exchange(replicas_, {});
  job.keep = keep_;
  job.in_files = file_step_ == step_;
  job.manifest.run = parts_->run;
  job.manifest.step = step_;
  const Position next = parts_->plan.at(step_);
  job.manifest.epoch = next.epoch;
  job.manifest.epoch_item = next.item;
  job.manifest.ranks = std::move(ranks);
  state_ = State::kWriting;
  writing_ = spawn(*parts_->environment.compute, write_checkpoint(std::move(job)));
}

Result<std::optional<CheckpointReport>> Checkpointer::poll() {
  if (state_ != State::kWriting || !writing_.ready()) return std::nullopt;
  state_ = State::kIdle;
  Result<Written> written = std::exchange(writing_, {}).take();
  if (!written) {
    return std::unexpected(written.error().with_context(
        parts_->folder != nullptr
            ? "writing the checkpoint " + parts_->folder->path_of(step_)
            : "copying the state after step " + std::to_string(step_) + " to the host"));
  }
  if (written->committed) committed_ = std::move(written->committed);
  newcomers_ = written->newcomers;
  if (!written->in_files) return std::nullopt;
  return std::move(written->report);
}

Future<void> Checkpointer::finish() const {
  if (state_ != State::kWriting) return make_ready();
  return writing_.then(inline_executor(), [](const Result<Written>&) {});
}

}  // namespace millrace::train
