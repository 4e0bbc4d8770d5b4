#include "millrace/actors/mailbox.h"

namespace millrace::actors {

Work* Mailbox::List::pop() {
  Work* work = head;
  if (work != nullptr) {
    head = work->next;
    work->next = nullptr;
  }
  return work;
}

void Mailbox::List::append(Work* list) {
  Work** end = &head;  // which is empty, save when the mailbox closes
  while (*end != nullptr) end = &(*end)->next;
  *end = list;
}

Mailbox::Push Mailbox::push(Envelope* message) {
  switch (messages_.push(message, kClosed)) {
    case kClosed:
      return Push::kClosed;
    case kIdle:
      return Push::kWake;
    default:
      return Push::kQueued;
  }
}

Mailbox::Push Mailbox::push_urgent(Work* work) {
  switch (urgent_.push(work, kClosed)) {
    case kClosed:
      return Push::kClosed;
    case kIdle:
      return Push::kWake;
    default:
      break;
  }
  // The actor may sleep by the other word. Pairs with go_idle(): it marks that word idle and then
  // looks here.
  return messages_.replace(kIdle, kEmpty) ? Push::kWake : Push::kQueued;
}

void Mailbox::collect(Stack& stack, List& into) {
  if (!Stack::holds_entries(stack.word())) return;
  into.append(Stack::oldest_first(stack.exchange(kEmpty)));
}

Envelope* Mailbox::take() {
  if (message_list_.head == nullptr) collect(messages_, message_list_);
  return static_cast<Envelope*>(message_list_.pop());
}

void Mailbox::collect_urgent() { collect(urgent_, urgent_list_); }

bool Mailbox::go_idle() {
  if (message_list_.head != nullptr || urgent_list_.head != nullptr) return false;
  if (!messages_.replace(kEmpty, kIdle)) return false;
  if (urgent_.word() == kEmpty) return true;
  // An urgent entry came, perhaps before the mark was set: the thread that takes the mark back runs
  // the actor.
  return !messages_.replace(kIdle, kEmpty);
}

bool Mailbox::go_held() {
  if (urgent_list_.head != nullptr) return false;
  return urgent_.replace(kEmpty, kIdle);
}

Mailbox::Rest Mailbox::close() {
  message_list_.append(Stack::oldest_first(messages_.exchange(kClosed)));
  urgent_list_.append(Stack::oldest_first(urgent_.exchange(kClosed)));
  const Rest rest{static_cast<Envelope*>(message_list_.head), urgent_list_.head};
  message_list_ = {};
  urgent_list_ = {};
  return rest;
}

}  // namespace millrace::actors
