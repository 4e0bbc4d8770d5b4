// State: what the parts of the reader share while they read one text: the cursor, the module being
// made, aliases, the values in scope and resources still to come. The parts are free functions over
// it: types.h, attributes.h, ops.h, module text in read_text.cc.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "millrace/devices/stablehlo/ir/module.h"
#include "millrace/devices/stablehlo/text/cursor.h"

namespace millrace::devices::stablehlo::text {

// The names of values that the text may use at a place. A region sees what its parents see, but for
// a function's; what it defines ends with it. Names point into the text.
// Thread-safety: confined.
class Scope {
 public:
  // The values that %name or %name#i stand for; empty if it is not defined here.
  std::span<ir::Value> find(std::string_view name) const {
    const auto it = visible_.find(name);
    return it == visible_.end() ? std::span<ir::Value>() : it->second;
  }
  // False if the name is already visible.
  bool define(std::string_view name, std::span<ir::Value> values) {
    if (!visible_.emplace(name, values).second) return false;
    names_.push_back(name);
    return true;
  }

  // Marks nest: leave(mark) ends what was defined since.
  std::size_t enter() const { return names_.size(); }
  void leave(std::size_t mark) {
    for (; names_.size() > mark; names_.pop_back()) visible_.erase(names_.back());
  }

 private:
  std::unordered_map<std::string_view, std::span<ir::Value>> visible_;
  std::vector<std::string_view> names_;  // in order of definition
};

// One op while it is being read. Kept and reused per depth, so that reading an op allocates only in
// the arena.
struct Draft {
  ir::OpKind kind = ir::OpKind::kOther;
  std::string_view name;
  ir::Location location;
  std::vector<ir::Value*> operands;
  std::vector<ir::Type> result_types;
  std::vector<ir::NamedAttribute> attributes;
  std::vector<std::vector<ir::Block*>> regions;
  std::vector<ir::Block*> successors;

  void clear() {
    kind = ir::OpKind::kOther;
    operands.clear();
    result_types.clear();
    attributes.clear();
    regions.clear();
    successors.clear();
  }
};

inline constexpr std::size_t kMaxExpansion = 16;

// A block by its ^label: named as a successor, or defined, or both.
struct Label {
  ir::Block* block = nullptr;
  bool defined = false;
};

// What #name or !name stands for, and how large and deep it is when it is written out.
template <class T>
struct Alias {
  T value;
  std::size_t weight = 0;  // characters
  int depth = 0;
};

// Thread-safety: confined.
struct State {
  explicit State(std::string_view text) : in(text) {}

  Cursor in;
  ir::Module module;
  Scope scope;
  std::unordered_map<std::string_view, Alias<ir::Type>> type_aliases;
  std::unordered_map<std::string_view, Alias<ir::Attribute>> attribute_aliases;
  // Characters that the uses of aliases so far stand for. Aliases of aliases could make a short
  // text mean a program of any size; this is kept within a small multiple of the text.
  std::size_t expanded = 0;

  // How a reader of attributes ends: gives one with this record of ir/attribute.h, and true.
  template <class Record>
  bool make(ir::Attribute* out, const Record& record) {
    return give(out, module.attribute(record));
  }

  // A list in the module's memory, as records have it.
  template <class T>
  std::span<const T> keep(const std::vector<T>& values) const {
    return module.copy(std::span<const T>(values));
  }

  // Steps over the alias at the cursor and gives its value.
  template <class T>
  bool use_alias(const Alias<T>& alias, T* out) {
    expanded += alias.weight;
    if (in.depth() + alias.depth > kMaxDepth ||
        expanded > kMaxExpansion * in.text().size() + 65536) {
      return in.fail("aliases that stand for too deep or too large a text");
    }
    in.set_deepest(std::max(in.deepest(), in.depth() + alias.depth));
    return in.advance() && give(out, alias.value);
  }

  // dense_resource<key>: its bytes stand at the end of the text.
  struct PendingResource {
    std::string_view key;
    ir::Attribute attribute;
    ir::Location location;
  };
  std::vector<PendingResource> resources;

  // The labels of the innermost region that is being read.
  std::unordered_map<std::string_view, Label>* labels = nullptr;

  std::deque<Draft> drafts;
  std::size_t drafts_used = 0;
};

// A cleared draft for the time of its scope.
class DraftLease {
 public:
  explicit DraftLease(State& state) : state_(state) {
    if (state.drafts_used == state.drafts.size()) state.drafts.emplace_back();
    draft_ = &state.drafts[state.drafts_used++];
    draft_->clear();
  }
  ~DraftLease() { --state_.drafts_used; }
  DraftLease(const DraftLease&) = delete;
  DraftLease& operator=(const DraftLease&) = delete;
  Draft& operator*() const { return *draft_; }

 private:
  State& state_;
  Draft* draft_;
};

}  // namespace millrace::devices::stablehlo::text
