#include "millrace/devices/cpu/compile/storage.h"

#include <algorithm>
#include <limits>

#include "millrace/core/base/check.h"

namespace millrace::devices::cpu::compiler {

BufferId Storage::find(ValueId owner) const {
  const auto it = stored_.find(owner);
  return it == stored_.end() ? -1 : it->second;
}

BufferId Storage::of(ValueId v) {
  const auto [owner, offset] = owners.piece(v);
  const Node* p = graph_.producer(owner);
  BufferId b = p != nullptr && p->kind == NodeKind::kConstant && !is_made_by_runs(graph_, *p)
                   ? constant(owner)
                   : find(owner);
  MILLRACE_CHECK(b >= 0, "a value is read before it is stored");
  if (offset != 0) {
    const auto [it, inserted] = pieces_.emplace(std::pair(b, offset), -1);
    if (inserted) it->second = buffers.add_alias(b, offset, bytes(v));
    b = it->second;
  }
  buffers.touch(b);
  if (buffers[b].home == Home::kInput) input_reads_[buffers[b].index].insert(buffers.now());
  return b;
}

BufferId Storage::constant(ValueId v) {
  const Node& node = *graph_.producer(v);
  // A splat is expanded, so its shape tells it apart too.
  BufferId& known = node.splat && graph_.shape(v).elements() > 1
                        ? stored_.try_emplace(v, -1).first->second
                        : constants_.try_emplace(node.data.get(), -1).first->second;
  if (known >= 0) return known;
  constants.push_back(v);
  known = buffers.add(Home::kConstant, static_cast<int>(constants.size()) - 1, bytes(v));
  return known;
}

void Storage::write_output(BufferId b, BufferId from) {
  const Buffer& to = buffers[b];
  if (to.home != Home::kOutput) return;
  auto& times = output_written_[to.index];
  constexpr int kOpen = std::numeric_limits<int>::max();
  if (times.empty() || times.back().second != kOpen) times.emplace_back(buffers.now(), kOpen);
  if (from >= 0 && buffers[from].home == Home::kInput)
    in_place_.emplace(to.index, buffers[from].index, buffers.now());
}

void Storage::end_writes(const std::vector<BufferId>& places, int begin) {
  for (BufferId b : places) {
    const auto times = output_written_.find(buffers[b].index);
    if (buffers[b].home != Home::kOutput || times == output_written_.end()) continue;
    auto& [from, until] = times->second.back();
    if (from >= begin) until = std::min(until, buffers.now());
  }
}

// An output may take over an input that nothing reads once the output's first byte is written. Of
// branches only one runs: what one writes is not seen by the others.
bool Storage::may_alias(int output, int input) {
  const ValueId in = graph_.root.parameters[static_cast<std::size_t>(input)];
  const ValueId out = graph_.root.results[static_cast<std::size_t>(output)];
  if (!(graph_.shape(in) == graph_.shape(out))) return false;
  const std::set<int>& reads = input_reads_[input];
  return std::ranges::none_of(output_written_[output], [&](const auto& time) {
    const auto [from, until] = time;
    auto read = reads.lower_bound(from);
    if (read != reads.end() && *read == from && in_place_.contains({output, input, from})) ++read;
    return read != reads.end() && *read <= until;
  });
}

std::vector<OutputAlias> Storage::aliases(const std::vector<int>& donors) {
  std::vector<OutputAlias> made;
  const auto give = [&](int output, int input) {
    const auto taken = [output](const OutputAlias& other) { return other.output == output; };
    if (std::ranges::any_of(made, taken) || !may_alias(output, input)) return false;
    made.push_back({.output = output, .input = input});
    return true;
  };
  const auto inputs = static_cast<int>(donors.size());
  for (int i = 0; i < inputs; ++i) {
    const int wanted = donors[static_cast<std::size_t>(i)];
    if (wanted >= 0) give(wanted, i);
  }
  for (int i = 0; i < inputs; ++i) {
    if (donors[static_cast<std::size_t>(i)] != -1) continue;
    for (int o = 0; o < static_cast<int>(graph_.root.results.size()); ++o) {
      if (give(o, i)) break;
    }
  }
  return made;
}

BlockStorage::BlockStorage(Storage& all, const Graph& graph, const Block& block, const Units& units,
                           const Surroundings& around)
    : all_(all),
      graph_(graph),
      units_(units),
      root_(around.root),
      own_(around.own.begin(), around.own.end()) {
  for (const auto& [owner, writer] : units.writer) own_.insert(owner);
  for (std::size_t i = 0; i < around.wanted.size(); ++i) {
    if (around.held[i] >= 0) holders_[around.wanted[i]] = around.held[i];
  }
  if (!around.wanted.empty()) {
    for (const auto& [owner, result] : units.made_results)
      places_[owner] = around.wanted[static_cast<std::size_t>(result)];
  }
  for (std::size_t i = 0; i < units.order.size(); ++i) {
    for (ValueId v : units.list[static_cast<std::size_t>(units.order[i])].reads)
      last_read_[v] = static_cast<int>(i);
  }
  for (ValueId v : block.results) last_read_[all.owners.of(v)] = std::numeric_limits<int>::max();
  place_operands();
}

void BlockStorage::set(ValueId v, BufferId b) {
  all_.set(v, b);
  holders_[b] = v;
}

BufferId BlockStorage::wanted(ValueId v) const {
  const auto it = places_.find(v);
  return it == places_.end() ? -1 : it->second;
}

ValueId BlockStorage::holder(BufferId place) const {
  const auto it = holders_.find(place);
  return it == holders_.end() ? -1 : it->second;
}

// Whether what is in the place is read for the last time before this unit.
bool BlockStorage::is_free(BufferId place) const {
  const ValueId held = holder(place);
  if (held < 0) return true;
  const auto writer = units_.writer.find(held);
  if (writer != units_.writer.end() &&
      writer->second == units_.order[static_cast<std::size_t>(place_)])
    return false;
  const auto last = last_read_.find(held);
  return last == last_read_.end() || last->second < place_;
}

BufferId BlockStorage::new_place(ValueId v) {
  BufferId b = wanted(v);
  if (b >= 0 && is_free(b)) {
    all_.buffers.touch(b);
  } else {
    MILLRACE_CHECK(b < 0 || !root_, "an output has no place");
    b = all_.buffers.add(Home::kArena, 0, all_.bytes(v));
  }
  set(v, b);
  return b;
}

BufferId BlockStorage::new_buffer(ValueId v) {
  const BufferId b = new_place(v);
  all_.write_output(b);
  return b;
}

bool BlockStorage::may_become(ValueId v, ValueId output) {
  if (!dies_here(v)) return false;
  const BufferId b = all_.of(v);
  if (all_.buffers[b].root != b || all_.buffers[b].bytes != all_.bytes(output)) return false;
  const BufferId place = wanted(output);
  // An output of the program is for what is placed there, which comes later.
  return place >= 0 ? place == b : !root_ || all_.buffers[b].home == Home::kArena;
}

bool BlockStorage::dies_here(ValueId v) const {
  const ValueId owner = all_.owners.of(v);
  const auto last = last_read_.find(owner);
  if (!own_.contains(owner) || (last != last_read_.end() && last->second > place_)) return false;
  const BufferId b = all_.find(owner);
  return b >= 0 && (all_.buffers[b].home == Home::kArena || all_.buffers[b].home == Home::kOutput);
}

std::vector<ValueId> BlockStorage::origins(const Node& n, ValueId result,
                                           const std::set<ValueId>& around) const {
  constexpr std::size_t kMostSteps = 64;
  std::vector<ValueId> found, todo;
  const auto into = [&](const Node& from, ValueId of) {
    const auto at =
        static_cast<std::size_t>(std::ranges::find(from.outputs, of) - from.outputs.begin());
    switch (from.kind) {
      case NodeKind::kWhile:
      case NodeKind::kScatter:
      case NodeKind::kDynamicUpdateSlice:
        todo.push_back(from.inputs[at]);
        break;
      case NodeKind::kElementwise:
        todo.insert(todo.end(), from.inputs.rbegin(), from.inputs.rend());
        break;
      case NodeKind::kCase:
        for (const Block& block : from.blocks) todo.push_back(block.results[at]);
        break;
      default:
        break;
    }
  };
  into(n, result);
  if (n.kind == NodeKind::kWhile) {
    const ValueId operand = all_.owners.of(todo[0]);
    return around.contains(operand) ? std::vector<ValueId>() : std::vector{operand};
  }
  for (std::size_t step = 0; step < kMostSteps && !todo.empty(); ++step) {
    const ValueId v = all_.owners.of(todo.back());
    todo.pop_back();
    if (all_.bytes(v) != all_.bytes(result)) continue;
    if (around.contains(v)) {
      found.push_back(v);
    } else if (const Node* p = graph_.producer(v)) {
      into(*p, v);
    }
  }
  return found;
}

// The value that a loop begins with, or that branches update, is made where the result goes, if
// nothing reads it but the loop or branches and what comes before them.
void BlockStorage::place_operands() {
  std::map<const Node*, std::set<ValueId>> around;
  std::vector<std::pair<ValueId, BufferId>> todo(places_.begin(), places_.end());
  while (!todo.empty()) {
    const auto [result, place] = todo.back();
    todo.pop_back();
    const Node* n = graph_.producer(result);
    if (n == nullptr || (n->kind != NodeKind::kWhile && n->kind != NodeKind::kCase)) continue;
    const auto at =
        std::ranges::find(units_.order, units_.writer.at(result)) - units_.order.begin();
    if (!around.contains(n)) around[n] = all_.owners.around(*n);
    for (ValueId operand : origins(*n, result, around[n])) {
      const auto last = last_read_.find(operand);
      if (!units_.writer.contains(operand) || places_.contains(operand) ||
          all_.bytes(operand) != all_.bytes(result) || last == last_read_.end() ||
          last->second != at) {
        continue;
      }
      places_[operand] = place;
      todo.emplace_back(operand, place);
      break;
    }
  }
}

}  // namespace millrace::devices::cpu::compiler
