// How a run goes: start() hands over what is there; the thread that completes a slot counts its
// consumers down and runs those that became ready and are inline from its own list (GR-4); the rest
// goes to their executors.
#include "millrace/core/async/graph_run.h"

#include "millrace/core/base/check.h"

namespace millrace {

using detail::kNoSlot;
using detail::Node;
using detail::NodeProgress;
using detail::SlotIndex;
using detail::SlotState;
using detail::SlotStatus;

namespace {

// How many nodes of its own executor a piece of work runs before it goes back to the queue.
constexpr int kRunInARow = 64;

std::string node_label(const detail::GraphCore& core, SlotIndex slot) {
  return core.names[slot].empty() ? "node " + std::to_string(slot)
                                  : "node '" + core.names[slot] + "'";
}

}  // namespace

// The nodes that this thread runs next, linked through their states; the newest group first, in
// program order within a group, so that a run walks the graph depth first. Also counts what
// completed, to settle at the end.
class GraphRun::Ready {
 public:
  explicit Ready(SlotState* states, Executor* here = nullptr) : states_(states), here_(here) {}

  void add(SlotIndex slot) {
    states_[slot].next_ready = kNoSlot;
    (group_tail_ == kNoSlot ? group_head_ : states_[group_tail_].next_ready) = slot;
    group_tail_ = slot;
  }
  // True: run the node here, without submitting it: the executor is the same, nothing else waits.
  bool may_run_here(const Executor* executor) {
    if (executor != here_ || budget_ == 0 || head_ != kNoSlot || group_head_ != kNoSlot)
      return false;
    --budget_;
    return true;
  }
  SlotIndex pop() {
    if (group_head_ != kNoSlot) {
      states_[group_tail_].next_ready = head_;
      head_ = std::exchange(group_head_, kNoSlot);
      group_tail_ = kNoSlot;
    }
    const SlotIndex slot = head_;
    if (slot != kNoSlot) head_ = states_[slot].next_ready;
    return slot;
  }

  std::uint32_t completed = 0;

