#include "millrace/actors/mailbox.h"

#include <utility>

namespace millrace::actors {

Mailbox::Push Mailbox::push(Envelope* message) {
  const Stack::Word before = messages_.push(message, kClosed);
  return before == kClosed ? Push::kClosed : before == kIdle ? Push::kWake : Push::kQueued;
}

Mailbox::Push Mailbox::push_urgent(Work* work) {
  const Stack::Word before = urgent_.push(work, kClosed);
  if (before == kClosed) return Push::kClosed;
  if (before == kIdle) return Push::kWake;
  // The actor may sleep by the other word. Pairs with go_idle(): it marks that, then looks here.
  return leave_idle() ? Push::kWake : Push::kQueued;
}

// into is empty.
void Mailbox::collect(Stack& stack, Work*& into) {
  if (Stack::holds_entries(stack.word())) into = Stack::oldest_first(stack.exchange(kEmpty));
}

Work* Mailbox::pop(Work*& list) {
  return list == nullptr ? nullptr : std::exchange(list, list->next);
}

Envelope* Mailbox::take() {
  if (message_list_ == nullptr) collect(messages_, message_list_);
  return static_cast<Envelope*>(pop(message_list_));
}

void Mailbox::collect_urgent() { collect(urgent_, urgent_list_); }

bool Mailbox::go_idle() {
  if (message_list_ != nullptr || urgent_list_ != nullptr) return false;
  if (!messages_.replace(kEmpty, kIdle)) return false;
  if (urgent_.word() == kEmpty) return true;
  // An urgent entry came, perhaps before the mark was set: who takes the mark back runs it.
  return !leave_idle();
}

bool Mailbox::go_held() {
  if (urgent_list_ != nullptr) return false;
  return urgent_.replace(kEmpty, kIdle);
}

Mailbox::Rest Mailbox::close() {
  return {close(messages_, message_list_), close(urgent_, urgent_list_)};
}

WorkQueue Mailbox::close(Stack& stack, Work*& list) {
  WorkQueue rest;
  rest.push_all(std::exchange(list, nullptr));
  rest.push_all(Stack::oldest_first(stack.exchange(kClosed)));
  return rest;
}

}  // namespace millrace::actors
