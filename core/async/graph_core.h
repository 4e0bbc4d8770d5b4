// The untyped inside of a Graph: slots, edges and the layout of a run's memory. Internal to
// core/async/graph_*.h; read graph.h first, then graph_run.cc for how a run walks this.
//
// A slot is an input or a node and its one value. Slots are numbered in the order in which they
// were made, and may only use earlier ones, so there are no cycles and "lowest index" means "first
// in the program".
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <string>
#include <vector>

#include "millrace/core/async/async_value.h"
#include "millrace/core/async/executor.h"
#include "millrace/core/base/mutex.h"

namespace millrace {

class GraphObserver;
class GraphRun;
class TimerQueue;
struct CallOptions;

namespace detail {

using SlotIndex = std::uint32_t;
inline constexpr SlotIndex kNoSlot = std::numeric_limits<SlotIndex>::max();

enum class SlotStatus : std::uint8_t {
  kEmpty,     // -> kValue or kError
  kValue,     // the payload is a value; -> kReleased when its last user has run
  kError,     // the payload is an Error, until the run is recycled
  kReleased,  // final for this run
};

// What the untyped core must know of a value type; one constant per type, known by its address.
struct SlotType {
  std::uint32_t size;  // of the payload, which also holds an Error
  std::uint32_t align;
  bool trivial;  // destroying a value does nothing
  bool copyable;
  void (*destroy)(void* payload);
  // Takes the result of a complete cell of this type into payload.
  SlotStatus (*take)(AsyncValue& cell, void* payload);
  AsyncValue* (*make_output)();
  // Completes an output cell with a copy of the value, or with the value itself where nothing else
  // uses it; loses quietly to the end of the run.
  void (*set_output)(AsyncValue& cell, void* payload, bool move);
  void (*set_output_error)(AsyncValue& cell, const Error& error);
};

// Runs the function of a node: writes value or Error at payloads + result and says which, or leaves
// the future to wait for in *pending and says kEmpty. Never throws.
using NodeFunction = SlotStatus (*)(const void* body, const CallOptions& call, std::byte* payloads,
                                    std::uint32_t result, Ref<AsyncValue>* pending);

// Hot part of a slot: one cache line. Immutable once built.
struct alignas(64) Node {
  NodeFunction function = nullptr;  // nullptr: an input
  const void* body = nullptr;
  const SlotType* type = nullptr;
  Executor* executor = nullptr;  // nullptr: inline
  std::uint32_t payload = 0;     // offset in the payload area of a run
  std::uint32_t first_in = 0;
  std::uint32_t in_count = 0;
  std::uint32_t first_out = 0;
  std::uint32_t out_count = 0;
  std::uint32_t hook = kNoSlot;    // of a node that may wait: its hook; of an input: its number
  std::uint32_t output = kNoSlot;  // its place among the outputs
  bool asynchronous = false;       // the function gives a Future
  bool releases_inputs = false;    // some input needs destruction when its last user has run
};
static_assert(sizeof(Node) == 64);

// How far a node is in a run that has a stop or a deadline, whose error names the nodes in flight.
enum class NodeProgress : std::uint8_t {
  kIdle,       // waits for its inputs, or has ended -> kSubmitted, kRunning
  kSubmitted,  // waits for its executor -> kRunning
  kRunning,    // its function runs, or the future that it gave is awaited -> kIdle
};

// State of a slot in a run. missing and users count down and are put back by the thread that
// reaches zero, so that a replay starts without touching every slot.
struct SlotState {
  std::atomic<std::uint32_t> missing{0};  // inputs that have not completed
  std::atomic<std::uint32_t> users{0};    // consumers that have not run yet
  SlotIndex next_ready = kNoSlot;         // for the list of ready nodes it is in
  SlotStatus status = SlotStatus::kEmpty;
  std::atomic<NodeProgress> progress{NodeProgress::kIdle};
};

// What waits for the executor or for the future of a node.
struct NodeHook final : Work, Waiter {
  GraphRun* run_of = nullptr;
  SlotIndex slot = kNoSlot;
  Ref<AsyncValue> source;

  void run() noexcept override;
  void drop() noexcept override;
  void on_complete(AsyncValue& value) noexcept override;
};

// What waits for an input. The input's arrival and a stop race for the claim.
struct InputHook final : Waiter {
  GraphRun* run_of = nullptr;
  SlotIndex slot = kNoSlot;
  std::atomic<bool> claimed{false};
  Ref<AsyncValue> source;

  void on_complete(AsyncValue& value) noexcept override;
};

// The memory of one run, recycled: arrays of states, hooks, inputs, output cells, then payloads.
struct RunBlock {
  RunBlock* next_free = nullptr;
  SlotState* states = nullptr;
  NodeHook* hooks = nullptr;
  InputHook* inputs = nullptr;
  Ref<AsyncValue>* outputs = nullptr;
  std::byte* payloads = nullptr;
};

// Closures of nodes, one after the other, so that a run reads them in order.
class BodyArena {
 public:
  BodyArena() = default;
  BodyArena(const BodyArena&) = delete;
  BodyArena& operator=(const BodyArena&) = delete;
  ~BodyArena();

  template <class Body>
  Body* make(Body body) {
    auto* made = new (memory_.allocate(sizeof(Body), alignof(Body))) Body(std::move(body));
    if constexpr (!std::is_trivially_destructible_v<Body>) {
      destructors_.push_back({made, [](void* object) { static_cast<Body*>(object)->~Body(); }});
    }
    return made;
  }

 private:
  static constexpr std::size_t kChunkBytes = 64 * 1024;
  struct Destructor {
    void* object;
    void (*destroy)(void*);
  };
  std::pmr::monotonic_buffer_resource memory_{kChunkBytes};
  std::vector<Destructor> destructors_;
};

// The immutable graph and the free list of its runs. Owned by Graph handles and by runs in flight.
// Thread-safety: immutable, except the free list, which is thread-safe.
class GraphCore final : public RefCounted {
 public:
  ~GraphCore() override;

  RunBlock* acquire_block();
  void recycle_block(RunBlock* block);

  std::vector<Node> nodes;
  std::vector<SlotIndex> in_edges;
  std::vector<SlotIndex> out_edges;
  std::vector<std::string> names;  // by slot
  std::vector<SlotIndex> inputs;   // by input number
  std::vector<SlotIndex> outputs;
  std::vector<SlotIndex> sources;  // nodes without inputs
  std::uint32_t hook_count = 0;
  std::uint32_t payload_bytes = 0;
  std::uint32_t counted = 0;  // slots whose completion a run waits for
  BodyArena bodies;
  TimerQueue* timers = nullptr;
  GraphObserver* observer = nullptr;
  std::atomic<std::uint64_t> next_run{0};

 private:
  RunBlock* make_block() const;
  void destroy_block(RunBlock* block) const;

  Mutex mutex_;
  RunBlock* free_ MILLRACE_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace detail
}  // namespace millrace
