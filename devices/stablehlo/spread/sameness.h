// Sameness: on which clones a value is equal, found without making anything. A loop must know it of
// what it carries before its body is made: what is equal is carried, and computed, once. Read next:
// walk_control.cc, which asks.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "millrace/devices/stablehlo/ir/module.h"
#include "millrace/devices/stablehlo/spread/contents.h"
#include "millrace/devices/stablehlo/spread/places.h"

namespace millrace::devices::stablehlo::spread {

// The ways to sort clones into classes, each with a number. Thread-safety: confined.
class Classes {
 public:
  using Id = int;
  static constexpr Id kAll = 0;  // one class

  explicit Classes(const Members& members);
  // By the key of each member, in their order.
  template <class Key>
  Id of(const std::vector<Key>& keys) {
    std::map<Key, int> numbers;
    std::vector<int> classes;
    for (const Key& key : keys)
      classes.push_back(numbers.try_emplace(key, static_cast<int>(numbers.size())).first->second);
    return intern(std::move(classes));
  }
  Id apart() const { return apart_; }  // each alone
  // Those that are in one class of both.
  Id meet(Id a, Id b);
  // The class of each member, numbered from 0 in the order of their first members.
  const std::vector<int>& classes(Id id) const { return all_[static_cast<std::size_t>(id)]; }
  // The first member of each class.
  Members firsts(Id id) const;

 private:
  Id intern(std::vector<int> classes);

  const Members members_;
  std::vector<std::vector<int>> all_;
  std::map<std::vector<int>, Id> ids_;
  std::map<std::pair<Id, Id>, Id> meets_;
  Id apart_ = kAll;
};

// Thread-safety: confined.
class Sameness {
 public:
  // at: what stands for a value of the surroundings. mask: of members that may be inactive.
  Sameness(const ir::Module& module, Contents& contents, const Places& places,
           const Members& members, std::function<const Each&(const ir::Value*)> at,
           const Each* mask);

  struct Loop {
    std::vector<Classes::Id> carried;
    Classes::Id predicate = Classes::kAll;  // kAll: all members leave the loop together
  };
  Loop of_loop(const ir::Op& op);
  Classes& classes() { return classes_; }

 private:
  using Id = Classes::Id;
  using Ids = std::vector<Id>;

  Id of(const ir::Value* v);
  Id of(const Each& each);
  Ids block(const ir::Block& block);
  void op(const ir::Op& op);
  void plain(const ir::Op& op);
  void set(const ir::Op& op, std::span<const Id> ids);
  void set_all(const ir::Op& op, Id id);
  void branch(const ir::Op& op);
  Loop loop(const ir::Op& op);
  void call(const ir::Op& op, const ir::Block& body);
  void collective(const ir::Op& op);
  Id by_group(const ir::Op& op);
  Id permuted(const ir::Op& op, int operand);
  Id by_id(const ir::Op& op);

  const ir::Module& module_;
  Contents& contents_;
  const Places& places_;
  const Members& members_;
  const std::function<const Each&(const ir::Value*)> at_;
  Classes classes_;
  Id mask_ = Classes::kAll;
  std::unordered_map<const ir::Value*, Id> inside_;
  std::unordered_map<const ir::Value*, Ids> futures_;
  // What loops inside carry: it only gets finer, so that nested loops end soon.
  std::unordered_map<const ir::Op*, Ids> carried_;
  std::int64_t budget_;  // of operations that are still looked at; without it each is alone
  int depth_ = 0;
};

}  // namespace millrace::devices::stablehlo::spread
