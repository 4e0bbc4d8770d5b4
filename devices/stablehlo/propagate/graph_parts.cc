#include "millrace/devices/stablehlo/propagate/graph_parts.h"

#include <algorithm>

#include "millrace/devices/stablehlo/ir/message.h"
#include "millrace/devices/stablehlo/sharding/manual.h"

namespace millrace::devices::stablehlo::propagate {
namespace {

using ir::Op;
using sharding::Sharding;

// Axes of size 1 cut nothing and are left out.
Sharding without_ones(Sharding s) {
  const auto drop = [](AxisList& axes) {
    std::erase_if(axes, [](const AxisRef& axis) { return axis.size == 1; });
  };
  for (auto& dim : s.dims) drop(dim.axes);
  drop(s.replicated);
  drop(s.unreduced);
  return s;
}

}  // namespace

GraphParts::GraphParts(sharding::Meshes meshes) : meshes_(std::move(meshes)) {
  auto some = std::make_shared<const sharding::Mesh>();
  for (const auto& [name, mesh] : meshes_.all()) {
    if (some->axes.empty() && !mesh->axes.empty()) some = mesh;
  }
  graph_.set_some_mesh(std::move(some));
}

int GraphParts::make_tensor(ir::Type type) {
  graph_.tensors().push_back({.type = type, .manual_axes = {}, .nodes = {}});
  return static_cast<int>(graph_.tensors().size()) - 1;
}

int GraphParts::make_instance(int tensor) {
  instances_.push_back({tensor, 0});
  return static_cast<int>(instances_.size()) - 1;
}

Status GraphParts::give(int t, const Sharding& sharding) {
  MILLRACE_TRY_STATUS(sharding::check_type(sharding, tensor(t).type));
  tensor(t).sharding = without_ones(sharding);
  return {};
}

Status GraphParts::give(int t, ir::Attribute attribute, const std::string& what) {
  if (!attribute) return {};
  const auto read = sharding::read_sharding(attribute, meshes_);
  if (!read) return std::unexpected(read.error().with_context(what));
  const Status given = give(t, *read);
  if (!given) return std::unexpected(given.error().with_context(what));
  return {};
}

Result<std::vector<Sharding>> GraphParts::read_list(const Op& op, const char* name,
                                                    std::size_t count) const {
  auto list = sharding::read_shardings(op.attr(name), meshes_);
  if (!list) return ir::invalid(op, name, ": ", list.error().message());
  // What has an effect alone lies on a device, although it gives nothing.
  if (count == 0 && list->size() == 1) return std::vector<Sharding>();
  if (list->size() != count)
    return ir::invalid(op, name, " has ", list->size(), " shardings for ", count, " values");
  return list;
}

Status GraphParts::give_results(const Op& op, const std::vector<int>& tensors) {
  if (!op.attr("sdy.sharding")) return {};
  MILLRACE_TRY(const auto list, read_list(op, "sdy.sharding", tensors.size()));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Status given = give(tensors[i], list[i]);
    if (!given) return std::unexpected(given.error().with_context(op.where()));
  }
  return {};
}

Status GraphParts::find_constraints(const ir::Region& region) {
  for (const ir::Block* block : region.blocks()) {
    for (const Op& op : *block) {
      if (op.name() == "sdy.sharding_constraint" && op.operand_count() == 1 &&
          op.result_count() == 1) {
        const auto read = sharding::read_sharding(op.attr("sharding"), meshes_);
        if (!read) return ir::invalid(op, read.error().message());
        constraints_[op.operand(0)].push_back({&op, without_ones(*read)});
      } else if (op.name() == "sdy.manual_computation") {
        MILLRACE_TRY(const sharding::Manual manual, sharding::read_manual(op, meshes_));
        for (std::size_t i = 0; i < manual.in.size(); ++i)
          constraints_[op.operands()[i]].push_back({&op, without_ones(manual.in[i])});
      }
      for (const ir::Region& inner : op.regions()) MILLRACE_TRY_STATUS(find_constraints(inner));
    }
  }
  return {};
}

const Constraint* GraphParts::agreed(const ir::Value* value) const {
  const auto found = constraints_.find(value);
  if (found == constraints_.end()) return nullptr;
  const Constraint& first = found->second.front();
  for (const Constraint& other : found->second) {
    if (other.sharding != first.sharding) return nullptr;
  }
  const bool open = std::ranges::any_of(first.sharding.dims, &sharding::DimSharding::open);
  return open || !sharding::check_type(first.sharding, value->type()) ? nullptr : &first;
}

Node& GraphParts::add_node(NodeKind kind, Rule rule, std::vector<int> operands,
                           std::vector<int> results) {
  const auto number = static_cast<int>(graph_.nodes().size());
  for (const std::vector<int>* tensors : {&operands, &results}) {
    for (const int t : *tensors) {
      auto& nodes = root(t).nodes;
      if (nodes.empty() || nodes.back() != number) nodes.push_back(number);
    }
  }
  used_.emplace_back();
  graph_.nodes().push_back({.kind = kind,
                            .rule = std::move(rule),
                            .operands = std::move(operands),
                            .results = std::move(results)});
  return graph_.nodes().back();
}

void GraphParts::add_edge(std::vector<int> sources, int target) {
  const ir::Type type = tensor(target).type;
  if (!is_cut(type) || sources.empty()) return;
  for (const int source : sources) {
    if (tensor(source).type.dims().size() != type.dims().size()) return;
  }
  Rule rule = identity_rule(type, static_cast<int>(sources.size()), 1);
  add_node(NodeKind::kReshape, std::move(rule), std::move(sources), {target});
}

void GraphParts::note_use(int instance, ir::Type type) {
  if (type.rank() != 0) used_.back().push_back(instance);
}

void GraphParts::finish() {
  for (std::size_t n = 0; n < used_.size(); ++n) {
    graph_.nodes()[n].shares_operand =
        std::ranges::any_of(used_[n], [&](int number) { return instance(number).uses != 1; });
  }
}

}  // namespace millrace::devices::stablehlo::propagate
