#include "millrace/devices/cpu/late_array.h"

#include <string>

#include "millrace/core/async/combinators.h"
#include "millrace/core/async/executor.h"
#include "millrace/devices/cpu/buffer.h"

namespace millrace::devices::cpu {

Status LateArray::take_over(const Buffer& source, const Future<void>& after) {
  const std::string what = "the bytes of " + source.shape().to_string() + " cannot become " +
                           buffer_.shape().to_string() + ": ";
  if (&source.body()->client() != &buffer_.body()->client() ||
      source.device() != buffer_.device()) {
    return ::millrace::fail(ErrorCode::kInvalidArgument, what + "they are on another device");
  }
  if (source.size_bytes() != buffer_.size_bytes()) {
    return ::millrace::fail(ErrorCode::kInvalidArgument,
                            what + "these are " + std::to_string(source.size_bytes()) + " bytes, " +
                                std::to_string(buffer_.size_bytes()) + " are expected");
  }
  auto& body = static_cast<CpuBuffer&>(*source.body());
  Ref<CpuArray> from = body.array() ? body.take() : nullptr;
  if (!from) {
    return ::millrace::fail(ErrorCode::kFailedPrecondition,
                            what + "the buffer was donated or removed before");
  }
  block_ = nullptr;
  const Future<void> both = when_all(Future<void>(from->ready()), after);
  both.then(inline_executor(),
            [from = std::move(from), to = std::move(array_)](const Result<void>& ready) mutable {
              if (!ready) return CpuArray::fail(std::move(to), ready.error());
              Ref<Block> block = from->block();
              from = nullptr;  // so that a launch that is donated the array may find itself alone
                               // with it
              CpuArray::write(std::move(to), std::move(block));
            })
      .ignore();
  return {};
}

}  // namespace millrace::devices::cpu
