#include "millrace/actors/registry.h"

namespace millrace::actors {

bool Registry::add(const Ref<ActorCell>& cell) {
  MutexLock lock(mutex_);
  if (!by_name_.insert(cell.get()).second) return false;
  cell->older_ = newest_;
  (newest_ == nullptr ? oldest_ : newest_->newer_) = cell.get();
  newest_ = cell.get();
  cell->add_ref();
  return true;
}

void Registry::remove(ActorCell& cell) {
  {
    MutexLock lock(mutex_);
    by_name_.erase(&cell);
    (cell.older_ == nullptr ? oldest_ : cell.older_->newer_) = cell.newer_;
    (cell.newer_ == nullptr ? newest_ : cell.newer_->older_) = cell.older_;
  }
  cell.release();
}

Ref<ActorCell> Registry::find(std::string_view name) const {
  MutexLock lock(mutex_);
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : Ref<ActorCell>::share(*found);
}

Ref<ActorCell> Registry::newest() const {
  MutexLock lock(mutex_);
  return Ref<ActorCell>::share(newest_);
}

std::vector<Ref<ActorCell>> Registry::all() const {
  std::vector<Ref<ActorCell>> cells;
  MutexLock lock(mutex_);
  cells.reserve(by_name_.size());
  for (ActorCell* cell = oldest_; cell != nullptr; cell = cell->newer_) {
    cells.push_back(Ref<ActorCell>::share(cell));
  }
  return cells;
}

std::vector<Ref<ActorCell>> Registry::select(FunctionRef<bool(const ActorCell&)> wanted) const {
  std::vector<Ref<ActorCell>> cells;
  MutexLock lock(mutex_);
  for (ActorCell* cell = oldest_; cell != nullptr; cell = cell->newer_) {
    if (wanted(*cell)) cells.push_back(Ref<ActorCell>::share(cell));
  }
  return cells;
}

}  // namespace millrace::actors
