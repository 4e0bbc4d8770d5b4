// ReplyTracker: what replies of every type have in common, and ReplyList: the replies that one
// actor holds. A failed actor lives on while one of its handlers has not ended, and with it the
// replies in its members and in the frames of its coroutines. The askers must not wait that long:
// each reply is in the list of its holder, whose failure fails them all.
//
//  - HR-1 the holder is the actor that was asked, until the reply is moved into a message to
//    another actor; from then on that actor holds it, wherever its handler puts the reply.
//  - HR-2 a reply is in at most one list, and is set once: by its owner or through the list.
// A Reply owns its ReplyTracker, which keeps the list that it is in; so does the cell of the
// holder, from its first reply on. The owner moves and sets a reply, the holder's slice fails the
// list; the list's mutex is between them, and no waiter runs under it.
#pragma once

#include "millrace/core/base/mutex.h"
#include "millrace/core/base/pool.h"
#include "millrace/core/base/ref.h"

namespace millrace::actors {

class ReplyList;

// Thread-safety: external, but for drop.
class ReplyTracker : public RefCounted, public Pooled {
 public:
  // Fails the ask: no answer follows (dropped_reply_error says why). Loses quietly to an
  // answer that came before. Any thread.
  virtual void drop() noexcept = 0;

  // Leaves the list that it is in, and enters this one.
  void move_to(Ref<ReplyList> list);
  void leave();

 private:
  friend class ReplyList;
  Ref<ReplyList> list_;
  // Guarded by the list's mutex.
  bool listed_ = false;
  ReplyTracker* older_ = nullptr;
  ReplyTracker* newer_ = nullptr;
};

// Thread-safety: thread-safe.
class ReplyList final : public RefCounted, public Pooled {
 public:
  void add(ReplyTracker& reply);
  void remove(ReplyTracker& reply);
  // Drops and erases all replies in it.
  void drop_all();

 private:
  Mutex mutex_;
  ReplyTracker* newest_ MILLRACE_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace millrace::actors
