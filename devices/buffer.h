// Buffer: a handle on an array in a device's memory. The handle exists at once, the bytes come
// later (ready()). Backends (CPU, PJRT, sim) implement BufferBody; all other code passes Buffer and
// Buffers by value.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "millrace/core/async/future.h"
#include "millrace/core/base/check.h"
#include "millrace/devices/device_layout.h"
#include "millrace/devices/shape.h"

namespace millrace::devices {

class Client;

// Index of a device within its client (0, 1, ...), as PJRT's local hardware id.
enum class DeviceId : std::int32_t {};
inline int index(DeviceId id) { return static_cast<int>(id); }
inline std::string name_of(DeviceId id) { return "device " + std::to_string(index(id)); }

// Keeps host memory alive that another object owns: a staging block, a user's vector, an
// external reference.
using Owner = std::shared_ptr<const void>;

// Bytes of a buffer that the host can read in place (a CPU device, pinned memory); valid while
// owner lives.
struct HostAccess {
  std::span<const std::byte> bytes;
  Owner owner;
};

// One array in device memory, as its backend sees it. Shared by handles; the last one frees the
// memory once pending uses have ended. Thread-safety: thread-safe.
class BufferBody : public RefCounted, public Pooled {
 public:
  using Pooled::operator new;
  using Pooled::operator delete;

  virtual const Shape& shape() const = 0;
  virtual Client& client() const = 0;
  virtual DeviceId device() const = 0;
  virtual std::size_t size_bytes() const = 0;  // in device memory, padding included
  // How the device keeps it: dense and row-major where the backend knows nothing else.
  virtual Result<DeviceLayout> layout() const { return DeviceLayout::row_major(shape().rank()); }
  // Completes when the bytes are written, or with the error of the work that was to write them.
  virtual Future<void> ready() const = 0;
  // Copies the bytes, dense and row-major, once ready; destination.size() must equal
  // shape().size_bytes(). keep_alive ends with the copy, on whatever thread that does.
  virtual Future<void> copy_to_host(std::span<std::byte> destination, Owner keep_alive) = 0;
  // In place, of a ready buffer; kUnimplemented where the host cannot see it. May block (client.h).
  virtual Result<HostAccess> host_access() = 0;
  // Releases the memory now (once pending uses have ended); later uses give kFailedPrecondition.
  virtual void remove() = 0;
  // True after remove(), after donation, and of what was on a device that was restarted.
  virtual bool removed() const = 0;
};

// Value handle; may be empty: then ready() and host_access() give kInvalidArgument, and anything
// else is CHECKed. Thread-safety: external for the handle, thread-safe for what it points to.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(Ref<BufferBody> body) : body_(std::move(body)) {}

  explicit operator bool() const { return static_cast<bool>(body_); }
  const Shape& shape() const { return there().shape(); }
  DeviceId device() const { return there().device(); }
  std::size_t size_bytes() const { return there().size_bytes(); }
  Future<void> ready() const {
    if (!body_) return empty_error("ready");
    return body_->ready();
  }
  Result<HostAccess> host_access() const {  // may block; fetch does not
    if (!body_) return empty_error("host_access");
    return body_->host_access();
  }
  void remove() const { there().remove(); }
  bool removed() const { return there().removed(); }
  const Ref<BufferBody>& body() const { return body_; }

 private:
  BufferBody& there() const {
    MILLRACE_CHECK(body_, "a Buffer that is empty was used");
    return *body_;
  }
  static std::unexpected<Error> empty_error(const char* call);

  Ref<BufferBody> body_;
};

// An immutable list of buffers (the results of an execution), shared by its copies; one pooled
// allocation.
class Buffers {
 public:
  Buffers() = default;
  explicit Buffers(std::span<const Buffer> buffers);
  template <std::same_as<Buffer>... Items>
    requires(sizeof...(Items) > 0)
  Buffers(const Items&... buffers) {  // NOLINT(google-explicit-constructor)
    const Buffer items[] = {buffers...};
    *this = Buffers(std::span<const Buffer>(items));
  }

  // Takes the handles out of the list.
  static Buffers of_moved(std::span<Buffer> buffers);

  std::size_t size() const { return list_ ? list_->size : 0; }
  bool empty() const { return size() == 0; }
  const Buffer& operator[](std::size_t i) const { return begin()[i]; }
  const Buffer* begin() const { return list_ ? list_->items() : nullptr; }
  const Buffer* end() const { return begin() + size(); }
  operator std::span<const Buffer>() const { return {begin(), size()}; }  // NOLINT

 private:
  struct List final : RefCounted {
    explicit List(std::size_t count) : size(count) {}  // whose items the maker constructs
    ~List() override;
    Buffer* items() { return reinterpret_cast<Buffer*>(this + 1); }
    struct Items {  // a type of its own: (size, size) would be a sized operator delete's
      std::size_t count;
    };
    static void* operator new(std::size_t header, Items items);
    static void operator delete(List* list, std::destroying_delete_t);
    std::size_t size;
  };
  Ref<List> list_;
};

// An array in host memory, dense and row-major, that fetch() gives. Value type, shares its bytes.
class HostArray {
 public:
  HostArray() = default;
  HostArray(Shape shape, std::span<const std::byte> bytes, Owner owner)
      : shape_(shape), bytes_(bytes), owner_(std::move(owner)) {}
  // Owns 64-byte aligned memory, which is recycled (host_array.cc); written through mutable_bytes()
  // by its one holder, before sharing. make: zeroed; make_unwritten: what the last user left.
  // Throws std::bad_alloc, as new does.
  static HostArray make(const Shape& shape);
  static HostArray make_unwritten(const Shape& shape);

  const Shape& shape() const { return shape_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  // Only for an array of make() that has one holder.
  std::span<std::byte> mutable_bytes() {
    return {const_cast<std::byte*>(bytes_.data()), bytes_.size()};
  }
  // The elements; none of an empty handle. T is CHECKed: the C++ type of the dtype; for a dtype
  // that has none (bf16, f8, i4, ...), an unsigned integer or a type of the user's, as wide as one
  // element.
  template <class T>
  std::span<const T> as() const {
    if (dtype_of<T> != shape_.dtype()) check_elements(dtype_of<T>, sizeof(T));
    return {reinterpret_cast<const T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }
  const Owner& owner() const { return owner_; }

 private:
  void check_elements(DType asked, std::size_t width) const;

  Shape shape_;
  std::span<const std::byte> bytes_;
  Owner owner_;
};

}  // namespace millrace::devices
