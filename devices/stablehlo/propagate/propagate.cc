#include "millrace/devices/stablehlo/propagate/propagate.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "millrace/devices/stablehlo/propagate/graph.h"

namespace millrace::devices::stablehlo::propagate {
namespace {

using sharding::DimSharding;
using sharding::Sharding;

// Rounds of a propagation: each lets axes go where those before it did not.
enum class Round : std::uint8_t {
  kAlone,         // through what keeps dimensions, where no other operation uses the operands
  kShared,        // the same, also where others use them
  kPassing,       // along factors that need no other device
  kNotBroadcast,  // everywhere but forwards through broadcasts
  kAll,
};
constexpr Round kRounds[] = {Round::kAlone, Round::kShared, Round::kPassing, Round::kNotBroadcast,
                             Round::kAll};

Direction direction_in(Round round, const Node& node, bool passes) {
  switch (round) {
    case Round::kAlone:
    case Round::kShared: {
      if (round == Round::kAlone && node.shares_operand) return kNowhere;
      const bool keeps = node.kind == NodeKind::kElementwise || node.kind == NodeKind::kReshape;
      return keeps ? kBoth : node.kind == NodeKind::kSlice ? kForward : kNowhere;
    }
    case Round::kPassing:
      if (!passes) return kNowhere;
      return node.kind == NodeKind::kBroadcast ? kBackward : kBoth;
    case Round::kNotBroadcast:
      return node.kind == NodeKind::kBroadcast ? kBackward : kBoth;
    case Round::kAll:
      return kBoth;
  }
  return kNowhere;
}

// What is allowed in a round: all of it and of those before it.
Direction direction_until(Round last, const Node& node, int factor) {
  if (node.kind == NodeKind::kBarrier) return node.barrier;
  const bool passes = node.rule.factors[static_cast<std::size_t>(factor)].passes;
  Direction out = kNowhere;
  for (const Round round : kRounds) {
    if (round <= last) out = out | direction_in(round, node, passes);
  }
  return out;
}

// The mesh on which these lie; nullptr if there is none, or more than one.
std::shared_ptr<const sharding::Mesh> common_mesh(
    const std::vector<std::optional<Sharding>>& shardings) {
  std::shared_ptr<const sharding::Mesh> mesh;
  for (const auto& sharding : shardings) {
    if (!sharding) continue;
    const auto& other = sharding->mesh;
    const bool placeholder = other->axes.empty() && !other->is_maximal();
    if (placeholder) continue;
    if (mesh != nullptr && mesh != other &&
        !(mesh->axes == other->axes && mesh->device_ids == other->device_ids)) {
      return nullptr;
    }
    if (mesh == nullptr) mesh = other;
  }
  return mesh == nullptr || mesh->is_maximal() ? nullptr : mesh;
}

bool has_axes(const Sharding& sharding) {
  return std::ranges::any_of(sharding.dims,
                             [](const DimSharding& dim) { return !dim.axes.empty(); });
}

// Spreads axes over a graph until nothing changes. Thread-safety: confined.
class Spreading {
 public:
  explicit Spreading(Graph& graph) : graph_(graph) {
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
      const int group = graph_.tensors()[t].group;
      if (group >= 0) groups_[group].push_back(static_cast<int>(t));
    }
    for (const int t : graph_.returned()) {
      const ir::Type type = tensor(t).type;
      returns_.push_back({.kind = NodeKind::kReshape, .rule = identity_rule(type, 1, 1)});
    }
  }

  void run() {
    for (const auto& [group, members] : groups_) share(group);
    for (const Round round : kRounds) {
      for (const Strategy strategy : {Strategy::kBasic, Strategy::kAggressive}) {
        go_through_results(strategy);
        go_through_nodes(round, strategy);
        go_through_results(strategy);
      }
    }
  }

 private:
  Tensor& tensor(int t) { return graph_.tensors()[static_cast<std::size_t>(t)]; }

  // The last that was put in comes first, as changes spread.
  void go_through_nodes(Round round, Strategy strategy) {
    const auto count = static_cast<int>(graph_.nodes().size());
    waiting_.assign(static_cast<std::size_t>(count), true);
    work_.resize(static_cast<std::size_t>(count));
    for (int n = 0; n < count; ++n) work_[static_cast<std::size_t>(n)] = count - 1 - n;
    while (!work_.empty()) {
      const int n = work_.back();
      work_.pop_back();
      waiting_[static_cast<std::size_t>(n)] = false;
      const Node& node = graph_.nodes()[static_cast<std::size_t>(n)];
      go_through(node, node.operands, node.results, strategy, n,
                 [&](int factor) { return direction_until(round, node, factor); });
    }
  }