 private:
  SlotState* states_;
  Executor* here_;
  int budget_ = kRunInARow;
  SlotIndex head_ = kNoSlot;
  SlotIndex group_head_ = kNoSlot;
  SlotIndex group_tail_ = kNoSlot;
};

GraphRun::GraphRun(Ref<detail::GraphCore> core, const CallOptions& options)
    : core_(std::move(core)),
      block_(core_->acquire_block()),
      number_(core_->next_run.fetch_add(1)),
      call_(options),
      limited_(options.stop.stop_possible() || options.deadline != kNoDeadline),
      remaining_(core_->counted + 1),
      done_(make_ref<Cell<void>>()),
      settled_(limited_ ? make_ref<Cell<void>>() : nullptr) {}

GraphRun::~GraphRun() {
  if ((flags_.load() & kHasErrors) != 0) {
    for (SlotIndex i = 0; i < core_->nodes.size(); ++i) {
      if (block_->states[i].status != SlotStatus::kError) continue;
      static_cast<Error*>(payload(core_->nodes[i]))->~Error();
      block_->states[i].status = SlotStatus::kEmpty;
    }
  }
  for (std::size_t i = 0; i < core_->outputs.size(); ++i) block_->outputs[i] = nullptr;
  core_->recycle_block(block_);
}

Ref<GraphRun> GraphRun::start(const Ref<detail::GraphCore>& core,
                              std::span<const GraphInput> inputs, const CallOptions& options) {
  MILLRACE_CHECK(core, "a Graph that was moved from was started");
  auto run = Ref<GraphRun>::adopt(new GraphRun(core, options));
  run->add_ref();  // until settled
  run->prepare();
  Ready ready(run->block_->states);
  if (const auto error = run->check_inputs(inputs)) {
    run->abort_into([&error] { return *error; }, ready);
  } else {
    if (run->limited_) run->arm();
    run->attach_inputs(inputs, ready);
  }
  for (SlotIndex source : core->sources) run->make_ready(source, ready);
  ready.completed += 1;  // start's own share of remaining_
  run->drain(ready);
  return run;
}

void GraphRun::prepare() {
  const auto& core = *core_;
  for (std::size_t i = 0; i < core.inputs.size(); ++i) {
    block_->inputs[i].run_of = this;
    block_->inputs[i].claimed.store(false,
                                    std::memory_order_relaxed);  // no other thread has the run yet
  }
  for (std::size_t i = 0; i < core.hook_count; ++i) block_->hooks[i].run_of = this;
  for (std::size_t i = 0; i < core.outputs.size(); ++i) {
    block_->outputs[i] = Ref<AsyncValue>::adopt(core.nodes[core.outputs[i]].type->make_output());
    block_->outputs[i]->ignore_error();  // done() has it too, and reports it once for the run
  }
}

std::optional<Error> GraphRun::check_inputs(std::span<const GraphInput> inputs) const {
  const auto refuse = [](std::string why) {
    return Error(ErrorCode::kInvalidArgument, "starting a graph: " + std::move(why));
  };
  if (inputs.size() != core_->inputs.size()) {
    return refuse("it has " + std::to_string(core_->inputs.size()) + " inputs and was given " +
                  std::to_string(inputs.size()));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = core_->names[core_->inputs[i]];
    if (!inputs[i].cell) return refuse("the future of input '" + name + "' is empty");
    if (inputs[i].type != core_->nodes[core_->inputs[i]].type) {
      return refuse("the future of input '" + name + "' is of another type than the input");
    }
  }
  return std::nullopt;
}

void GraphRun::arm() {
  TimerQueue* const timers = core_->timers;
  const bool timed = timers != nullptr || call_.deadline == kNoDeadline;
  const Clock& clock = timers != nullptr ? timers->clock() : steady_clock();
  Status in_time = check_in_time(call_, clock, "a run of a graph");
  if (!timed && !call_.stop.stop_requested()) {
    in_time = fail(ErrorCode::kInvalidArgument,
                   "a run of a graph was started with a deadline, but the graph was built without "
                   "timers: set GraphOptions::timers");
  }
  if (!in_time) return abort([&] { return in_time.error(); });
  detail::limit_wait(call_, timers, Ref<AsyncValue>(done_),
                     Ref<RefCounted>(Ref<GraphRun>::share(this)), &GraphRun::end,
                     TimerQueue::Kind::kWork);
}

void GraphRun::end(RefCounted& run, detail::WaitEnd end) {
  auto& ended = static_cast<GraphRun&>(run);
  ended.abort([&] { return ended.unfinished(end); });
}

void GraphRun::attach_inputs(std::span<const GraphInput> inputs, Ready& ready) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    detail::InputHook& hook = block_->inputs[i];
    const Node& node = core_->nodes[hook.slot];
    if (node.out_count == 0 && node.output == kNoSlot) continue;
    AsyncValue& cell = *inputs[i].cell;
    if (cell.complete()) {
      if (!hook.claimed.exchange(true))
        complete(hook.slot, node.type->take(cell, payload(node)), ready);
    } else {
      hook.source = inputs[i].cell;
      add_ref();  // until on_complete() of the hook
      cell.add_waiter(&hook);
    }
  }
}

// Starts no more nodes, and gives up on inputs that are not there, so that everything behind them
// is skipped. Then the run is done, whatever is in flight (GR-3). Not when the run has come to its
// end: until done() has the error the run is held open: outputs have it only if done() has it.
void GraphRun::abort(FunctionRef<Error()> error) {
  const auto keep = Ref<GraphRun>::share(this);  // it may settle in here
  std::uint32_t remaining = remaining_.load();
  do {  // a share of it, unless finish() has begun
    if (remaining == 0) return;
  } while (!remaining_.compare_exchange_weak(remaining, remaining + 1));
  Ready own_share(block_->states);
  own_share.completed = 1;
  Ready ready(block_->states);
  if (abort_into(error, ready)) {
    drain(ready);
    for (std::size_t i = 0; i < core_->outputs.size(); ++i) {
      AsyncValue& output = *block_->outputs[i];
      if (!output.complete())
        core_->nodes[core_->outputs[i]].type->set_output_error(output, *abort_error_);
    }
    done_->try_set(std::unexpected(*abort_error_));
  }
  drain(own_share);
}

// error is asked for once nothing more is begun: what is in flight then, stays.
bool GraphRun::abort_into(FunctionRef<Error()> error, Ready& ready) {
  if (abort_claimed_.exchange(true)) return false;
  {
    MutexLock lock(abort_mutex_);
    flags_.fetch_or(kAborted);
    abort_error_.emplace(error());
  }
  for (std::size_t i = 0; i < core_->inputs.size(); ++i) {
    detail::InputHook& hook = block_->inputs[i];
    const Node& node = core_->nodes[hook.slot];
    if (node.out_count == 0 && node.output == kNoSlot) continue;
    if (hook.claimed.exchange(true)) continue;
    complete(hook.slot, detail::put_error(payload(node), *abort_error_), ready);
  }
  return true;
}

const Error& GraphRun::abort_error() const {
  MutexLock lock(abort_mutex_);
  return *abort_error_;
}

