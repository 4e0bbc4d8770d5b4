#include "millrace/devices/stablehlo/propagate/factors.h"

#include <algorithm>
#include <numeric>

namespace millrace::devices::stablehlo::propagate {
namespace {

using sharding::DimSharding;

// Walks the axes of a dimension, from which parts are taken. Thread-safety: confined.
class AxisWalk {
 public:
  explicit AxisWalk(const AxisList& axes) : axes_(axes) {
    if (!axes_.empty()) left_ = axes_[0];
  }
  bool at_end() const { return next_ >= axes_.size(); }
  std::int64_t size() const { return left_.size; }
  // The outermost part of this size of the axis at hand.
  AxisRef take(std::int64_t size) {
    AxisRef part = left_;
    part.size = size;
    left_.pre_size *= size;
    left_.size /= size;
    if (left_.size == 1 && ++next_ < axes_.size()) left_ = axes_[next_];
    return part;
  }
  void take_rest(AxisList* to) {
    while (!at_end()) add_or_merge(*to, take(left_.size));
  }

 private:
  const AxisList& axes_;
  std::size_t next_ = 0;
  AxisRef left_;
};

// Fills one factor that is not the last of its dimension with axes; what does not fit while there
// is room left is overflow.
bool fill_outer(FactorSharding& factor, AxisWalk& walk, std::int64_t room) {
  while (!walk.at_end()) {
    const std::int64_t fits = std::gcd(room, walk.size());
    if (fits == 1) break;
    factor.axes.push_back(walk.take(fits));
    room /= fits;
  }
  if (room <= 1 || walk.at_end()) return false;
  walk.take_rest(&factor.overflow);
  return true;
}

// The part of an axis that a tensor can take along a factor, having taken `before` parts there.
std::optional<AxisRef> fits_within(AxisRef axis, const ProjectedTensor& tensor,
                                   const FactorSharding& factor, std::int64_t before,
                                   std::int64_t size) {
  for (const AxisList* taken : {&tensor.replicated, &tensor.unreduced}) {
    const auto free = free_prefix(axis, *taken);
    if (!free) return std::nullopt;
    axis = *free;
  }
  const auto has_it = [&](const AxisRef& there) { return contains(there, axis); };
  if (std::ranges::any_of(factor.axes, has_it)) return axis;
  if (!factor.closed && factor.overflow.empty()) {
    if (factor.innermost) return axis;
    if (size % before == 0) {
      const std::int64_t fits = std::gcd(size / before, axis.size);
      if (fits == axis.size) return axis;
      if (fits != 1) return AxisRef{axis.axis, axis.pre_size, fits};
    }
  }
  // The whole does not fit; what is there may still be where it begins.
  if (!factor.axes.empty() && begins(factor.axes.back(), axis)) return factor.axes.back();
  return std::nullopt;
}

// The part of it that the tensor's other factors do not use.
std::optional<AxisRef> fits_across(AxisRef axis, const ProjectedTensor& tensor, int factor) {
  for (std::size_t other = 0; other < tensor.factors.size(); ++other) {
    if (std::cmp_equal(other, factor) || !tensor.factors[other]) continue;
    for (const AxisList* used : {&tensor.factors[other]->overflow, &tensor.factors[other]->axes}) {
      const auto free = free_prefix(axis, *used);
      if (!free) return std::nullopt;
      axis = *free;
    }
  }
  return axis;
}

// Cuts the list off at the first axis of which fits(axis, parts before it) leaves a part or
// nothing.
void truncate(AxisList& axes, auto fits) {
  std::int64_t before = 1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::optional<AxisRef> part = fits(axes[i], before);
    if (!part) return axes.resize(i);
    if (axes[i] != *part) {
      axes[i] = *part;
      return axes.resize(i + 1);
    }
    before *= part->size;
  }
}

// What both lists begin with, and all of the longer one if the shorter is its beginning; `grows`
// says whether axes that only `added` has may come in, and becomes false at a conflict.
AxisList joined(const AxisList& known, const AxisList& added, bool& grows) {
  AxisList out;
  const auto stop = [&] {
    grows = false;
    return out;
  };
  std::size_t i = 0;
  for (; i < known.size() && i < added.size(); ++i) {
    const AxisRef &a = known[i], &b = added[i];
    if (a == b) {
      out.push_back(a);
    } else if (begins(b, a)) {
      // What is added goes on with another axis: the common part is all.
      out.push_back(i + 1 < added.size() ? b : a);
      if (i + 1 < added.size()) return stop();
    } else if (begins(a, b)) {
      out.push_back(!grows || i + 1 < known.size() ? a : b);
      if (!grows || i + 1 < known.size()) return stop();
    } else {
      return stop();
    }
  }
  out.insert(out.end(), known.begin() + static_cast<std::ptrdiff_t>(std::min(i, known.size())),
             known.end());
  if (grows && i < added.size())
    out.insert(out.end(), added.begin() + static_cast<std::ptrdiff_t>(i), added.end());
  return out;
}

// One step over all factors of an operation. Thread-safety: confined.
class Step {
 public:
  Step(Projection& projection, const Rule& rule, bool elementwise,
       const std::function<Direction(int)>& direction_of)
      : projection_(projection), rule_(rule), elementwise_(elementwise), direction_(direction_of) {}

