// Registry: the actors of one system that have not stopped, in order of creation and by name.
#pragma once

#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "millrace/actors/actor_cell.h"
#include "millrace/core/base/function_ref.h"

namespace millrace::actors {

// Owned by the ActorSystem; holds one reference to each actor. Thread-safety: thread-safe.
class Registry {
 public:
  // False if an actor of that name exists.
  bool add(const Ref<ActorCell>& cell);
  void remove(ActorCell& cell);
  // Empty if there is none.
  Ref<ActorCell> find(std::string_view name) const;
  Ref<ActorCell> newest() const;
  // The actors that wanted() accepts, in order of creation. It runs under the lock, and only what
  // it accepts is touched: a million idle actors cost a walk.
  std::vector<Ref<ActorCell>> select(FunctionRef<bool(const ActorCell&)> wanted) const;

 private:
  // The link that leads, or would lead, to the actor of that name. There are buckets.
  ActorCell** link_to(std::string_view name) const MILLRACE_REQUIRES(mutex_);
  void grow() MILLRACE_REQUIRES(mutex_);

  mutable Mutex mutex_;
  // By name: chains through the cells themselves (next_in_bucket_), so that a name costs an idle
  // actor one pointer. A power of two of them.
  mutable std::vector<ActorCell*> buckets_ MILLRACE_GUARDED_BY(mutex_);
  std::size_t count_ MILLRACE_GUARDED_BY(mutex_) = 0;
  ActorCell* oldest_ MILLRACE_GUARDED_BY(mutex_) = nullptr;
  ActorCell* newest_ MILLRACE_GUARDED_BY(mutex_) = nullptr;
};

// The class as its source spells it, for errors.
std::string readable_name(const std::type_info& type);

}  // namespace millrace::actors
