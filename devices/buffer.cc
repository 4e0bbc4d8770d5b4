#include "millrace/devices/buffer.h"

#include <memory>
#include <new>

namespace millrace::devices {

Buffers::Buffers(std::span<const Buffer> buffers) {
  if (buffers.empty()) return;
  list_ = Ref<List>::adopt(new (List::Items{buffers.size()}) List(buffers.size()));
  std::uninitialized_copy(buffers.begin(), buffers.end(), list_->items());
}

Buffers Buffers::of_moved(std::span<Buffer> buffers) {
  Buffers moved;
  if (buffers.empty()) return moved;
  moved.list_ = Ref<List>::adopt(new (List::Items{buffers.size()}) List(buffers.size()));
  std::uninitialized_move(buffers.begin(), buffers.end(), moved.list_->items());
  return moved;
}

Buffers::List::~List() { std::destroy_n(items(), size); }

void* Buffers::List::operator new(std::size_t header, Items items) {
  return pool_allocate(header + items.count * sizeof(Buffer));
}

void Buffers::List::operator delete(List* list, std::destroying_delete_t) {
  const std::size_t bytes = sizeof(List) + list->size * sizeof(Buffer);
  list->~List();
  pool_free(list, bytes);
}

}  // namespace millrace::devices
