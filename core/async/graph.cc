#include "millrace/core/async/graph.h"

#include <algorithm>

#include "millrace/core/base/check.h"

namespace millrace {
namespace detail {
namespace {

constexpr std::size_t kLine = 64;

std::size_t align_up(std::size_t n, std::size_t align) { return (n + align - 1) / align * align; }

}  // namespace

BodyArena::~BodyArena() {
  for (const Destructor& d : destructors_) d.destroy(d.object);
}

GraphCore::~GraphCore() {
  MutexLock lock(mutex_);
  while (free_ != nullptr) {
    RunBlock* block = free_;
    free_ = block->next_free;
    destroy_block(block);
  }
}

RunBlock* GraphCore::acquire_block() {
  {
    MutexLock lock(mutex_);
    if (RunBlock* block = free_) {
      free_ = block->next_free;
      return block;
    }
  }
  return make_block();
}

void GraphCore::recycle_block(RunBlock* block) {
  MutexLock lock(mutex_);
  block->next_free = free_;
  free_ = block;
}

// One allocation: header, states, hooks, inputs, outputs, payloads.
RunBlock* GraphCore::make_block() const {
  std::size_t bytes = align_up(sizeof(RunBlock), kLine);
  const auto place = [&bytes](std::size_t count, std::size_t size) {
    const std::size_t offset = bytes;
    bytes += align_up(count * size, kLine);
    return offset;
  };
  const std::size_t states = place(nodes.size(), sizeof(SlotState));
  const std::size_t hooks = place(hook_count, sizeof(NodeHook));
  const std::size_t input_hooks = place(inputs.size(), sizeof(InputHook));
  const std::size_t cells = place(outputs.size(), sizeof(Ref<AsyncValue>));
  const std::size_t payloads = place(payload_bytes, 1);

  auto* memory = static_cast<std::byte*>(::operator new(bytes, std::align_val_t(kLine)));
  auto* block = new (memory) RunBlock;
  block->states = new (memory + states) SlotState[nodes.size()];
  block->hooks = new (memory + hooks) NodeHook[hook_count];
  block->inputs = new (memory + input_hooks) InputHook[inputs.size()];
  block->outputs = new (memory + cells) Ref<AsyncValue>[outputs.size()];
  block->payloads = memory + payloads;
  for (SlotIndex i = 0; i < nodes.size(); ++i) {
    block->states[i].missing.store(nodes[i].in_count, std::memory_order_relaxed);
    block->states[i].users.store(nodes[i].out_count, std::memory_order_relaxed);
    if (nodes[i].hook == kNoSlot) continue;
    (nodes[i].function == nullptr ? block->inputs[nodes[i].hook].slot
                                  : block->hooks[nodes[i].hook].slot) = i;
  }
  return block;
}

void GraphCore::destroy_block(RunBlock* block) const {
  std::destroy_n(block->states, nodes.size());
  std::destroy_n(block->hooks, hook_count);
  std::destroy_n(block->inputs, inputs.size());
  std::destroy_n(block->outputs, outputs.size());
  block->~RunBlock();
  ::operator delete(block, std::align_val_t(kLine));
}

}  // namespace detail

using detail::kNoSlot;
using detail::Node;
using detail::SlotIndex;

GraphBuilder::GraphBuilder() : core_(make_ref<detail::GraphCore>()) {
  static std::atomic<std::uint64_t> next_id{1};
  id_ = next_id.fetch_add(1);
}

void GraphBuilder::remember(std::string message, const std::source_location& where) {
  if (!error_) error_.emplace(ErrorCode::kInvalidArgument, std::move(message), where);
}

SlotIndex GraphBuilder::check_slot(SlotIndex index, std::uint64_t builder,
                                   const std::source_location& where) {
  if (builder == id_) return index;
  remember(index == kNoSlot
               ? "building a graph: a node or output uses an empty slot; slots come from input() "
                 "and node()"
               : "building a graph: slot " + std::to_string(index) +
                     " is of another builder; a graph's nodes may use its own slots only",
           where);
  return kNoSlot;
}

std::uint32_t GraphBuilder::payload_of(SlotIndex index) const {
  return index < core_->nodes.size() ? core_->nodes[index].payload : 0;  // 0: build() will refuse
}

SlotIndex GraphBuilder::add_slot(SlotName name, const Node& node) {
  MILLRACE_CHECK(node.type->align <= alignof(Node),
                 "values of slots are aligned to at most 64 bytes");
  MILLRACE_CHECK(core_->nodes.size() < kNoSlot, "a graph has fewer than 2^32 slots");
  const std::uint32_t align = node.type->align;
  core_->payload_bytes = (core_->payload_bytes + align - 1) / align * align;
  core_->nodes.push_back(node);
  core_->nodes.back().payload = core_->payload_bytes;
  core_->payload_bytes += node.type->size;
  made_at_.push_back(name.where());
  core_->names.push_back(std::move(name).take());
  return static_cast<SlotIndex>(core_->nodes.size() - 1);
}

SlotIndex GraphBuilder::add_input(SlotName name, const detail::SlotType* type) {
  Node node;
  node.type = type;
  node.hook = static_cast<std::uint32_t>(core_->inputs.size());
  const SlotIndex index = add_slot(std::move(name), node);
  core_->inputs.push_back(index);
  return index;
}

SlotIndex GraphBuilder::add_node(SlotName name, const Node& made,
                                 std::span<const SlotIndex> inputs) {
  Node node = made;
  node.first_in = static_cast<std::uint32_t>(core_->in_edges.size());
  node.in_count = static_cast<std::uint32_t>(inputs.size());
  if (node.executor != nullptr || node.asynchronous) node.hook = core_->hook_count++;
  for (SlotIndex input : inputs) {
    core_->in_edges.push_back(input);
    if (input != kNoSlot && !core_->nodes[input].type->trivial) node.releases_inputs = true;
  }
  const SlotIndex index = add_slot(std::move(name), node);
  if (inputs.empty()) core_->sources.push_back(index);
  return index;
}

void GraphBuilder::add_output(SlotIndex index, const std::source_location& where) {
  if (index == kNoSlot) return;
  if (core_->nodes[index].output != kNoSlot) {
    return remember(
        "building a graph: slot '" + core_->names[index] + "' is declared an output twice", where);
  }
  outputs_at_.push_back(where);
  core_->nodes[index].output = static_cast<std::uint32_t>(core_->outputs.size());
  core_->outputs.push_back(index);
}

void GraphBuilder::check_names() {
  std::vector<std::pair<std::string_view, SlotIndex>> names;
  for (SlotIndex i = 0; i < core_->names.size(); ++i) {
    if (!core_->names[i].empty()) names.emplace_back(core_->names[i], i);
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(
      names.begin(), names.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != names.end()) {
    remember("building a graph: the name '" + std::string(twice->first) + "' is given to two slots",
             made_at_[std::next(twice)->second]);
  }
}

// The consumers of every slot, from the inputs of every node, in the order of the nodes.
void GraphBuilder::connect() {
  auto& nodes = core_->nodes;
  for (SlotIndex input : core_->in_edges) ++nodes[input].out_count;
  std::uint32_t first = 0;
  for (Node& node : nodes) {
    node.first_out = first;
    first += node.out_count;
  }
  core_->out_edges.resize(core_->in_edges.size());
  std::vector<std::uint32_t> filled(nodes.size(), 0);
  for (SlotIndex i = 0; i < nodes.size(); ++i) {
    for (std::uint32_t e = 0; e < nodes[i].in_count; ++e) {
      const SlotIndex input = core_->in_edges[nodes[i].first_in + e];
      core_->out_edges[nodes[input].first_out + filled[input]++] = i;
    }
  }
  for (const Node& node : nodes) {
    // A run does not wait for an input that no node uses.
    if (node.function != nullptr || node.out_count != 0 || node.output != kNoSlot) ++core_->counted;
  }
}

void GraphBuilder::check_outputs() {
  for (std::size_t i = 0; i < core_->outputs.size(); ++i) {
    const SlotIndex index = core_->outputs[i];
    const Node& node = core_->nodes[index];
    if (!node.type->copyable && node.out_count != 0) {
      remember("building a graph: output '" + core_->names[index] +
                   "' has a move-only type and is used by a node too; only one of them can have "
                   "the value",
               outputs_at_[i]);
    }
  }
}

Result<Graph> GraphBuilder::build(const GraphOptions& options, std::source_location where) {
  if (!core_) {
    return fail(ErrorCode::kFailedPrecondition, "building a graph: build() was called twice",
                where);
  }
  check_names();
  if (!error_) {
    connect();
    check_outputs();
  }
  auto core = std::exchange(core_, nullptr);
  if (error_) return std::unexpected(*error_);
  core->timers = options.timers;
  core->observer = options.observer;
  return Graph(std::move(core));
}

}  // namespace millrace
