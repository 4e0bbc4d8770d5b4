// GraphRun: one run of a Graph, from Graph::start to done(). Read next: graph_run.cc.
//
// Invariants:
//  - GR-1 a node's value is in place before any of its consumers is counted down.
//  - GR-2 every slot completes once per run: with a value, its own error, or an input's (skipped).
//  - GR-3 done() completes after every slot, or earlier with the run's stop or deadline; the run's
//    memory stays until every slot has completed (settled()).
//  - GR-4 no call nests per node: inline nodes run from a list, however long the chain.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/async/call_options.h"
#include "millrace/core/async/combinators.h"
#include "millrace/core/async/future.h"
#include "millrace/core/async/graph_core.h"
#include "millrace/core/async/graph_node.h"
#include "millrace/core/async/timer_queue.h"
#include "millrace/core/base/function_ref.h"
#include "millrace/core/base/mutex.h"

namespace millrace {

template <class T>
class Slot;

// Called for every node of every run, on the thread that runs it. Must be short. Thread-safe.
class GraphObserver {
 public:
  virtual ~GraphObserver() = default;
  virtual void node_started(std::uint64_t run, std::uint32_t slot,
                            std::string_view name) noexcept = 0;
  // error: nullptr for a value. A node that was skipped is finished without having been started.
  virtual void node_finished(std::uint64_t run, std::uint32_t slot, std::string_view name,
                             const Error* error) noexcept = 0;
};

// A Future of an input, its type remembered for the check against the graph.
struct GraphInput {
  template <class A>
  GraphInput(const Future<A>& future)  // NOLINT(google-explicit-constructor)
      : cell(future.cell()), type(&detail::kSlotType<A>) {}
  Ref<AsyncValue> cell;
  const detail::SlotType* type;
};

// The typed fact in the error of a run that its stop or deadline has ended: the names of the nodes
// whose functions ran or were just about to, or whose futures had not come, in the order of the
// program. One that was about to run is then perhaps skipped.
struct NodesInFlight {
  std::vector<std::string> names;
};

// Keeps itself alive until it has settled; dropping the Ref stops nothing. Its memory returns to
// the graph when it has settled and the last Ref is released. Thread-safety: thread-safe.
class GraphRun final : public RefCounted, public Pooled {
 public:
  // slot: declared an output by the builder (CHECKed). Completes as soon as the node has, and
  // with done()'s error if that comes first.
  template <class R>
  Future<R> output(const Slot<R>& slot) const;
  // Completes when every node has finished or was skipped, with the error of the lowest slot that
  // has one. The run's stop ends it at once with kCancelled, its deadline with kDeadlineExceeded
  // (kAborted: the timers closed before): no further node begins. The error names the nodes in
  // flight (NodesInFlight), which run on; their results are dropped.
  Future<void> done() const { return Future<void>(Ref<Cell<void>>(done_)); }
  // Completes when no node's function runs and no node's future is awaited: with done(), or later
  // after a stop or a deadline. The functions' captures live until then. In the
  // first case with done()'s error, in the other with a value.
  Future<void> settled() const {
    return Future<void>(Ref<Cell<void>>(settled_ ? settled_ : done_));
  }
  // Counts the runs of a graph from 0.
  std::uint64_t number() const { return number_; }

 private:
  friend class Graph;
  friend struct detail::NodeHook;
  friend struct detail::InputHook;

  class Ready;

  static constexpr std::uint32_t kHasErrors = 1;  // some slot has an error
  static constexpr std::uint32_t kAborted = 2;    // abort_error_ is set: start no more nodes

  static Ref<GraphRun> start(const Ref<detail::GraphCore>& core, std::span<const GraphInput> inputs,
                             const CallOptions& options);
  GraphRun(Ref<detail::GraphCore> core, const CallOptions& options);
  ~GraphRun() override;

  AsyncValue& output_cell(detail::SlotIndex slot) const;
  void prepare();
  void arm();
  static void end(RefCounted& run, detail::WaitEnd end);
  void attach_inputs(std::span<const GraphInput> inputs, Ready& ready);
  std::optional<Error> check_inputs(std::span<const GraphInput> inputs) const;

  void abort(FunctionRef<Error()> error);
  bool abort_into(FunctionRef<Error()> error, Ready& ready);
  Error unfinished(detail::WaitEnd end) const;
  const Error& abort_error() const;
  void name_error(detail::SlotIndex slot) const;
  void make_ready(detail::SlotIndex slot, Ready& ready);
  detail::SlotStatus start_node(detail::SlotIndex slot);
  const Error* skip_reason(detail::SlotIndex slot, std::uint32_t flags) const;
  void arrive(detail::SlotIndex slot, AsyncValue& value);
  void complete(detail::SlotIndex slot, detail::SlotStatus status, Ready& ready);
  void release_inputs(const detail::Node& node);
  void drain(Ready& ready);
  void finish();

  void* payload(const detail::Node& node) const { return block_->payloads + node.payload; }
  const Error& error_of(detail::SlotIndex slot) const;

  const Ref<detail::GraphCore> core_;
  detail::RunBlock* const block_;
  const std::uint64_t number_;
  const CallOptions call_;
  const bool limited_;  // call_ has a stop or a deadline
  std::atomic<std::uint32_t> flags_{0};
  std::atomic<std::uint32_t> remaining_;  // slots that are not complete, start(), abort()
  std::atomic<bool> abort_claimed_{false};
  // Written once, under the mutex, with kAborted: a thread that sees the flag locks, then reads it.
  std::optional<Error> abort_error_;
  mutable Mutex abort_mutex_;
  const Ref<Cell<void>> done_;
  const Ref<Cell<void>> settled_;  // of a limited run
};

}  // namespace millrace
