#include "millrace/actors/reply.h"

namespace millrace::actors::detail {

Error dropped_reply_error(const ActorCell& asked, const MessageType& type) {
  const CurrentActor& current = current_actor();
  std::string message = "asked " + std::string(type.name) + " of actor '" + asked.name() + "': ";
  if (current.gone != nullptr) {
    message += "the actor that held the reply is gone: " + current.gone->message();
    Error error(ErrorCode::kUnavailable, std::move(message));
    const ActorGone* gone = current.gone->detail<ActorGone>();
    return gone == nullptr ? error : error.with_detail(*gone);
  }
  if (current.cell == nullptr) {
    return Error(ErrorCode::kAborted, message + "the reply was dropped without an answer");
  }
  return Error(ErrorCode::kAborted, message + "actor '" + current.cell->name() +
                                        "' dropped the reply without an answer");
}

void follow_message(ReplyTracker& reply) {
  if (ActorCell* recipient = current_actor().recipient) reply.move_to(recipient->replies());
}

}  // namespace millrace::actors::detail
