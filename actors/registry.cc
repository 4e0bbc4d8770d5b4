#include "millrace/actors/registry.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>

namespace millrace::actors {

ActorCell** Registry::link_to(std::string_view name) const {
  const std::size_t bucket = std::hash<std::string_view>()(name) & (buckets_.size() - 1);
  ActorCell** link = &buckets_[bucket];
  while (*link != nullptr && (*link)->name() != name) link = &(*link)->next_in_bucket_;
  return link;
}

void Registry::grow() {
  buckets_.assign(std::max<std::size_t>(2 * buckets_.size(), 16), nullptr);
  for (ActorCell* cell = oldest_; cell != nullptr; cell = cell->newer_) {
    cell->next_in_bucket_ = nullptr;  // its chain is made anew
    *link_to(cell->name()) = cell;
  }
}

bool Registry::add(const Ref<ActorCell>& cell) {
  MutexLock lock(mutex_);
  if (count_ == buckets_.size()) grow();
  ActorCell** const link = link_to(cell->name());
  if (*link != nullptr) return false;
  *link = cell.get();
  ++count_;
  cell->older_ = newest_;
  (newest_ == nullptr ? oldest_ : newest_->newer_) = cell.get();
  newest_ = cell.get();
  cell->add_ref();
  return true;
}

void Registry::remove(ActorCell& cell) {
  {
    MutexLock lock(mutex_);
    *link_to(cell.name()) = std::exchange(cell.next_in_bucket_, nullptr);
    --count_;
    (cell.older_ == nullptr ? oldest_ : cell.older_->newer_) = cell.newer_;
    (cell.newer_ == nullptr ? newest_ : cell.newer_->older_) = cell.older_;
  }
  cell.release();
}

Ref<ActorCell> Registry::find(std::string_view name) const {
  MutexLock lock(mutex_);
  return buckets_.empty() ? nullptr : Ref<ActorCell>::share(*link_to(name));
}

Ref<ActorCell> Registry::newest() const {
  MutexLock lock(mutex_);
  return Ref<ActorCell>::share(newest_);
}

std::vector<Ref<ActorCell>> Registry::select(FunctionRef<bool(const ActorCell&)> wanted) const {
  std::vector<Ref<ActorCell>> cells;
  MutexLock lock(mutex_);
  for (ActorCell* cell = oldest_; cell != nullptr; cell = cell->newer_) {
    if (wanted(*cell)) cells.push_back(Ref<ActorCell>::share(cell));
  }
  return cells;
}

std::string readable_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? name.get() : type.name();
}

}  // namespace millrace::actors
