#include "millrace/actors/reply_tracker.h"

#include <utility>

namespace millrace::actors {

void ReplyTracker::move_to(Ref<ReplyList> list) {
  if (list.get() == list_.get()) return;
  leave();
  list_ = std::move(list);
  list_->add(*this);
}

void ReplyTracker::leave() {
  if (!list_) return;
  list_->remove(*this);
  list_ = nullptr;
}

void ReplyList::add(ReplyTracker& reply) {
  MutexLock lock(mutex_);
  reply.listed_ = true;
  reply.newer_ = nullptr;
  reply.older_ = newest_;
  if (newest_ != nullptr) newest_->newer_ = &reply;
  newest_ = &reply;
}

void ReplyList::remove(ReplyTracker& reply) {
  MutexLock lock(mutex_);
  if (!std::exchange(reply.listed_, false)) return;
  (reply.newer_ == nullptr ? newest_ : reply.newer_->older_) = reply.older_;
  if (reply.older_ != nullptr) reply.older_->newer_ = reply.newer_;
}

void ReplyList::drop_all() {
  // What is in the list is alive: its owner takes it out first.
  PooledVector<Ref<ReplyTracker>> replies;
  {
    MutexLock lock(mutex_);
    for (ReplyTracker* reply = newest_; reply != nullptr; reply = reply->older_) {
      reply->listed_ = false;
      replies.push_back(Ref<ReplyTracker>::share(reply));
    }
    newest_ = nullptr;
  }
  for (const Ref<ReplyTracker>& reply : replies) reply->drop();
}

}  // namespace millrace::actors
