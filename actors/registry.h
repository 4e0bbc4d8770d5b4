// Registry: the actors of one system that have not stopped, in order of creation and by name.
#pragma once

#include <string_view>
#include <unordered_set>
#include <vector>

#include "millrace/actors/actor_cell.h"
#include "millrace/core/function_ref.h"

namespace millrace::actors {

// Owned by the ActorSystem; holds one reference to each actor. Thread-safety: thread-safe.
class Registry {
 public:
  // False if an actor of that name is there.
  bool add(const Ref<ActorCell>& cell);
  void remove(ActorCell& cell);
  // Empty if there is none.
  Ref<ActorCell> find(std::string_view name) const;
  Ref<ActorCell> newest() const;
  // In order of creation.
  std::vector<Ref<ActorCell>> all() const;
  // Those of which wanted says so, in order of creation. It is asked under the lock, and only what
  // it wants is touched: a million actors at rest cost a walk.
  std::vector<Ref<ActorCell>> select(FunctionRef<bool(const ActorCell&)> wanted) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const {
      return std::hash<std::string_view>()(name);
    }
    std::size_t operator()(const ActorCell* cell) const {
      return (*this)(std::string_view(cell->name()));
    }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const ActorCell* a, const ActorCell* b) const { return a->name() == b->name(); }
    bool operator()(std::string_view name, const ActorCell* cell) const {
      return name == cell->name();
    }
    bool operator()(const ActorCell* cell, std::string_view name) const {
      return name == cell->name();
    }
  };

  mutable Mutex mutex_;
  std::unordered_set<ActorCell*, Hash, Equal> by_name_ MILLRACE_GUARDED_BY(mutex_);
  ActorCell* oldest_ MILLRACE_GUARDED_BY(mutex_) = nullptr;
  ActorCell* newest_ MILLRACE_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace millrace::actors