  // Between what the function returns and its results.
  void go_through_results(Strategy strategy) {
    for (std::size_t i = 0; i < returns_.size(); ++i) {
      const int from = graph_.returned()[i], to = graph_.results()[i];
      const ir::Type type = tensor(from).type;
      if (!type.is_tensor() || !type.has_static_shape() || type != tensor(to).type) continue;
      go_through(returns_[i], {from}, {to}, strategy, -1, [](int) { return kBoth; });
    }
  }

  void go_through(const Node& node, const std::vector<int>& operands,
                  const std::vector<int>& results, Strategy strategy, int number,
                  const std::function<Direction(int)>& direction_of) {
    std::vector<std::optional<Sharding>> before;
    bool some = false;
    for (const std::vector<int>* tensors : {&operands, &results}) {
      for (const int t : *tensors) {
        before.push_back(graph_.sharding_of(t));
        some = some || (before.back() && has_axes(*before.back()));
      }
    }
    if (!some) return;
    const auto mesh = common_mesh(before);
    if (mesh == nullptr) return;
    const Rule& rule = node.rule;
    Projection projection;
    const auto pointer = [&](std::size_t i) {
      return before[i] && before[i]->mesh->axes.empty() ? nullptr
             : before[i]                                ? &*before[i]
                                                        : nullptr;
    };
    for (std::size_t i = 0; i < operands.size(); ++i)
      projection.operands.push_back(project(pointer(i), rule.operands[i], rule));
    for (std::size_t i = 0; i < results.size(); ++i)
      projection.results.push_back(project(pointer(operands.size() + i), rule.results[i], rule));
    const Projection old = projection;
    spread_factors(projection, rule, strategy, node.kind == NodeKind::kElementwise, direction_of);
    const auto update = [&](const std::vector<ProjectedTensor>& now,
                            const std::vector<ProjectedTensor>& then,
                            const std::vector<TensorFactors>& mappings,
                            const std::vector<int>& tensors, std::size_t first) {
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (now[i] == then[i]) continue;
        set(tensors[i], before[first + i], mesh, unproject(now[i], mappings[i], rule), number);
      }
    };
    update(projection.operands, old.operands, rule.operands, operands, 0);
    update(projection.results, old.results, rule.results, results, operands.size());
  }

  void set(int t, const std::optional<Sharding>& old,
           const std::shared_ptr<const sharding::Mesh>& mesh, std::vector<DimSharding> dims,
           int number) {
    Sharding made = old ? *old : Sharding{};
    made.mesh = mesh;
    made.dims = std::move(dims);
    if (old ? *old == made : !has_axes(made)) return;
    graph_.set_sharding(t, made);
    notify(t, number);
    const int group = tensor(graph_.root(t)).group;
    if (group < 0) return;
    for (const int member : groups_[group]) {
      if (member == graph_.root(t)) continue;
      tensor(member).sharding = tensor(graph_.root(t)).sharding;
      notify(member, number);
    }
  }

  void notify(int t, int but) {
    for (const int n : tensor(graph_.root(t)).nodes) {
      if (n == but || waiting_.empty() || waiting_[static_cast<std::size_t>(n)]) continue;
      waiting_[static_cast<std::size_t>(n)] = true;
      work_.push_back(n);
    }
  }

  // A group begins with what the first of its members that has a sharding has.
  void share(int group) {
    const auto& members = groups_[group];
    const auto first =
        std::ranges::find_if(members, [&](int t) { return tensor(t).sharding.has_value(); });
    if (first == members.end()) return;
    for (const int t : members) {
      if (tensor(t).type == tensor(*first).type) tensor(t).sharding = tensor(*first).sharding;
    }
  }

  Graph& graph_;
  std::map<int, std::vector<int>> groups_;
  std::vector<Node> returns_;
  std::vector<int> work_;      // a stack of nodes
  std::vector<bool> waiting_;  // whether a node is in it
};

