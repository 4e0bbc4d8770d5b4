#include "millrace/devices/cpu/plan/emit.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "millrace/core/check.h"

namespace millrace::devices::cpu::plan {

Result<Emitted> Emitter::run() {
  for (std::size_t i = 0; i < graph_.root.parameters.size(); ++i) {
    const ValueId v = graph_.root.parameters[i];
    value_buffers_[v] = out_.buffers.add(Home::kInput, static_cast<int>(i), bytes(v));
  }
  Surroundings around{.root = true};
  for (std::size_t i = 0; i < graph_.root.results.size(); ++i) {
    around.wanted.push_back(
        out_.buffers.add(Home::kOutput, static_cast<int>(i), bytes(graph_.root.results[i])));
    around.held.push_back(-1);
  }
  MILLRACE_TRY_STATUS(emit_block(graph_.root, out_.steps, around));
  find_aliases();
  return std::move(out_);
}

Status Emitter::emit_block(const Block& block, StepList& to, const Surroundings& around) {
  const Uses uses(graph_, block);
  BlockState s{.block = block,
               .uses = uses,
               .groups = fuse(graph_, block, uses),
               .units = {},
               .writer = {},
               .last_read = {},
               .dense = {},
               .own = {around.own.begin(), around.own.end()},
               .places = {},
               .holders = {},
               .root = around.root};
  for (std::size_t i = 0; i < around.wanted.size(); ++i) {
    if (around.held[i] >= 0) s.holders[around.wanted[i]] = around.held[i];
  }
  make_units(s);
  place_results(s, around.wanted);
  const std::vector<int> order = schedule(s);
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (ValueId v : s.units[static_cast<std::size_t>(order[i])].reads)
      s.last_read[v] = static_cast<int>(i);
  }
  for (ValueId v : block.results) s.last_read[storage(v)] = std::numeric_limits<int>::max();
  place_operands(s, order);
  for (std::size_t i = 0; i < order.size(); ++i) {
    s.place = static_cast<int>(i);
    s.unit = order[i];
    // Most of a compilation is here: oneDNN makes its kernels.
    if (options_.stop.stop_requested()) return fail(ErrorCode::kCancelled, "stopped on request");
    MILLRACE_TRY_STATUS(emit_unit(s, order[i], to));
  }
  if (!around.root) copies_inside_.insert(copies_inside_.end(), s.dense.begin(), s.dense.end());
  return {};
}

void Emitter::forget_copies(std::size_t before) {
  for (std::size_t i = before; i < copies_inside_.size(); ++i)
    value_buffers_.erase(copies_inside_[i]);
  copies_inside_.resize(before);
}

// The value that owns v's bytes: through reshapes, and views that are a dense piece of something.
ValueId Emitter::storage(ValueId v) const {
  ValueId& known = storages_[static_cast<std::size_t>(v)];
  if (known < 0) known = find_storage(v);
  return known;
}

ValueId Emitter::find_storage(ValueId v) const {
  while (const Node* p = graph_.producer(v)) {
    if (p->kind == NodeKind::kReshape) {
      v = p->inputs[0];
    } else if (is_view(p->kind)) {
      const View view = resolve(graph_, v, true);
      if (!view.dense(squeezed(graph_.shape(v)))) return v;
      v = view.base;
    } else {
      return v;
    }
  }
  return v;
}

BufferId Emitter::buffer_of(ValueId v) {
  const ValueId original = v;
  std::size_t offset = 0;
  while (const Node* p = graph_.producer(v)) {
    if (p->kind == NodeKind::kReshape) {
      v = p->inputs[0];
    } else if (is_view(p->kind)) {
      const View view = resolve(graph_, v, true);
      if (!view.dense(squeezed(graph_.shape(v)))) break;
      offset += static_cast<std::size_t>(view.offset) * byte_width(graph_.shape(v).dtype());
      v = view.base;
    } else {
      break;
    }
  }
  const Node* p = graph_.producer(v);
  BufferId b;
  if (p != nullptr && p->kind == NodeKind::kConstant && !is_made_by_runs(graph_, *p)) {
    b = constant_buffer(*p, graph_.shape(v));
  } else {
    const auto it = value_buffers_.find(v);
    MILLRACE_CHECK(it != value_buffers_.end(), "a value is read before it is stored");
    b = it->second;
  }
  if (offset != 0) {
    const auto [it, inserted] = aliases_.emplace(std::pair(b, offset), -1);
    if (inserted) it->second = out_.buffers.add_alias(b, offset, bytes(original));
    b = it->second;
  }
  out_.buffers.touch(b);
  if (out_.buffers[b].home == Home::kInput)
    input_reads_[out_.buffers[b].index].insert(out_.buffers.now());
  return b;
}

