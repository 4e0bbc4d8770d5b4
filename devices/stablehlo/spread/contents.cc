#include "millrace/devices/stablehlo/spread/contents.h"

#include <algorithm>
#include <unordered_set>

namespace millrace::devices::stablehlo::spread {
namespace {

using K = ir::OpKind;

unsigned own(const ir::Op& op) {
  if (is_collective(op)) return kCollectives;
  switch (op.kind()) {
    case K::kPartitionId:
    case K::kReplicaId:
      return kIds;
    case K::kWhile:
    case K::kChloScan:
      return kLoops;
    case K::kInfeed:
    case K::kOutfeed:
    case K::kSend:
    case K::kRecv:
      return kCollectives | kEffects;
    case K::kRng:
      return kEffects;
    case K::kCustomCall:
      return op.bool_or("has_side_effect", false) ? kEffects : 0U;
    case K::kAsyncStart:
    case K::kAsyncDone:
      return kCollectives;  // inlined
    case K::kOther:
      return op.name() == "sdy.manual_computation" ? kCollectives : 0U;
    default:
      return 0;
  }
}

struct Captures {
  std::unordered_set<const ir::Value*> inside, seen;
  std::vector<ir::Value*> found;

  void block(const ir::Block& b) {
    for (const ir::Value& v : b.arguments()) inside.insert(&v);
    for (const ir::Op& op : b) {
      for (ir::Value* v : op.operands()) {
        if (!inside.contains(v) && seen.insert(v).second) found.push_back(v);
      }
      for (const ir::Region& region : op.regions()) this->region(region);
      for (const ir::Value& v : op.results()) inside.insert(&v);
    }
  }
  void region(const ir::Region& r) {
    for (const ir::Block* b : r.blocks()) block(*b);
  }
};

}  // namespace

bool is_collective(const ir::Op& op) {
  switch (op.kind()) {
    case K::kAllGather:
    case K::kAllReduce:
    case K::kAllToAll:
    case K::kCollectiveBroadcast:
    case K::kCollectivePermute:
    case K::kCollectiveReduce:
    case K::kCrossReplicaSum:
    case K::kReduceScatter:
      return true;
    case K::kCustomCall:
      return op.callee() == "ragged_all_to_all";
    default:
      return false;
  }
}

const ir::Function* called(const ir::Module& module, const ir::Op& op) {
  std::string_view name;
  if (op.kind() == K::kCall) name = op.callee();
  if (op.kind() == K::kComposite) {
    const auto* symbol = op.attr<ir::SymbolAttr>("decomposition");
    name = symbol != nullptr && !symbol->path.empty() ? symbol->path.front() : op.callee();
  }
  const ir::Function* function = name.empty() ? nullptr : module.find(name);
  return function == nullptr || function->is_declaration() ? nullptr : function;
}

unsigned Contents::of(const ir::Op& op) {
  const ir::Function* callee = called(module_, op);
  if (callee != nullptr) return of(*callee);
  if (op.regions().empty()) return own(op);
  if (const auto found = ops_.find(&op); found != ops_.end()) return found->second;
  unsigned held = own(op);
  for (const ir::Region& region : op.regions()) held |= of(region);
  ops_[&op] = held;
  return held;
}

unsigned Contents::of(const ir::Function& function) {
  if (const auto found = functions_.find(&function); found != functions_.end())
    return found->second;
  const unsigned held = of(function.body());
  functions_[&function] = held;
  return held;
}

unsigned Contents::of(const ir::Region& region) {
  unsigned held = 0;
  for (const ir::Block* block : region.blocks()) {
    for (const ir::Op& op : *block) held |= of(op);
  }
  return held;
}

const std::vector<ir::Value*>& Contents::captures(const ir::Op& op) {
  if (op.regions().empty()) {
    static const std::vector<ir::Value*> kNone;
    return kNone;
  }
  const auto [at, is_new] = captures_.try_emplace(&op);
  if (is_new) {
    Captures captures;
    for (const ir::Region& region : op.regions()) captures.region(region);
    at->second = std::move(captures.found);
  }
  return at->second;
}

}  // namespace millrace::devices::stablehlo::spread