// Why the run ends, with what it still waits for.
Error GraphRun::unfinished(detail::WaitEnd end) const {
  NodesInFlight in_flight;
  std::string what = "before a run of a graph had ended";
  const char* between = ": ";
  const auto add = [&](const std::string& one) { what += std::exchange(between, ", ") + one; };
  for (SlotIndex i = 0; i < core_->nodes.size(); ++i) {
    const Node& node = core_->nodes[i];
    if (node.function == nullptr) {
      const bool used = node.out_count != 0 || node.output != kNoSlot;
      if (used && !block_->inputs[node.hook].claimed.load())
        add("input '" + core_->names[i] + "' was not there");
      continue;
    }
    const NodeProgress progress = block_->states[i].progress.load();
    if (progress == NodeProgress::kIdle) continue;
    const bool running = progress == NodeProgress::kRunning;
    add(node_label(*core_, i) + (running ? " was in flight" : " waited for its executor"));
    if (running) in_flight.names.push_back(core_->names[i]);
  }
  return detail::wait_error(end, what).with_detail(std::move(in_flight));
}

// "node 'forward': ...", from the place where it was made.
void GraphRun::name_error(SlotIndex slot) const {
  auto& error = *static_cast<Error*>(payload(core_->nodes[slot]));
  error = error.with_context(node_label(*core_, slot), error.where());
}

void GraphRun::make_ready(SlotIndex slot, Ready& ready) {
  const Node& node = core_->nodes[slot];
  if (node.executor == nullptr || ready.may_run_here(node.executor)) {
    ready.add(slot);
    return;
  }
  // Before the flags are read: abort looks at it after it has set them.
  if (limited_) block_->states[slot].progress.store(NodeProgress::kSubmitted);
  // What will be skipped needs no executor.
  const std::uint32_t flags = flags_.load();
  if (flags != 0 && skip_reason(slot, flags) != nullptr) {
    ready.add(slot);
  } else {
    node.executor->submit(&block_->hooks[node.hook]);
  }
}

const Error& GraphRun::error_of(SlotIndex slot) const {
  return *static_cast<const Error*>(payload(core_->nodes[slot]));
}

const Error* GraphRun::skip_reason(SlotIndex slot, std::uint32_t flags) const {
  const Node& node = core_->nodes[slot];
  for (std::uint32_t e = 0; e < node.in_count; ++e) {
    const SlotIndex input = core_->in_edges[node.first_in + e];
    if (block_->states[input].status == SlotStatus::kError) return &error_of(input);
  }
  return (flags & kAborted) != 0 ? &abort_error() : nullptr;
}

SlotStatus GraphRun::start_node(SlotIndex slot) {
  const Node& node = core_->nodes[slot];
  SlotStatus status = SlotStatus::kError;
  // As in make_ready: so that none is missed. A node that is skipped below may be reported, too.
  if (limited_) block_->states[slot].progress.store(NodeProgress::kRunning);
  const std::uint32_t flags = flags_.load();
  const Error* const reason = flags == 0 ? nullptr : skip_reason(slot, flags);
  if (reason != nullptr) [[unlikely]] {
    detail::put_error(payload(node), *reason);
  } else {
    if (core_->observer != nullptr) [[unlikely]] {
      core_->observer->node_started(number_, slot, core_->names[slot]);
    }
    Ref<AsyncValue>* pending = node.asynchronous ? &block_->hooks[node.hook].source : nullptr;
    status = node.function(node.body, call_, block_->payloads, node.payload, pending);
    if (status == SlotStatus::kError) [[unlikely]]
      name_error(slot);
  }
  if (node.releases_inputs) release_inputs(node);
  return status;
}

// The last user of a value destroys it: what a step no longer needs does not stay to its end.
void GraphRun::release_inputs(const Node& node) {
  for (std::uint32_t e = 0; e < node.in_count; ++e) {
    const SlotIndex input = core_->in_edges[node.first_in + e];
    const Node& source = core_->nodes[input];
    if (source.type->trivial) continue;
    SlotState& state = block_->states[input];
    if (source.out_count != 1) {
      if (state.users.fetch_sub(1) != 1) continue;
      state.users.store(source.out_count,
                        std::memory_order_relaxed);  // alone until the next run
    }
    if (state.status == SlotStatus::kValue) {
      source.type->destroy(payload(source));
      state.status = SlotStatus::kReleased;
    }
  }
}

