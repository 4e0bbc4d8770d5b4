// Errors, events, storage and the worker.
#include <cstring>

#include "tests/plugins/healthy/objects.h"

namespace millrace::memory_plugin {

abi::Error* make_error(int code, std::string message) {
  return new abi::Error{code, std::move(message)};
}
abi::Event* make_event(EventRef state) { return new abi::Event{std::move(state)}; }
EventRef ready_state() {
  auto state = std::make_shared<EventState>();
  state->set({});
  return state;
}
abi::Event* make_ready_event() { return make_event(ready_state()); }

namespace {
abi::Error* error_of(const Outcome& outcome) {
  return outcome.code == 0 ? nullptr : make_error(outcome.code, outcome.message);
}
}  // namespace

void EventState::set(Outcome outcome) {
  std::vector<std::pair<Callback, void*>> callbacks;
  {
    const std::scoped_lock lock(mutex_);
    if (ready_) return;
    outcome_ = std::move(outcome);
    ready_ = true;
    callbacks.swap(callbacks_);
  }
  set_.notify_all();
  for (const auto& [callback, user_arg] : callbacks) callback(error_of(outcome_), user_arg);
}

bool EventState::ready() const {
  const std::scoped_lock lock(mutex_);
  return ready_;
}

const Outcome& EventState::wait() const {
  std::unique_lock lock(mutex_);
  set_.wait(lock, [this] { return ready_; });
  return outcome_;
}

void EventState::on_ready(Callback callback, void* user_arg) {
  {
    const std::scoped_lock lock(mutex_);
    if (!ready_) {
      callbacks_.emplace_back(callback, user_arg);
      return;
    }
  }
  callback(error_of(outcome_), user_arg);
}

std::shared_ptr<Storage> Storage::make(std::size_t size) {
  auto storage = std::make_shared<Storage>();
  storage->own.resize(size == 0 ? 1 : size);
  storage->data = storage->own.data();
  storage->size = size;
  return storage;
}

Storage::~Storage() {
  if (on_delete != nullptr) on_delete(data, on_delete_arg);
  if (released) released->set({});
}

Worker::Worker() : thread_([this] { loop(); }) {}

Worker::~Worker() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Worker::post(std::function<void()> task) {
  {
    const std::scoped_lock lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  wake_.notify_one();
}

void Worker::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    {
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }
    lock.lock();
  }
}

void add_errors_and_events(abi::Api& api) {
  api.set([](abi::ErrorDestroyArgs* a) { delete a->error; });
  api.set([](abi::ErrorMessageArgs* a) {
    a->message = a->error->message.data();
    a->message_size = a->error->message.size();
  });
  add(api, [](abi::ErrorGetCodeArgs* a) { a->code = a->error->code; });
  add(api, [](abi::EventDestroyArgs* a) { delete a->event; });
  add(api, [](abi::EventIsReadyArgs* a) { a->is_ready = a->event->state->ready(); });
  add(api, [](abi::EventErrorArgs* a) -> abi::Error* {
    if (!a->event->state->ready()) {
      return make_error(kFailedPrecondition, "the event is not ready");
    }
    return error_of(a->event->state->wait());
  });
  add(api, [](abi::EventAwaitArgs* a) -> abi::Error* {
    // The handle may be destroyed by a callback meanwhile; what it refers to may not.
    const EventRef state = a->event->state;
    return error_of(state->wait());
  });
  add(api, [](abi::EventOnReadyArgs* a) {
    const EventRef state = a->event->state;
    state->on_ready(a->callback, a->user_arg);
  });
  add(api, [](abi::EventCreateArgs* a) { a->event = make_event(std::make_shared<EventState>()); });
  add(api, [](abi::EventSetArgs* a) {
    const EventRef state = a->event->state;
    state->set({a->error_code, a->error_message == nullptr
                                   ? std::string()
                                   : std::string(a->error_message, a->error_message_size)});
  });
}

}  // namespace millrace::memory_plugin
