// split_to_fit: cuts groups of fuse() that one loop cannot hold: too many arrays, results or values
// at a time (LoopKernel).

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "millrace/devices/cpu/compile/fuse.h"
#include "millrace/devices/cpu/compile/view.h"
#include "millrace/devices/cpu/kernels/element.h"
#include "millrace/devices/cpu/kernels/elementwise/loop_kernel.h"

namespace millrace::devices::cpu::compiler {
namespace {

using Width = std::size_t;  // of an element, in bytes

// What the loop of a group needs, no less than LoopKernel and TileProgram will find.
class Needs {
 public:
  Needs(const Graph& graph, const Uses& uses, const Group& group)
      : graph_(graph), uses_(uses), members_(group.nodes.begin(), group.nodes.end()) {
    for (std::size_t i = 0; i < group.nodes.size(); ++i) add(group.nodes[i], i);
    count_live(group.nodes.size());
  }

  bool fit() const {
    return buffers_.size() <= LoopKernel::kMaxBuffers && outputs_ <= LoopKernel::kMaxOutputs &&
           values_ <= TileProgram::kMaxValues && frame_bytes() <= LoopKernel::kFrameBytes;
  }

 private:
  void add(NodeId id, std::size_t place) {
    const Node& n = graph_.node(id);
    const bool reduces = n.kind == NodeKind::kReduce;
    for (std::size_t i = 0; i < (reduces ? 1 : n.inputs.size()); ++i)
      add_operand(n.inputs[i], place);
    const bool output =
        reduces || uses_.leaves(n.outputs[0], [&](NodeId u) { return members_.contains(u); });
    outputs_ += output;
    if (reduces) {
      buffers_.insert(n.inputs[1]);
      ++reductions_;
      return;
    }
    ++values_;
    made_[n.outputs[0]] = {
        .width = width(n.outputs[0]), .from = place, .to = place, .stays = output};
  }

  void add_operand(ValueId v, std::size_t place) {
    if (const auto it = made_.find(strip(graph_, v)); it != made_.end()) {
      it->second.to = place;
      return;
    }
    if (splat_constant(graph_, v) != nullptr) {
      ++values_;
      constant_bytes_ += width(v);
      return;
    }
    const View view = resolve(graph_, v);
    if (!loads_.emplace(view.base, view.iota, view.offset, view.strides).second) return;
    ++values_;
    input_bytes_ += width(v);
    if (!view.iota) buffers_.insert(view.base);
  }

  // The most bytes of values at a time: places are used again by values of the same width.
  void count_live(std::size_t places) {
    std::map<Width, std::vector<int>> change;
    for (const auto& [v, made] : made_) {
      std::vector<int>& changes = change.try_emplace(made.width, places + 2, 0).first->second;
      ++changes[made.from];
      if (!made.stays) --changes[made.to + 1];
    }
    for (const auto& [width, changes] : change) {
      int live = 0, most = 0;
      for (const int c : changes) most = std::max(most, live += c);
      live_bytes_ += width * static_cast<std::size_t>(most);
    }
  }

  std::size_t frame_bytes() const {
    constexpr std::size_t kAlignment = 64, kReductionBytes = 32;  // lanes and accumulators
    return LoopKernel::kMinTile *
               (constant_bytes_ + live_bytes_ + input_bytes_ + reductions_ * kReductionBytes) +
           kAlignment * (1 + loads_.size() + 2 * reductions_);
  }
  Width width(ValueId v) const { return byte_width(graph_.shape(v).dtype()); }

  struct Made {
    Width width;
    std::size_t from, to;  // places of the nodes that make it and read it last
    bool stays;            // until the end
  };
  const Graph& graph_;
  const Uses& uses_;
  const std::set<NodeId> members_;
  std::map<ValueId, Made> made_;
  std::set<ValueId> buffers_;
  std::set<std::tuple<ValueId, bool, std::int64_t, std::vector<std::int64_t>>> loads_;
  std::size_t outputs_ = 0, values_ = 0, reductions_ = 0;
  std::size_t constant_bytes_ = 0, input_bytes_ = 0, live_bytes_ = 0;
};

void split(const Graph& graph, const Uses& uses, Group group, std::vector<Group>& into) {
  if (group.nodes.size() == 1 || Needs(graph, uses, group).fit()) {
    into.push_back(std::move(group));
    return;
  }
  Group second = group;
  const auto middle = static_cast<std::ptrdiff_t>(group.nodes.size() / 2);
  second.nodes.erase(second.nodes.begin(), second.nodes.begin() + middle);
  group.nodes.erase(group.nodes.begin() + middle, group.nodes.end());
  split(graph, uses, std::move(group), into);
  split(graph, uses, std::move(second), into);
}

}  // namespace

std::vector<Group> split_to_fit(const Graph& graph, const Uses& uses, std::vector<Group> groups) {
  std::vector<Group> fitting;
  fitting.reserve(groups.size());
  for (Group& group : groups) split(graph, uses, std::move(group), fitting);
  return fitting;
}

}  // namespace millrace::devices::cpu::compiler