// A value has come that the slot waited for.
void GraphRun::arrive(SlotIndex slot, AsyncValue& value) {
  const Node& node = core_->nodes[slot];
  const SlotStatus status = node.type->take(value, payload(node));
  if (status == SlotStatus::kError && node.function != nullptr) name_error(slot);
  (node.function == nullptr ? block_->inputs[node.hook].source : block_->hooks[node.hook].source) =
      nullptr;
  Ready ready(block_->states);
  complete(slot, status, ready);
  drain(ready);
}

// The slot's payload is in place. Completes the output, then makes consumers ready (GR-1).
void GraphRun::complete(SlotIndex slot, SlotStatus status, Ready& ready) {
  const Node& node = core_->nodes[slot];
  SlotState* states = block_->states;
  if (status == SlotStatus::kError) [[unlikely]] {
    flags_.fetch_or(kHasErrors);
  }
  states[slot].status = status;
  if (limited_) states[slot].progress.store(NodeProgress::kIdle);
  if (core_->observer != nullptr && node.function != nullptr) [[unlikely]] {
    core_->observer->node_finished(number_, slot, core_->names[slot],
                                   status == SlotStatus::kError ? &error_of(slot) : nullptr);
  }
  if (node.output != kNoSlot) {
    AsyncValue& cell = *block_->outputs[node.output];
    status == SlotStatus::kError ? node.type->set_output_error(cell, error_of(slot))
                                 : node.type->set_output(cell, payload(node), node.out_count == 0);
  }
  if (node.out_count == 0 && !node.type->trivial && status == SlotStatus::kValue) {
    node.type->destroy(payload(node));
    states[slot].status = SlotStatus::kReleased;
  }
  for (std::uint32_t e = 0; e < node.out_count; ++e) {
    const SlotIndex consumer = core_->out_edges[node.first_out + e];
    const std::uint32_t inputs = core_->nodes[consumer].in_count;
    if (inputs != 1) {
      if (states[consumer].missing.fetch_sub(1) != 1) continue;
      states[consumer].missing.store(inputs,
                                     std::memory_order_relaxed);  // alone until the next run
    }
    make_ready(consumer, ready);
  }
  ++ready.completed;
}

void GraphRun::drain(Ready& ready) {
  for (SlotIndex slot = ready.pop(); slot != kNoSlot; slot = ready.pop()) {
    const SlotStatus status = start_node(slot);
    if (status != SlotStatus::kEmpty) {
      complete(slot, status, ready);
      continue;
    }
    detail::NodeHook& hook = block_->hooks[core_->nodes[slot].hook];
    const Ref<AsyncValue> source =
        hook.source;  // the hook may run, and release it, before this returns
    source->add_waiter(&hook);
  }
  if (ready.completed != 0 && remaining_.fetch_sub(ready.completed) == ready.completed) finish();
}

void GraphRun::finish() {
  Status status;
  if ((flags_.load() & kHasErrors) != 0) {
    for (SlotIndex i = 0; i < core_->nodes.size(); ++i) {
      const bool counts = core_->nodes[i].function != nullptr || core_->nodes[i].output != kNoSlot;
      if (!counts || block_->states[i].status != SlotStatus::kError) continue;
      status = std::unexpected(error_of(i));
      break;
    }
  }
  done_->try_set(std::move(status));
  if (settled_) settled_->set({});
  release();
}

AsyncValue& GraphRun::output_cell(SlotIndex slot) const {
  MILLRACE_CHECK(slot < core_->nodes.size() && core_->nodes[slot].output != kNoSlot,
                 "the slot was not declared an output of this graph");
  done_->ignore_error();
  return *block_->outputs[core_->nodes[slot].output];
}

namespace detail {

void NodeHook::run() noexcept {
  GraphRun& run = *run_of;
  GraphRun::Ready ready(run.block_->states, run.core_->nodes[slot].executor);
  ready.add(slot);
  run.drain(ready);
}

void NodeHook::drop() noexcept {
  GraphRun& run = *run_of;
  const Node& node = run.core_->nodes[slot];
  put_error(run.payload(node),
            Error(ErrorCode::kAborted, "the executor of " + node_label(*run.core_, slot) +
                                           " closed before the node ran"));
  if (node.releases_inputs) run.release_inputs(node);
  GraphRun::Ready ready(run.block_->states);
  run.complete(slot, SlotStatus::kError, ready);
  run.drain(ready);
}

void NodeHook::on_complete(AsyncValue& value) noexcept { run_of->arrive(slot, value); }

void InputHook::on_complete(AsyncValue& value) noexcept {
  const auto run = Ref<GraphRun>::adopt(run_of);  // the reference taken when it was attached
  if (!claimed.exchange(true)) return run->arrive(slot, value);
  source = nullptr;
}

}  // namespace detail
}  // namespace millrace