BufferId Emitter::constant_buffer(const Node& node, const Shape& shape) {
  const std::size_t size = shape.size_bytes();
  const auto key = node.data.get();
  // A splat is expanded, so it is told apart by its shape too.
  const bool expand = node.splat && shape.elements() > 1;
  if (!expand) {
    if (const auto it = constants_.find(key); it != constants_.end()) return it->second;
  } else if (const auto it = value_buffers_.find(node.outputs[0]); it != value_buffers_.end()) {
    return it->second;
  }
  // oneDNN and the loops want aligned memory.
  auto* copy = static_cast<std::byte*>(
      std::aligned_alloc(64, (std::max<std::size_t>(size, 1) + 63) & ~std::size_t{63}));
  MILLRACE_CHECK(copy != nullptr, "no memory for a constant");
  if (expand)
    fill_splat(copy, node.data.get(), byte_width(shape.dtype()), shape.elements());
  else
    std::memcpy(copy, node.data.get(), size);
  out_.constants.emplace_back(copy, [](std::byte* p) { std::free(p); });
  out_.constant_bytes += size;
  const BufferId b =
      out_.buffers.add(Home::kConstant, static_cast<int>(out_.constants.size()) - 1, size);
  if (expand)
    value_buffers_[node.outputs[0]] = b;
  else
    constants_[key] = b;
  return b;
}

void Emitter::set_buffer(BlockState& s, ValueId v, BufferId b) {
  value_buffers_[v] = b;
  s.holders[b] = v;
}

bool Emitter::is_free(const BlockState& s, BufferId place) const {
  const auto holder = s.holders.find(place);
  if (holder == s.holders.end()) return true;
  const auto writer = s.writer.find(holder->second);
  if (writer != s.writer.end() && writer->second == s.unit) return false;
  const auto last = s.last_read.find(holder->second);
  return last == s.last_read.end() || last->second < s.place;
}

void Emitter::write_output(BufferId b, int input) {
  const Buffer& to = out_.buffers[b];
  if (to.home != Home::kOutput) return;
  auto& times = output_written_[to.index];
  constexpr int kOpen = std::numeric_limits<int>::max();
  if (times.empty() || times.back().second != kOpen) times.emplace_back(out_.buffers.now(), kOpen);
  if (input >= 0) in_place_.emplace(to.index, input, out_.buffers.now());
}

void Emitter::end_writes(const std::vector<BufferId>& places, int begin) {
  for (BufferId b : places) {
    const auto times = output_written_.find(out_.buffers[b].index);
    if (out_.buffers[b].home != Home::kOutput || times == output_written_.end()) continue;
    auto& [from, until] = times->second.back();
    if (from >= begin) until = std::min(until, out_.buffers.now());
  }
}

BufferId Emitter::new_place(BlockState& s, ValueId v) {
  const auto wanted = s.places.find(v);
  BufferId b = -1;
  if (wanted != s.places.end() && is_free(s, wanted->second)) {
    b = wanted->second;
    out_.buffers.touch(b);
  } else {
    MILLRACE_CHECK(wanted == s.places.end() || !s.root, "an output has no place");
    b = out_.buffers.add(Home::kArena, 0, bytes(v));
  }
  set_buffer(s, v, b);
  return b;
}

BufferId Emitter::new_buffer(BlockState& s, ValueId v) {
  const BufferId b = new_place(s, v);
  write_output(b);
  return b;
}

bool Emitter::may_become(const BlockState& s, ValueId v, ValueId output) {
  if (!dies_here(s, v)) return false;
  const BufferId b = buffer_of(v);
  if (out_.buffers[b].root != b || out_.buffers[b].bytes != bytes(output)) return false;
  const auto wanted = s.places.find(output);
  // An output of the program is for what is placed there, which comes later.
  return wanted != s.places.end() ? wanted->second == b
                                  : !s.root || out_.buffers[b].home == Home::kArena;
}

bool Emitter::dies_here(const BlockState& s, ValueId v) const {
  const ValueId owner = storage(v);
  if (!s.own.contains(owner)) return false;
  const auto last = s.last_read.find(owner);
  if (last != s.last_read.end() && last->second > s.place) return false;
  const auto it = value_buffers_.find(owner);
  if (it == value_buffers_.end()) return false;
  const Home home = out_.buffers[it->second].home;
  return home == Home::kArena || home == Home::kOutput;
}