  // Only what fits into all tensors that have the factor.
  void basic() {
    for (std::size_t f = 0; f < rule_.factors.size(); ++f) {
      AxisList axes = compatible(f);
      if (axes.empty()) continue;
      truncate(axes, [&](const AxisRef& axis, std::int64_t before) {
        std::optional<AxisRef> part = axis;
        for_each([&](const ProjectedTensor& tensor) {
          if (part) part = fits_across(*part, tensor, static_cast<int>(f));
          if (part && tensor.factors[f])
            part = fits_within(*part, tensor, *tensor.factors[f], before, rule_.factors[f].size);
        });
        return part;
      });
      for_each([&](ProjectedTensor& tensor) { extend(tensor, f, axes); });
    }
  }

  // What fits into each tensor alone; where factors want the same axis, the one whose source is
  // the largest tensor goes first.
  void aggressive() {
    std::vector<AxisList> wanted;
    for (std::size_t f = 0; f < rule_.factors.size(); ++f) wanted.push_back(compatible(f));
    if (std::ranges::all_of(wanted, &AxisList::empty)) return;
    const std::vector<std::size_t> order = by_source(wanted);
    for (ProjectedTensor& tensor : projection_.results) {
      for (const std::size_t f : order) extend(tensor, f, fitted(tensor, f, wanted[f]));
    }
    for (ProjectedTensor& tensor : projection_.operands) {
      for (const std::size_t f : order) {
        AxisList axes = fitted(tensor, f, wanted[f]);
        if (elementwise_) limit_by_results(f, axes);
        extend(tensor, f, axes);
      }
    }
  }

 private:
  void for_each(auto call) {
    for (ProjectedTensor& tensor : projection_.operands) call(tensor);
    for (ProjectedTensor& tensor : projection_.results) call(tensor);
  }

  // The axes along which the factor may be cut by what the tensors have, conflicts with other
  // factors left aside.
  AxisList compatible(std::size_t f) const {
    const Direction direction =
        rule_.factors[f].blocked ? kNowhere : direction_(static_cast<int>(f));
    if (direction == kNowhere) return {};
    AxisList axes;
    bool grows = true;
    const auto join = [&](const std::vector<ProjectedTensor>& tensors) {
      for (const ProjectedTensor& tensor : tensors) {
        if (tensor.factors[f]) axes = joined(axes, tensor.factors[f]->axes, grows);
      }
    };
    const bool forward = (direction & kForward) != kNowhere;
    join(forward ? projection_.operands : projection_.results);
    if (direction != kBoth) grows = false;
    join(forward ? projection_.results : projection_.operands);
    return axes;
  }

  static void extend(ProjectedTensor& tensor, std::size_t f, const AxisList& axes) {
    if (tensor.factors[f] && prefix_of(tensor.factors[f]->axes, axes) == Prefix::kStrict)
      tensor.factors[f]->axes = axes;
  }

  AxisList fitted(const ProjectedTensor& tensor, std::size_t f, AxisList axes) const {
    if (!tensor.factors[f]) return {};
    truncate(axes, [&](const AxisRef& axis, std::int64_t before) {
      return fits_within(axis, tensor, *tensor.factors[f], before, rule_.factors[f].size);
    });
    if (prefix_of(tensor.factors[f]->axes, axes) != Prefix::kStrict) return {};
    truncate(axes, [&](const AxisRef& axis, std::int64_t) {
      return fits_across(axis, tensor, static_cast<int>(f));
    });
    return axes;
  }

