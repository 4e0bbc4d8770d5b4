#include "millrace/devices/cpu/kernels/body.h"

#include <algorithm>
#include <cstring>

namespace millrace::devices::cpu::definition {

const ScalarOp* Body::only_op() const {
  if (arguments_ != 2 || instructions_.size() != 1 || results_.size() != 1) return nullptr;
  const Instruction& one = instructions_[0];
  // The arguments are the first two slots.
  const bool both = one.operands[0] + one.operands[1] == 1;
  return one.what == What::kApply && both && results_[0] == one.result ? &one.op : nullptr;
}

Body::Frame::Frame(const Body& body, std::span<const ConstArray> captured, Scratch& scratch)
    : body_(body),
      slots_(scratch.take<Scalar>(static_cast<std::int64_t>(body.initial_.size()))),
      bytes_(scratch.take<std::byte>(static_cast<std::int64_t>(body.initial_bytes_.size()))),
      operands_(scratch.take<ConstArray>(static_cast<std::int64_t>(body.most_operands_))),
      results_(scratch.take<MutableArray>(static_cast<std::int64_t>(body.most_results_))),
      kernel_scratch_(scratch.take<std::byte>(static_cast<std::int64_t>(body.most_scratch_))) {
  if (scratch.measures()) return;
  std::ranges::copy(body.initial_, slots_.begin());
  std::ranges::copy(body.initial_bytes_, bytes_.begin());
  for (std::size_t i = 0; i < body.captured_.size(); ++i) {
    const auto [slot, array] = body.captured_[i];
    const ConstArray& from = captured[i];
    if (slot >= 0) {
      slots_[static_cast<std::size_t>(slot)] = load(from.shape.dtype(), from.data);
    } else if (const std::size_t bytes = from.shape.size_bytes(); bytes != 0) {
      std::memcpy(&bytes_[body.arrays_[static_cast<std::size_t>(array)].offset], from.data, bytes);
    }
  }
}

void Body::Frame::run() {
  const auto slot = [this](int i) -> Scalar& { return slots_[static_cast<std::size_t>(i)]; };
  const auto place = [this](int i) -> const ArrayPlace& {
    return body_.arrays_[static_cast<std::size_t>(i)];
  };
  for (std::size_t at = 0; at < body_.instructions_.size();) {
    const Instruction& one = body_.instructions_[at++];
    const int from = one.operands[0];
    switch (one.what) {
      case What::kApply: {
        const Scalar operands[3] = {slot(from), slot(one.operands[1]), slot(one.operands[2])};
        slot(one.result) = one.op.apply(operands);
        break;
      }
      case What::kDequantise:
        slot(one.result) = rounded(one.quant->expressed, dequantised(*one.quant, 0, slot(from)));
        break;
      case What::kQuantise:
        slot(one.result) = quantised(*one.quant, 0, slot(from));
        break;
      case What::kCopy:
        slot(one.result) = slot(from);
        break;
      case What::kCopyArray:
        std::memcpy(&bytes_[place(one.result).offset], &bytes_[place(from).offset],
                    place(from).shape.size_bytes());
        break;
      case What::kLoad:
        slot(one.result) = load(place(from).shape.dtype(), &bytes_[place(from).offset]);
        break;
      case What::kStore:
        store(place(one.result).shape.dtype(), slot(from), &bytes_[place(one.result).offset]);
        break;
      case What::kKernel:
        run_kernel(static_cast<std::size_t>(from));
        if (!status_) return;
        break;
      case What::kJumpUnless:
        if (slot(from).u != 0) break;
        [[fallthrough]];
      case What::kJump:
        at = static_cast<std::size_t>(one.result);
        break;
    }
  }
}

void Body::Frame::run_kernel(std::size_t kernel) {
  const Inner& inner = body_.kernels_[kernel];
  const auto fill = [this](auto arrays, const std::vector<int>& ids) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const ArrayPlace& place = body_.arrays_[static_cast<std::size_t>(ids[i])];
      arrays[i] = {place.shape, bytes_.data() + place.offset};
    }
    return arrays.first(ids.size());
  };
  status_ = inner.kernel->run(fill(operands_, inner.operands), fill(results_, inner.results),
                              kernel_scratch_);
}

}  // namespace millrace::devices::cpu::definition
