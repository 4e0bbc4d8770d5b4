#include "millrace/devices/stablehlo/spread/sameness.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "millrace/devices/stablehlo/spread/groups.h"

namespace millrace::devices::stablehlo::spread {
namespace {

using K = ir::OpKind;

constexpr std::int64_t kLooksBesides = 1'000'000;
constexpr std::int64_t kTimesLonger = 1024;
constexpr int kMaxDepth = 192;

}  // namespace

Classes::Classes(const Members& members) : members_(members) {
  intern(std::vector<int>(members.size(), 0));
  std::vector<int> each(members.size());
  std::iota(each.begin(), each.end(), 0);
  apart_ = intern(std::move(each));
}

Classes::Id Classes::intern(std::vector<int> classes) {
  const auto [at, is_new] = ids_.try_emplace(classes, static_cast<Id>(all_.size()));
  if (is_new) all_.push_back(std::move(classes));
  return at->second;
}

Classes::Id Classes::meet(Id a, Id b) {
  if (a == b || b == kAll) return a;
  if (a == kAll) return b;
  if (a == apart_ || b == apart_) return apart_;
  const auto [at, is_new] = meets_.try_emplace({a, b}, kAll);
  if (is_new) {
    std::vector<std::pair<int, int>> both;
    for (std::size_t i = 0; i < members_.size(); ++i)
      both.emplace_back(classes(a)[i], classes(b)[i]);
    at->second = of(both);
  }
  return at->second;
}

Members Classes::firsts(Id id) const {
  Members firsts;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (classes(id)[i] == static_cast<int>(firsts.size())) firsts.push_back(members_[i]);
  }
  return firsts;
}

Sameness::Sameness(const ir::Module& module, Contents& contents, const Places& places,
                   const Members& members, std::function<const Each&(const ir::Value*)> at,
                   const Each* mask)
    : module_(module),
      contents_(contents),
      places_(places),
      members_(members),
      at_(std::move(at)),
      classes_(members),
      budget_(kLooksBesides + kTimesLonger * module.op_ids()) {
  if (mask != nullptr) mask_ = of(*mask);
}

Sameness::Loop Sameness::of_loop(const ir::Op& op) { return loop(op); }

Classes::Id Sameness::of(const Each& each) {
  if (each.is_shared()) return Classes::kAll;
  std::vector<const ir::Value*> values;
  for (const int m : members_) values.push_back(each[m]);
  return classes_.of(values);
}

Classes::Id Sameness::of(const ir::Value* v) {
  const auto found = inside_.find(v);
  return found != inside_.end() ? found->second : of(at_(v));
}

void Sameness::set(const ir::Op& op, std::span<const Id> ids) {
  for (int i = 0; i < op.result_count(); ++i)
    inside_[op.result(i)] = ids[static_cast<std::size_t>(i)];
}

void Sameness::set_all(const ir::Op& op, Id id) {
  for (int i = 0; i < op.result_count(); ++i) inside_[op.result(i)] = id;
}

Sameness::Ids Sameness::block(const ir::Block& block) {
  for (const ir::Op& o : block) {
    if (&o != block.terminator()) op(o);
  }
  Ids ids;
  for (const ir::Value* v : block.terminator()->operands()) ids.push_back(of(v));
  return ids;
}

void Sameness::op(const ir::Op& o) {
  if (--budget_ < 0 || depth_ >= kMaxDepth) return set_all(o, classes_.apart());
  ++depth_;
  const bool spreads = (contents_.of(o) & kCollectives) != 0;
  if (const ir::Function* callee = called(module_, o)) {
    call(o, callee->body().block());
  } else if (o.kind() == K::kPartitionId || o.kind() == K::kReplicaId) {
    set_all(o, by_id(o));
  } else if (!spreads) {
    plain(o);
  } else if (o.kind() == K::kWhile) {
    const Loop found = loop(o);
    set(o, found.carried);
  } else if (o.kind() == K::kIf || o.kind() == K::kCase) {
    branch(o);
  } else if (o.kind() == K::kAsyncStart) {
    for (int i = 0; i < o.operand_count(); ++i)
      inside_[o.region().block().argument(i)] = of(o.operand(i));
    futures_[o.result()] = block(o.region().block());
  } else if (o.kind() == K::kAsyncDone) {
    const auto future = futures_.find(o.operand(0));
    if (future != futures_.end()) {
      set(o, future->second);
    } else {
      set_all(o, classes_.apart());
    }
  } else {
    collective(o);
  }
  --depth_;
}

void Sameness::plain(const ir::Op& op) {
  const unsigned held = contents_.of(op);
  if ((held & (kEffects | kIds)) != 0) return set_all(op, classes_.apart());
  Id id = (held & kLoops) != 0 ? mask_ : Classes::kAll;
  for (const ir::Value* v : op.operands()) id = classes_.meet(id, of(v));
  for (const ir::Value* v : contents_.captures(op)) id = classes_.meet(id, of(v));
  set_all(op, id);
}

