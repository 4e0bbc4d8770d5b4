#include "millrace/devices/buffer.h"

#include <new>

namespace millrace::devices {

std::unexpected<Error> Buffer::empty_error(const char* call) {
  return fail(ErrorCode::kInvalidArgument, std::string(call) + " was called on an empty Buffer");
}

namespace {

// Not i1, whose bytes may be read as those of any type that is as wide.
bool has_cpp_type(DType type) {
  constexpr bool kHas[] = {
#define MILLRACE_DTYPE(name, text, bits, type) !std::same_as<type, void>,
#include "millrace/devices/dtypes.inc"
  };
  return type != DType::kI1 && kHas[static_cast<std::size_t>(type)];
}

}  // namespace

void HostArray::check_elements(DType asked, std::size_t width) const {
  const DType type = shape_.dtype();
  if (type == DType::kInvalid) return;
  const bool own = has_cpp_type(type);
  if (!own && width == byte_width(type) && (asked == DType::kInvalid || is_unsigned_integer(asked)))
    return;
  // Each sub-byte integer lies in a byte of its sign.
  if (!own && width == 1 && asked == DType::kI8 && is_signed_integer(type)) return;
  const std::string message =
      "HostArray::as<T>() of a " + shape_.to_string() + " was asked for elements of " +
      (asked == DType::kInvalid ? std::string("another type") : std::string(to_string(asked))) +
      ", " + std::to_string(width) + " bytes wide";
  check_failed("T is the type of the elements", message.c_str());
}

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