// Dimensions with a priority wait for their turn: until then they are closed and their axes may not
// be used. Thread-safety: confined.
class Priorities {
 public:
  explicit Priorities(Graph& graph) : graph_(graph) {
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
      Tensor& of = graph_.tensors()[t];
      if (!of.sharding) continue;
      const Sharding given = *of.sharding;
      for (DimSharding& dim : of.sharding->dims) {
        const int priority = of.edge ? 0 : dim.priority.value_or(0);
        dim.priority.reset();
        if (priority == 0) continue;
        waiting_[priority][t] = given;
        AxisList& replicated = of.sharding->replicated;
        replicated.insert(replicated.end(), dim.axes.begin(), dim.axes.end());
        dim = {};
      }
    }
  }

  // Calls run() for each priority, the lowest first.
  void each(auto run) {
    run();
    for (const auto& [priority, tensors] : waiting_) {
      for (const auto& [t, given] : tensors)
        release(*graph_.tensors()[t].sharding, given, priority);
      run();
    }
  }

 private:
  static void release(Sharding& now, const Sharding& given, int priority) {
    for (std::size_t d = 0; d < given.dims.size(); ++d) {
      if (given.dims[d].priority.value_or(0) != priority) continue;
      now.dims[d] = given.dims[d];
      now.dims[d].priority.reset();
      std::erase_if(now.replicated, [&](const AxisRef& axis) {
        return std::ranges::find(given.dims[d].axes, axis) != given.dims[d].axes.end();
      });
    }
  }

  Graph& graph_;
  std::map<int, std::map<std::size_t, Sharding>> waiting_;
};

// Axes that do not divide a dimension are cut off, and with open dimensions parts of axes, as XLA
// does with what enters and leaves a program.
void make_even(Sharding& sharding, ir::Type type) {
  for (std::size_t d = 0; d < sharding.dims.size(); ++d) {
    DimSharding& dim = sharding.dims[d];
    std::int64_t left = type.dims()[d];
    if (left >= 0 && left % dim.parts() != 0) {
      AxisList even;
      for (const AxisRef& axis : dim.axes) {
        const std::int64_t fits = std::gcd(axis.size, left);
        if (fits == 1) break;
        even.push_back({axis.axis, axis.pre_size, fits});
        if (fits != axis.size) break;
        left /= fits;
      }
      dim.axes = std::move(even);
    }
    if (!dim.open) continue;
    const auto part = std::ranges::find_if(dim.axes, [&](const AxisRef& axis) {
      return axis.size != sharding.mesh->axes[static_cast<std::size_t>(axis.axis)].size;
    });
    dim.axes.erase(part, dim.axes.end());
  }
}

bool may(const std::vector<bool>& flags, std::size_t i) {
  if (flags.size() == 1) return flags[0];
  return i < flags.size() && flags[i];
}

std::vector<Sharding> taken(const Graph& graph, const std::vector<int>& tensors,
                            std::span<const ir::Type> types) {
  std::vector<Sharding> out;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const int rank = types[i].is_tensor() ? types[i].rank() : 0;
    Sharding made =
        graph.sharding_of(tensors[i]).value_or(Sharding::replicated_on(graph.some_mesh(), rank));
    if (types[i].is_tensor()) make_even(made, types[i]);
    for (DimSharding& dim : made.dims) dim.open = false;
    out.push_back(std::move(made));
  }
  return out;
}

// What nothing is said of, and nothing may be chosen for, is replicated.
void close_others(Graph& graph, const std::vector<int>& tensors, const std::vector<bool>& flags) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    Tensor& t = graph.tensors()[static_cast<std::size_t>(tensors[i])];
    if (may(flags, i) || t.sharding) continue;
    const int rank = t.type.is_tensor() ? t.type.rank() : 0;
    t.sharding = Sharding::replicated_on(graph.some_mesh(), rank);
  }
}

}  // namespace

Result<MainShardings> shardings_of_main(const ir::Module& module, const MayChoose& may_choose) {
  const ir::Function* main = module.find("main");
  if (main == nullptr || main->is_declaration())
    return fail(ErrorCode::kInvalidArgument, "the program has no function @main");
  MILLRACE_TRY(Graph graph, Graph::of(module, *main));
  close_others(graph, graph.arguments(), may_choose.arguments);
  close_others(graph, graph.results(), may_choose.results);
  Priorities(graph).each([&] { Spreading(graph).run(); });
  return MainShardings{taken(graph, graph.arguments(), main->inputs()),
                       taken(graph, graph.results(), main->results())};
}

}  // namespace millrace::devices::stablehlo::propagate
