// SendWindow: how many bytes of messages may be under way to one actor of another process, and
// LinkBudget: to all actors there. What is under way has left here and has no place in the mailbox
// yet. Pure. Read next: caller.h, which keeps them; credit_return.h, the other end.
//
//  - SW-1 a message goes when the actor's own bytes under way and it fit into what the link has
//    left: each slow actor leaves as much as it takes, so that there is room for the others.
//  - SW-2 one message alone always goes (AD-1 of admission.h), so that no actor waits for another.
//  - SW-3 what is under way to an actor is most_of_actor at most, or one message.
#pragma once

#include <algorithm>
#include <cstddef>

#include "millrace/core/base/check.h"

namespace millrace::actors {

struct LinkBudget {
  std::size_t limit = std::size_t{1} << 20;
  std::size_t most_of_actor = std::size_t{256} << 10;
  std::size_t used = 0;

  std::size_t left() const { return limit - std::min(limit, used); }
};

// Thread-safety: external.
class SendWindow {
 public:
  bool may_send(std::size_t bytes, const LinkBudget& budget) const {
    if (under_way_ == 0) return true;
    return under_way_ + bytes <= std::min(budget.most_of_actor, budget.left());
  }
  void sent(std::size_t bytes, LinkBudget& budget) {
    under_way_ += bytes;
    budget.used += bytes;
  }
  // False: more than is under way; nothing has changed.
  bool returned(std::size_t bytes, LinkBudget& budget) {
    if (bytes > under_way_) return false;
    under_way_ -= bytes;
    budget.used -= bytes;
    return true;
  }
  // The actor is gone.
  void end(LinkBudget& budget) { returned(under_way_, budget); }
  std::size_t under_way() const { return under_way_; }

 private:
  std::size_t under_way_ = 0;
};

}  // namespace millrace::actors
