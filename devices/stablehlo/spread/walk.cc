#include "millrace/devices/stablehlo/spread/walk.h"

#include <algorithm>
#include <map>
#include <utility>

#include "millrace/devices/stablehlo/ir/message.h"
#include "millrace/devices/stablehlo/spread/collectives.h"

namespace millrace::devices::stablehlo::spread {
namespace {

using K = ir::OpKind;

// A few lines can call each other to more than any memory holds; a sane program stays far below.
constexpr std::int64_t kOpsBesides = 1'000'000;
constexpr std::int64_t kTimesLonger = 1024;
constexpr int kMaxDepth = 192;

}  // namespace

Walk::Walk(const ir::Module& from, ir::Module& into, bool divides)
    : from_(from),
      into_(into),
      divides_(divides),
      contents_(from),
      scope_(static_cast<std::size_t>(from.value_ids())),
      budget_(kOpsBesides + kTimesLonger * from.op_ids()) {}

std::vector<Each> Walk::operands_of(const ir::Op& op) const {
  std::vector<Each> operands;
  for (const ir::Value* v : op.operands()) operands.push_back(at(v));
  return operands;
}

void Walk::set_results(const ir::Op& op, const std::vector<Each>& results) {
  for (int i = 0; i < op.result_count(); ++i)
    set(op.result(i), results[static_cast<std::size_t>(i)]);
}

Status Walk::for_each_key(const ir::Op& op, Frame& frame, const std::function<Key(int)>& key,
                          const std::function<Result<Values>(int)>& make) {
  const auto clones = static_cast<std::size_t>(frame.places.size());
  std::vector<Values> results(static_cast<std::size_t>(op.result_count()), Values(clones, nullptr));
  std::map<Key, std::pair<Values, Members>> made;
  const int first = into_.op_ids();
  for (const int m : frame.members) {
    auto& [values, members] = made[key(m)];
    if (members.empty()) {
      MILLRACE_TRY(values, make(m));
    }
    members.push_back(m);
    for (std::size_t i = 0; i < results.size(); ++i)
      results[i][static_cast<std::size_t>(m)] = values[i];
  }
  for (const auto& [unused, each] : made) note(each.first, each.second, frame, first);
  for (std::size_t i = 0; i < results.size(); ++i)
    set(op.result(static_cast<int>(i)), Each(std::move(results[i]), frame.members));
  return {};
}

void Walk::note(const Values& values, const Members& members, const Frame& frame, int first) {
  if (!divides_ || !frame.places.is_each) return;
  for (const ir::Value* v : values) {
    if (v->def() == nullptr || v->def()->id() < first) continue;
    const auto id = static_cast<std::size_t>(v->def()->id());
    made_for_.resize(std::max(made_for_.size(), id + 1));
    std::vector<int>& devices = made_for_[id];
    devices.clear();
    for (const int m : members) devices.push_back(frame.places.device(m));
  }
}

Walk::Key Walk::inputs_of(const ir::Op& op, int member) {
  Key key;
  for (const ir::Value* v : op.operands()) key.push_back(at(v)[member]);
  for (const ir::Value* v : contents_.captures(op)) key.push_back(at(v)[member]);
  return key;
}

Result<std::vector<Each>> Walk::block(const ir::Block& from, Frame& frame) {
  if (depth_ >= kMaxDepth)
    return ir::invalid(*from.terminator(), "calls and regions nested too deeply");
  ++depth_;
  Status done;
  for (const ir::Op& o : from) {
    if (&o != from.terminator() && done) done = op(o, frame);
  }
  --depth_;
  if (!done) return std::unexpected(done.error());
  return operands_of(*from.terminator());
}

Status Walk::op(const ir::Op& o, Frame& frame) {
  if (--budget_ < 0) {
    return fail(ErrorCode::kResourceExhausted,
                ir::message(o.where(), ": with its calls in their places, for each of ",
                            frame.places.size(), " devices, the program has too many operations"));
  }
  if (is_collective(o)) return collective(o, frame);
  switch (o.kind()) {
    case K::kCall:
    case K::kComposite:
      return call(o, frame);
    case K::kPartitionId:
    case K::kReplicaId:
      return ids(o, frame);
    case K::kAsyncStart:
      return async_start(o, frame);
    case K::kAsyncDone:
      return async_done(o, frame);
    case K::kInfeed:
    case K::kOutfeed:
    case K::kSend:
    case K::kRecv:
      return ir::unimplemented(o,
                               "the CPU device has no transfers with the host or with other "
                               "devices while a program runs");
    case K::kOther:
      if (o.name() == "sdy.manual_computation") return manual(o, frame);
      if (passes_on(o)) return {};
      break;
    default:
      break;
  }
  if ((contents_.of(o) & kCollectives) == 0 || frame.members.size() == 1) return plain(o, frame);
  switch (o.kind()) {
    case K::kIf:
    case K::kCase:
      return branch(o, frame);
    case K::kWhile:
      return loop(o, frame);
    default:
      return ir::unimplemented(o,
                               "its body has collectives, which only if, case, while and calls "
                               "may have");
  }
}

ir::Op* Walk::create(const ir::Op& like, std::span<ir::Value* const> operands,
                     std::span<const ir::Type> types, int regions) {
  --budget_;
  std::vector<ir::NamedAttribute> kept;
  for (const ir::NamedAttribute& a : like.attributes()) {
    if (!a.name.starts_with("sdy.")) kept.push_back(a);
  }
  return into_.create_op({.kind = like.kind(),
                          .name = like.kind() == K::kOther ? like.name() : std::string_view(),
                          .location = like.location(),
                          .operands = operands,
                          .result_types = types,
                          .attributes = kept,
                          .regions = regions});
}

Status Walk::plain(const ir::Op& op, Frame& frame) {
  const unsigned held = contents_.of(op);
  const auto key = [&](int member) {
    Key inputs = inputs_of(op, member);
    if (frame.is_masked && (held & (kEffects | kLoops)) != 0) inputs.push_back(frame.mask[member]);
    if ((held & (kEffects | kIds)) != 0)
      inputs.push_back(&frame.places.devices[static_cast<std::size_t>(member)]);
    return inputs;
  };
  return for_each_key(op, frame, key, [&](int member) -> Result<Values> {
    if (frame.is_masked && (held & (kEffects | kLoops)) != 0) return guarded(op, member, frame);
    MILLRACE_TRY(const ir::Op* made, copied(op, member, frame, frame.to));
    Values results;
    for (int i = 0; i < made->result_count(); ++i) results.push_back(made->result(i));
    return results;
  });
}

Result<ir::Op*> Walk::copied(const ir::Op& op, int member, const Frame& frame, ir::Block& to) {
  Values operands;
  for (const ir::Value* v : op.operands()) operands.push_back(at(v)[member]);
  ir::Op* made =
      create(op, operands, ir::types_of(op.results()), static_cast<int>(op.regions().size()));
  for (std::size_t r = 0; r < op.regions().size(); ++r)
    MILLRACE_TRY_STATUS(copy_region(op.regions()[r], made->regions()[r], member, frame));
  to.append(made);
  return made;
}

Status Walk::copy_region(const ir::Region& from, ir::Region& to, int member, const Frame& frame) {
  std::vector<ir::Block*> blocks;
  for (const ir::Block* written : from.blocks()) {
    ir::Block* made = into_.create_block(ir::types_of(written->arguments()));
    for (int i = 0; i < written->argument_count(); ++i)
      set(written->argument(i), Each(made->argument(i)));
    Frame inner{*made, frame.places, {member}};
    MILLRACE_TRY(const std::vector<Each> returned, block(*written, inner));
    Values values;
    for (const Each& each : returned) values.push_back(each[member]);
    ir::Op* end = create(*written->terminator(), values, {}, 0);
    made->append(end);
    blocks.push_back(made);
  }
  into_.set_blocks(to, blocks);
  return {};
}

Result<Walk::Values> Walk::guarded(const ir::Op& op, int member, Frame& frame) {
  Maker make(into_, frame.to, op);
  const std::vector<ir::Type> types = ir::types_of(op.results());
  ir::Value* const predicate[] = {frame.mask[member]};
  ir::Op* guard = into_.create_op({.kind = K::kIf,
                                   .location = op.location(),
                                   .operands = predicate,
                                   .result_types = types,
                                   .regions = 2});
  for (int r = 0; r < 2; ++r) {
    ir::Block* body = into_.create_block({});
    Values values;
    if (r == 0) {
      MILLRACE_TRY(const ir::Op* made, copied(op, member, frame, *body));
      for (int i = 0; i < made->result_count(); ++i) values.push_back(made->result(i));
    } else {
      Maker otherwise(into_, *body, op);
      for (const ir::Type type : types) values.push_back(otherwise.zeros(type));
    }
    make.finish(*body, values);
    ir::Block* const blocks[] = {body};
    into_.set_blocks(guard->region(r), blocks);
  }
  frame.to.append(guard);
  Values results;
  for (int i = 0; i < guard->result_count(); ++i) results.push_back(guard->result(i));
  return results;
}

// What Shardy says of where arrays lie: they are whole here, or what a device has.
bool Walk::passes_on(const ir::Op& op) {
  if (!op.name().starts_with("sdy.") || !op.regions().empty() ||
      op.operand_count() < op.result_count()) {
    return false;
  }
  for (int i = 0; i < op.result_count(); ++i) {
    if (op.operand(i)->type() != op.result(i)->type()) return false;
  }
  set_results(op, operands_of(op));
  return true;
}

Status Walk::ids(const ir::Op& op, Frame& frame) {
  if (frame.places.is_whole) {
    return ir::unimplemented(op,
                             "which device it is on has no meaning where arrays are whole, "
                             "expected sdy.manual_computation around it");
  }
  const auto id = [&](int member) {
    return op.kind() == K::kPartitionId ? frame.places.partition(member)
                                        : frame.places.replica(member);
  };
  Maker make(into_, frame.to, op);
  return for_each_key(
      op, frame,
      [&](int member) { return Key{&frame.places.devices[static_cast<std::size_t>(member)]}; },
      [&](int member) -> Result<Values> { return Values{make.number(DType::kU32, id(member))}; });
}

// One channel joins operations of one sort: among devices, or with the host.
Status Walk::check_channel(const ir::Op& op) {
  const auto* channel = op.attr<ir::ChannelHandleAttr>("channel_handle");
  if (channel == nullptr || channel->handle <= 0) return {};
  const ir::Op* first = channels_.try_emplace(channel->handle, &op).first->second;
  const auto* before = first->attr<ir::ChannelHandleAttr>("channel_handle");
  if (before->type == channel->type) return {};
  return ir::invalid(op, "channel ", channel->handle, " has type ", channel->type, ", but ",
                     first->where(), " uses it with type ", before->type);
}

Status Walk::collective(const ir::Op& op, Frame& frame) {
  MILLRACE_TRY_STATUS(check_channel(op));
  const std::vector<Each> operands = operands_of(op);
  Maker make(into_, frame.to, op);
  const int member = frame.first();
  const auto copy = [&](const ir::Region& from, ir::Region& to) {
    return copy_region(from, to, member, frame);
  };
  const auto outside = [&](const ir::Value* v) { return at(v)[member]; };
  const int first = into_.op_ids();
  MILLRACE_TRY(std::vector<Each> results,
               Collective(op, operands, make, frame.places, frame.members, copy, outside).run());
  if (divides_ && frame.places.is_each) {
    for (Each& result : results) result = received(result, make, frame, first);
  }
  set_results(op, results);
  return {};
}

// What members get of a collective is theirs: also where it is another member's value as it is.
Each Walk::received(const Each& result, Maker& make, const Frame& frame, int first) {
  std::map<ir::Value*, Members> getters;
  for (const int m : frame.members) getters[result[m]].push_back(m);
  Values values(static_cast<std::size_t>(frame.places.size()), nullptr);
  for (const auto& [value, members] : getters) {
    const bool is_made = value->def() != nullptr && value->def()->id() >= first;
    ir::Value* const own = is_made || !value->type().is_tensor()
                               ? value
                               : make.value(K::kReshape, {value}, value->type());
    note({own}, members, frame, first);
    for (const int m : members) values[static_cast<std::size_t>(m)] = own;
  }
  return {std::move(values), frame.members};
}

Status Walk::call(const ir::Op& op, Frame& frame) {
  const ir::Function* callee = called(from_, op);
  if (callee == nullptr) return ir::invalid(op, "there is no body for what it calls");
  const ir::Block& body = callee->body().block();
  for (int i = 0; i < op.operand_count(); ++i) {
    set(body.argument(i), at(op.operand(i)));
    if (const auto future = futures_.find(op.operand(i)); future != futures_.end())
      futures_[body.argument(i)] = future->second;
  }
  MILLRACE_TRY(const std::vector<Each> results, block(body, frame));
  set_results(op, results);
  for (int i = 0; i < op.result_count(); ++i) {
    const auto future = futures_.find(body.terminator()->operand(i));
    if (future != futures_.end()) futures_[op.result(i)] = future->second;
  }
  return {};
}

// What it begins is done at once; async_done gives the results.
Status Walk::async_start(const ir::Op& op, Frame& frame) {
  const ir::Block& body = op.region().block();
  for (int i = 0; i < op.operand_count(); ++i) set(body.argument(i), at(op.operand(i)));
  MILLRACE_TRY(futures_[op.result()], block(body, frame));
  return {};
}

Status Walk::async_done(const ir::Op& op, Frame& /*frame*/) {
  const auto future = futures_.find(op.operand(0));
  if (future == futures_.end()) {
    return ir::unimplemented(op,
                             "what async_start gives may pass through calls only, in a "
                             "program for several devices");
  }
  set_results(op, future->second);
  return {};
}

}  // namespace millrace::devices::stablehlo::spread
