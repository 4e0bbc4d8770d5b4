#include "millrace/devices/stablehlo/spread/edges.h"

namespace millrace::devices::stablehlo::spread {

Edges::Edges(const ir::Block& main, const Homes& homes) {
  Round round;
  add(main, homes, round, true);
  finish(nullptr, round);
}

void Edges::add(const ir::Value& v, const Homes& homes, Round& round, bool certain) {
  const ProcessSet given = homes.given(v);
  if (given.none()) return;
  const int from = first_of(homes.has(v));
  for (std::size_t q = given._Find_first(); q < given.size(); q = given._Find_next(q)) {
    const int to = static_cast<int>(q);
    edges_[{&v, to}] = next_++;
    if (v.type().kind() == ir::TypeKind::kToken) continue;
    round.gifts.insert({from, to});
    if (certain) round.certain.insert({from, to});
  }
}

void Edges::add(const ir::Block& block, const Homes& homes, Round& round, bool certain) {
  for (const ir::Value& v : block.arguments()) add(v, homes, round, certain);
  for (const ir::Op& op : block) {
    if (homes.is_split(op) && op.kind() == ir::OpKind::kWhile) {
      // The condition is looked at once at least, whether there is a round or not.
      Round inner;
      add(op.region(0).block(), homes, inner, true);
      round.gifts.insert(inner.gifts.begin(), inner.gifts.end());
      if (certain) round.certain.insert(inner.certain.begin(), inner.certain.end());
      add(op.region(1).block(), homes, inner, true);
      finish(&op, inner);
    } else if (homes.is_split(op)) {
      for (const ir::Region& region : op.regions()) add(region.block(), homes, round, false);
    }
    for (const ir::Value& v : op.results()) add(v, homes, round, certain);
  }
}

void Edges::finish(const ir::Op* loop, const Round& round) {
  std::vector<Answer>& answers = rounds_[loop];
  for (const auto& [from, to] : round.gifts) {
    if (!round.certain.contains({to, from})) answers.push_back({next_++, to, from});
  }
}

}  // namespace millrace::devices::stablehlo::spread
