// Numbers of ranks, in place of arrays of devices: what agree() and split() send. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "millrace/collectives/collective_call.h"
#include "millrace/devices/buffer.h"

namespace millrace::collectives {

enum class AgreeOp : std::uint8_t { kMin, kMax, kAnd, kSum };  // kAnd: of bits; kSum wraps
std::string_view to_string(AgreeOp op);

// Each rank gives one number, and gets the result of all.
CollectiveCall agree_call(AgreeOp op);
// Each rank gives two, and gets those of all ranks, in the order of the ranks.
CollectiveCall split_call();

// The numbers of a rank as the array that its call says, and back. CHECKs the count.
devices::HostArray array_of(const CollectiveCall& call, std::span<const std::int64_t> numbers);
using Numbers = std::shared_ptr<const std::vector<std::int64_t>>;
Numbers numbers_of(const CollectiveCall& call, std::span<const std::byte> array);

}  // namespace millrace::collectives