  // An operand gains nothing by axes that the result does not take.
  void limit_by_results(std::size_t f, AxisList& axes) const {
    for (const ProjectedTensor& result : projection_.results) {
      if (result.factors[f] && prefix_of(result.factors[f]->axes, axes) == Prefix::kStrict)
        axes = result.factors[f]->axes;
    }
  }

  std::vector<std::size_t> by_source(const std::vector<AxisList>& wanted) {
    struct Source {
      std::int64_t size = -1;
      std::int64_t cut = 0;
      std::int64_t tensor = -1;
    };
    std::vector<Source> sources(wanted.size());
    std::int64_t number = 0;
    for_each([&](const ProjectedTensor& tensor) {
      double exact = 1;
      std::int64_t size = 1;
      for (std::size_t f = 0; f < wanted.size(); ++f) {
        if (!tensor.factors[f]) continue;
        exact *= static_cast<double>(rule_.factors[f].size);
        size = exact < 9e18 ? size * rule_.factors[f].size : INT64_MAX;
      }
      for (std::size_t f = 0; f < wanted.size(); ++f) {
        const bool has_all = tensor.factors[f] && !wanted[f].empty() &&
                             prefix_of(wanted[f], tensor.factors[f]->axes) != Prefix::kNone;
        if (has_all && size > sources[f].size) {
          sources[f].size = size;
          sources[f].tensor = number;
        }
      }
      ++number;
    });
    for (std::size_t f = 0; f < wanted.size(); ++f)
      sources[f].cut = elementwise_ ? parts_of(wanted[f]) : 0;
    std::vector<std::size_t> order(wanted.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      const Source &x = sources[a], &y = sources[b];
      if (x.size != y.size) return x.size > y.size;
      if (x.cut != y.cut) return x.cut > y.cut;
      return x.tensor < y.tensor;
    });
    return order;
  }

  Projection& projection_;
  const Rule& rule_;
  const bool elementwise_;
  const std::function<Direction(int)>& direction_;
};

}  // namespace

ProjectedTensor project(const sharding::Sharding* sharding, const TensorFactors& mapping,
                        const Rule& rule) {
  ProjectedTensor out;
  out.factors.resize(rule.factors.size());
  for (std::size_t d = 0; d < mapping.size(); ++d) {
    const AxisList none;
    AxisWalk walk(sharding != nullptr ? sharding->dims[d].axes : none);
    bool overflows = false;
    for (const int f : mapping[d]) {
      FactorSharding& factor = out.factors[static_cast<std::size_t>(f)].emplace();
      factor.innermost = f == mapping[d].back();
      factor.closed = overflows || (sharding != nullptr && !sharding->dims[d].open);
      if (overflows) continue;
      if (factor.innermost) {
        walk.take_rest(&factor.axes);
      } else {
        overflows = fill_outer(factor, walk, rule.factors[static_cast<std::size_t>(f)].size);
      }
    }
  }
  if (sharding != nullptr) {
    out.replicated = sharding->replicated;
    out.unreduced = sharding->unreduced;
  }
  return out;
}

std::vector<DimSharding> unproject(const ProjectedTensor& tensor, const TensorFactors& mapping,
                                   const Rule& rule) {
  std::vector<DimSharding> out;
  for (const std::vector<int>& dim : mapping) {
    DimSharding& made = out.emplace_back();
    made.open = true;
    for (const int f : dim) {
      const FactorSharding& factor = *tensor.factors[static_cast<std::size_t>(f)];
      if (factor.closed) made.open = false;
      for (const AxisRef& axis : factor.axes) add_or_merge(made.axes, axis);
      for (const AxisRef& axis : factor.overflow) add_or_merge(made.axes, axis);
      // The next factor is cut only where this one is cut to single elements.
      const bool whole = parts_of(factor.axes) < rule.factors[static_cast<std::size_t>(f)].size;
      if (whole || !factor.overflow.empty()) break;
    }
  }
  return out;
}

void spread_factors(Projection& projection, const Rule& rule, Strategy strategy, bool elementwise,
                    const std::function<Direction(int factor)>& direction_of) {
  Step step(projection, rule, elementwise, direction_of);
  strategy == Strategy::kBasic ? step.basic() : step.aggressive();
}

}  // namespace millrace::devices::stablehlo::propagate
