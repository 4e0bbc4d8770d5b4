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

void Mailbox::List::append_reversed(Work* newest) {
  Work* first = nullptr;
  while (newest != nullptr) {
    Work* const older = newest->next;
    newest->next = first;
    first = newest;
    newest = older;
  }
  Work** end = &head;  // which is empty, save when the mailbox closes
  while (*end != nullptr) end = &(*end)->next;
  *end = first;
}

std::uintptr_t Mailbox::link(std::atomic<std::uintptr_t>& word, Work* work) {
  std::uintptr_t seen = word.load();
  do {
    if (seen == kClosed) return kClosed;
    work->next = holds_entries(seen) ? reinterpret_cast<Work*>(seen) : nullptr;
  } while (!word.compare_exchange_weak(seen, reinterpret_cast<std::uintptr_t>(work)));
  return seen;
}

Mailbox::Push Mailbox::push(Envelope* message) {
  switch (link(messages_, message)) {
    case kClosed:
      return Push::kClosed;
    case kIdle:
      return Push::kWake;
    default:
      return Push::kQueued;
  }
}

Mailbox::Push Mailbox::push_urgent(Work* work) {
  switch (link(urgent_, work)) {
    case kClosed:
      return Push::kClosed;
    case kIdle:
      return Push::kWake;
    default:
      break;
  }
  // The actor may sleep by the other word. Pairs with go_idle(): it marks that word idle and then
  // looks here.
  std::uintptr_t idle = kIdle;
  return messages_.compare_exchange_strong(idle, kEmpty) ? Push::kWake : Push::kQueued;
}

void Mailbox::collect(std::atomic<std::uintptr_t>& word, List& into) {
  if (!holds_entries(word.load())) return;
  into.append_reversed(reinterpret_cast<Work*>(word.exchange(kEmpty)));
}

Envelope* Mailbox::take() {
  if (message_list_.head == nullptr) collect(messages_, message_list_);
  return static_cast<Envelope*>(message_list_.pop());
}

void Mailbox::collect_urgent() { collect(urgent_, urgent_list_); }

bool Mailbox::go_idle() {
  if (message_list_.head != nullptr || urgent_list_.head != nullptr) return false;
  std::uintptr_t empty = kEmpty;
  if (!messages_.compare_exchange_strong(empty, kIdle)) return false;
  if (urgent_.load() == kEmpty) return true;
  // An urgent entry came, perhaps before we were marked: whoever takes the mark back runs the
  // actor.
  std::uintptr_t idle = kIdle;
  return !messages_.compare_exchange_strong(idle, kEmpty);
}

bool Mailbox::go_held() {
  if (urgent_list_.head != nullptr) return false;
  std::uintptr_t empty = kEmpty;
  return urgent_.compare_exchange_strong(empty, kIdle);
}

Mailbox::Rest Mailbox::close() {
  const std::uintptr_t messages = messages_.exchange(kClosed);
  const std::uintptr_t urgent = urgent_.exchange(kClosed);
  if (holds_entries(messages)) message_list_.append_reversed(reinterpret_cast<Work*>(messages));
  if (holds_entries(urgent)) urgent_list_.append_reversed(reinterpret_cast<Work*>(urgent));
  const Rest rest{static_cast<Envelope*>(message_list_.head), urgent_list_.head};
  message_list_ = {};
  urgent_list_ = {};
  return rest;
}

}  // namespace millrace::actors
