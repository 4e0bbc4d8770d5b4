// Faults of donation, and of deletion of what is in use.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "tests/plugins/faulty/faults.h"

namespace millrace::faulty_plugin {
namespace {

using Execute = abi::LoadedExecutableExecuteArgs;

std::mutex mutex;

bool is_donating(const Execute* a) { return name_of(a->executable) == "donated_increment"; }

// A deleted buffer becomes a live one of zeros.
void revive(abi::Buffer* buffer) {
  if (!buffer->storage) buffer->storage = Storage::make(buffer->bytes);
}

void fill_with_garbage(Storage& storage) { std::memset(storage.data, 0x3f, storage.size); }

// Reads that are done when a callback is set on their event, and not before.
struct LateRead {
  std::shared_ptr<Storage> storage;
  EventRef ready;
  void* target;
  std::size_t size;
};
std::map<EventState*, LateRead> late_reads;

void read_late(abi::Api& api) {
  instead<[](abi::BufferToHostBufferArgs* a) -> abi::Error* {
    std::shared_ptr<Storage> storage;
    if (a->dst == nullptr || a->dst_size < a->src->bytes) return healthy(a);
    if (abi::Error* error = live_storage(a->src, storage)) return error;
    auto done = std::make_shared<EventState>();
    const std::scoped_lock lock(mutex);
    late_reads[done.get()] = {storage, a->src->ready, a->dst, a->src->bytes};
    a->event = make_event(done);
    return nullptr;
  }>(api);
  before<[](abi::EventOnReadyArgs* a) {
    LateRead read;
    {
      const std::scoped_lock lock(mutex);
      if (const auto found = late_reads.find(a->event->state.get()); found != late_reads.end()) {
        read = found->second;
        late_reads.erase(found);
      }
    }
    if (read.storage) {
      const memory_plugin::Outcome& outcome = read.ready->wait();
      if (outcome.code == 0) std::memcpy(read.target, read.storage->data, read.size);
      a->event->state->set(outcome);
    }
  }>(api);
}

bool is_being_read(const Storage* storage) {
  const std::scoped_lock lock(mutex);
  return std::ranges::any_of(late_reads,
                             [&](const auto& r) { return r.second.storage.get() == storage; });
}

// The last launch of a program that takes a while.
struct LongLaunch {
  abi::LoadedExecutable* program = nullptr;
  abi::Buffer* result = nullptr;
};
LongLaunch last_long;

void note_long_launches(abi::Api& api) {
  after<[](Execute* a) {
    if (name_of(a->executable) != "long_sum") return;
    const std::scoped_lock lock(mutex);
    last_long = {a->executable, a->output_lists[0][0]};
  }>(api);
}

// The argument of the last long launch, known by its contents; its result may look like it.
bool is_argument_in_use(abi::Buffer* buffer) {
  {
    const std::scoped_lock lock(mutex);
    if (last_long.result == nullptr || last_long.result == buffer) return false;
  }
  return buffer->storage && buffer->dims == std::vector<std::int64_t>{1 << 14} &&
         reinterpret_cast<float*>(buffer->storage->data)[0] == 3;
}

void erase_long_result(const abi::Buffer* buffer) {
  const std::scoped_lock lock(mutex);
  if (buffer == last_long.result) last_long = {};
}

// As if it had used what was taken from it, however long it takes.
void spoil_long_result() {
  const std::scoped_lock lock(mutex);
  if (last_long.result != nullptr) spoil_contents(last_long.result);
}

// Events without a waiter so far, by their buffers, and those whose buffers were destroyed.
std::map<abi::Buffer*, abi::Event*> watched;
std::set<abi::Event*> without_buffer;

}  // namespace

Faults lifetime_faults() {
  return {
      {"donation.result", after<[](Execute* a) {
         if (is_donating(a)) spoil_contents(a->output_lists[0][0]);
       }>},
      {"donation.deletes", before<[](Execute* a) {
         static const std::int64_t first = 0;
         if (is_donating(a)) {
           a->options->non_donatable_input_indices = &first;
           a->options->num_non_donatable_input_indices = 1;
         }
       }>},
      {"donation.used_again", before<[](Execute* a) {
         if (is_donating(a)) revive(a->argument_lists[0][0]);
       }>},
      {"donation.kept",
       before<[](Execute* a) { a->options->num_non_donatable_input_indices = 0; }>},
      {"donation.twice", instead<[](Execute* a) {
         const bool twice = name_of(a->executable) == "donated_pair" && a->num_args == 2 &&
                            a->argument_lists[0][0] == a->argument_lists[0][1];
         if (!twice) return healthy(a);
         abi::Buffer* second = clone(a->argument_lists[0][1]);
         abi::Buffer* arguments[] = {a->argument_lists[0][0], second};
         abi::Buffer* const* lists[] = {arguments};
         a->argument_lists = lists;
         abi::Error* error = healthy(a);
         delete second;
         // As if both had been added to in one place.
         if (error == nullptr) spoil_contents(a->output_lists[0][0]);
         return error;
       }>},
      {"donation.refused_keeps", instead<[](Execute* a) {
         abi::Error* error = healthy(a);
         if (error != nullptr && name_of(a->executable) == "donated_pair" && a->num_args == 1) {
           a->argument_lists[0][0]->storage.reset();
         }
         return error;
       }>},
      {"donation.lent_memory", instead<[](Execute* a) {
         if (!is_donating(a)) return healthy(a);
         const std::shared_ptr<Storage> storage = a->argument_lists[0][0]->storage;
         abi::Error* error = healthy(a);
         if (error == nullptr && storage->immutable) {
           a->output_lists[0][0]->ready->wait();
           fill_with_garbage(*storage);
         }
         return error;
       }>},
      {"donation.while_referenced", instead<[](Execute* a) {
         if (!is_donating(a)) return healthy(a);
         const std::shared_ptr<Storage> held = a->argument_lists[0][0]->held;
         abi::Error* error = healthy(a);
         if (error == nullptr && held) {
           a->output_lists[0][0]->ready->wait();
           fill_with_garbage(*held);
         }
         return error;
       }>},
      {"deletion.while_referenced", before<[](abi::BufferDeleteArgs* a) {
         if (a->buffer->held) fill_with_garbage(*a->buffer->held);
       }>},
      {"donation.while_read",
       [](abi::Api& api) {
         read_late(api);
         instead<[](Execute* a) {
           if (!is_donating(a)) return healthy(a);
           const std::shared_ptr<Storage> storage = a->argument_lists[0][0]->storage;
           abi::Error* error = healthy(a);
           if (error == nullptr && storage && is_being_read(storage.get())) {
             a->output_lists[0][0]->ready->wait();
             fill_with_garbage(*storage);
           }
           return error;
         }>(api);
       }},

      {"deletion.is_deleted", after<[](abi::BufferIsDeletedArgs* a) { a->is_deleted = false; }>},
      {"deletion.twice", instead<[](abi::BufferDeleteArgs* a) {
         const std::scoped_lock lock(mutex);
         if (!a->buffer->storage) return make_error(9, "it was deleted before");
         return healthy(a);
       }>},
      {"deletion.then_read", before<[](abi::BufferToHostBufferArgs* a) { revive(a->src); }>},
      {"deletion.then_executed", before<[](Execute* a) {
         if (name_of(a->executable) == "increment" && a->num_args == 1) {
           revive(a->argument_lists[0][0]);
         }
       }>},
      {"deletion.while_executing",
       [](abi::Api& api) {
         note_long_launches(api);
         before<[](abi::BufferDeleteArgs* a) {
           if (is_argument_in_use(a->buffer)) spoil_long_result();
         }>(api);
         before<[](abi::BufferDestroyArgs* a) { erase_long_result(a->buffer); }>(api);
       }},
      {"deletion.destroyed_while_executing",
       [](abi::Api& api) {
         note_long_launches(api);
         before<[](abi::BufferDestroyArgs* a) {
           erase_long_result(a->buffer);
           if (is_argument_in_use(a->buffer)) spoil_long_result();
         }>(api);
       }},
      {"deletion.while_reading",
       [](abi::Api& api) {
         read_late(api);
         before<[](abi::BufferDeleteArgs* a) {
           const std::shared_ptr<Storage> storage = a->buffer->storage;
           if (storage && 60'000 < storage->size && is_being_read(storage.get())) {
             a->buffer->ready->wait();
             fill_with_garbage(*storage);
           }
         }>(api);
       }},
      {"deletion.program_while_executing",
       [](abi::Api& api) {
         note_long_launches(api);
         before<[](abi::BufferDestroyArgs* a) { erase_long_result(a->buffer); }>(api);
         before<[](abi::LoadedExecutableDestroyArgs* a) {
           if (a->executable == last_long.program) std::abort();
         }>(api);
       }},
      {"deletion.result_before_ready",
       [](abi::Api& api) {
         after<[](abi::BufferReadyEventArgs* a) {
           const std::scoped_lock lock(mutex);
           watched[a->buffer] = a->event;
         }>(api);
         before<[](abi::BufferDestroyArgs* a) {
           const std::scoped_lock lock(mutex);
           if (const auto node = watched.extract(a->buffer)) without_buffer.insert(node.mapped());
         }>(api);
         instead<[](abi::EventOnReadyArgs* a) -> abi::Error* {
           const bool too_late = [&] {
             const std::scoped_lock lock(mutex);
             std::erase_if(watched, [&](const auto& one) { return one.second == a->event; });
             return without_buffer.contains(a->event);
           }();
           if (!too_late) return healthy(a);
           a->callback(make_error(1, "it was destroyed"), a->user_arg);
           return nullptr;
         }>(api);
         before<[](abi::EventDestroyArgs* a) {
           const std::scoped_lock lock(mutex);
           std::erase_if(watched, [&](const auto& one) { return one.second == a->event; });
           without_buffer.erase(a->event);
         }>(api);
       }},
      {"deletion.client_with_work",
       [](abi::Api& api) {
         note_long_launches(api);
         after<[](abi::BufferToHostBufferArgs* a) { erase_long_result(a->src); }>(api);
         after<[](abi::BufferReadyEventArgs* a) { erase_long_result(a->buffer); }>(api);
         before<[](abi::ClientDestroyArgs* /*a*/) {
           if (last_long.result != nullptr) std::abort();  // its end was not asked for
         }>(api);
       }},
  };
}

}  // namespace millrace::faulty_plugin