Step& Emitter::add_step(StepList& to, const std::string& name, ir::Location location,
                        std::size_t scratch_bytes) {
  Step step;
  step.info = {.name = name,
               .line = location.line,
               .column = location.column,
               .scratch_bytes = scratch_bytes,
               .position = out_.buffers.now()};
  if (scratch_bytes > 0) step.scratch = out_.buffers.add(Home::kArena, 0, scratch_bytes);
  to.steps.push_back(std::move(step));
  return to.steps.back();
}

Status Emitter::emit_unit(BlockState& s, int index, StepList& to) {
  const Unit& unit = s.units[static_cast<std::size_t>(index)];
  out_.buffers.advance();
  const std::size_t before = to.steps.size();
  if (unit.group >= 0) {
    MILLRACE_TRY_STATUS(emit_group(s, unit, to));
  } else if (unit.copy >= 0) {
    MILLRACE_TRY_STATUS(emit_copy(s, unit.copy, to));
  } else if (unit.node >= 0) {
    MILLRACE_TRY_STATUS(emit_node(s, graph_.node(unit.node), to));
  } else {
    const BufferId from = buffer_of(s.block.results[static_cast<std::size_t>(unit.result)]);
    const std::size_t size = bytes(s.block.results[static_cast<std::size_t>(unit.result)]);
    const BufferId target = out_.buffers.add(Home::kOutput, unit.result, size);
    // A donated input may be returned as it is.
    write_output(target, out_.buffers[from].home == Home::kInput ? out_.buffers[from].index : -1);
    add_step(to, "copy to output", {}, 0).run = [from, target, size](const StepFrame& f) -> Status {
      // Of no elements, either may be null.
      if (size > 0 && f.at(target) != f.at(from)) std::memcpy(f.at(target), f.at(from), size);
      return {};
    };
    to.steps.back().outputs_written.push_back(unit.result);
    to.steps.back().info.bytes = 2 * size;
    return {};
  }
  MILLRACE_CHECK(to.steps.size() > before, "a unit without a step");
  count_work(s, unit, to.steps.back().info);
  if (unit.node >= 0 && !graph_.node(unit.node).inputs.empty()) {
    // What is updated is copied first where something else still reads it.
    const std::size_t operand = bytes(graph_.node(unit.node).inputs[0]);
    for (std::size_t i = before; i + 1 < to.steps.size(); ++i) {
      if (to.steps[i].info.name == "copy") to.steps[i].info.bytes = 2 * operand;
    }
  }
  if (!s.root) return {};
  for (ValueId v : unit.writes) {
    const auto it = s.places.find(v);
    if (it == s.places.end()) continue;
    const int output = out_.buffers[it->second].index;
    // Not so for what a loop or a branch still changes there.
    if (storage(s.block.results[static_cast<std::size_t>(output)]) == v)
      to.steps.back().outputs_written.push_back(output);
  }
  return {};
}

// An output may take over an input that nothing reads once the output's first byte is written. Of
// branches only one runs: what one writes is not seen by the others.
void Emitter::find_aliases() {
  std::set<int> taken;
  const auto fits = [&](int output, int input) {
    const ValueId in = graph_.root.parameters[static_cast<std::size_t>(input)];
    const ValueId out = graph_.root.results[static_cast<std::size_t>(output)];
    if (!(graph_.shape(in) == graph_.shape(out)) || taken.contains(output)) return false;
    for (const auto& [from, until] : output_written_[output]) {
      const std::set<int>& reads = input_reads_[input];
      auto read = reads.lower_bound(from);
      if (read != reads.end() && *read == from && in_place_.contains({output, input, from})) ++read;
      if (read != reads.end() && *read <= until) return false;
    }
    return true;
  };
  const auto give = [&](int output, int input) {
    taken.insert(output);
    out_.aliases.push_back({.output = output, .input = input});
  };
  for (std::size_t i = 0; i < donors_.size(); ++i) {
    if (donors_[i] >= 0 && fits(donors_[i], static_cast<int>(i)))
      give(donors_[i], static_cast<int>(i));
  }
  for (std::size_t i = 0; i < donors_.size(); ++i) {
    if (donors_[i] != -1) continue;
    for (std::size_t o = 0; o < graph_.root.results.size(); ++o) {
      if (!fits(static_cast<int>(o), static_cast<int>(i))) continue;
      give(static_cast<int>(o), static_cast<int>(i));
      break;
    }
  }
}

}  // namespace millrace::devices::cpu::plan