void Sameness::call(const ir::Op& op, const ir::Block& body) {
  for (int i = 0; i < op.operand_count(); ++i) {
    inside_[body.argument(i)] = of(op.operand(i));
    if (const auto future = futures_.find(op.operand(i)); future != futures_.end())
      futures_[body.argument(i)] = Ids(future->second);
  }
  const Ids ids = block(body);
  set(op, ids);
  for (int i = 0; i < op.result_count(); ++i) {
    const auto future = futures_.find(body.terminator()->operand(i));
    if (future != futures_.end()) futures_[op.result(i)] = Ids(future->second);
  }
}

void Sameness::branch(const ir::Op& op) {
  const Id predicate = of(op.operand(0));
  const Id outer = mask_;
  mask_ = classes_.meet(mask_, predicate);
  const Id first = predicate == Classes::kAll ? predicate : mask_;
  Ids results(static_cast<std::size_t>(op.result_count()), first);
  for (const ir::Region& region : op.regions()) {
    const Ids ids = block(region.block());
    std::ranges::transform(results, ids, results.begin(),
                           [&](Id a, Id b) { return classes_.meet(a, b); });
  }
  mask_ = outer;
  set(op, results);
}

Sameness::Loop Sameness::loop(const ir::Op& op) {
  Loop found;
  for (const ir::Value* v : op.operands()) found.carried.push_back(of(v));
  if (const auto before = carried_.find(&op); before != carried_.end()) {
    std::ranges::transform(found.carried, before->second, found.carried.begin(),
                           [&](Id a, Id b) { return classes_.meet(a, b); });
  }
  for (bool changed = true; changed;) {
    const Id outer = mask_;
    for (int r = 0; r < 2; ++r) {
      const ir::Block& region = op.region(r).block();
      for (int i = 0; i < op.operand_count(); ++i)
        inside_[region.argument(i)] = found.carried[static_cast<std::size_t>(i)];
    }
    found.predicate = block(op.region(0).block()).front();
    if (found.predicate != Classes::kAll)
      found.predicate = mask_ = classes_.meet(found.predicate, mask_);
    const Ids after = block(op.region(1).block());
    mask_ = outer;
    changed = false;
    for (std::size_t i = 0; i < after.size(); ++i) {
      const Id id = classes_.meet(classes_.meet(found.carried[i], after[i]), found.predicate);
      changed |= id != found.carried[i];
      found.carried[i] = id;
    }
  }
  carried_[&op] = found.carried;
  return found;
}

void Sameness::collective(const ir::Op& op) {
  for (int i = 0; i < op.result_count(); ++i) {
    Id id = classes_.apart();
    switch (op.kind()) {
      case K::kAllGather:
      case K::kAllReduce:
      case K::kCrossReplicaSum:
        id = by_group(op);
        break;
      case K::kCollectiveBroadcast:
        if (!op.bool_or("has_dynamic_root", false)) id = by_group(op);
        break;
      case K::kCollectivePermute:
        id = permuted(op, i);
        break;
      default:
        break;
    }
    inside_[op.result(i)] = id;
  }
}

Classes::Id Sameness::by_group(const ir::Op& op) {
  const auto groups = groups_of(op, places_, members_);
  if (!groups) return classes_.apart();
  std::vector<int> group_of(static_cast<std::size_t>(places_.size()), -1);
  for (std::size_t g = 0; g < groups->size(); ++g) {
    for (const int clone : (*groups)[g])
      group_of[static_cast<std::size_t>(clone)] = static_cast<int>(g);
  }
  std::vector<int> keys;
  for (const int m : members_) keys.push_back(group_of[static_cast<std::size_t>(m)]);
  return classes_.of(keys);
}

Classes::Id Sameness::permuted(const ir::Op& op, int operand) {
  const auto pairs = pairs_of(op, places_, members_);
  if (!pairs) return classes_.apart();
  const std::vector<int>& before = classes_.classes(of(op.operand(operand)));
  std::vector<int> keys(members_.size(), -1);
  const auto place = [&](int clone) {
    return std::distance(members_.begin(), std::ranges::find(members_, clone));
  };
  for (const auto& [from, to] : *pairs)
    keys[static_cast<std::size_t>(place(to))] = before[static_cast<std::size_t>(place(from))];
  return classes_.of(keys);
}

Classes::Id Sameness::by_id(const ir::Op& op) {
  std::vector<int> keys;
  for (const int m : members_) {
    keys.push_back(op.kind() == K::kPartitionId ? places_.partition(m) : places_.replica(m));
  }
  return classes_.of(keys);
}

}  // namespace millrace::devices::stablehlo::spread
