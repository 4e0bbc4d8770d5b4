#include "millrace/tools/train/first_arrays.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "millrace/core/check.h"

namespace millrace::train {

using devices::Buffer;
using devices::Buffers;
using devices::HostArray;

Task<Buffers> new_arrays(devices::Device device, devices::Executable init, std::uint64_t seed,
                         CallOptions call) {
  HostArray array = HostArray::make(devices::Shape(devices::DType::kU32, {}));
  // The program takes 32 bits; a seed beyond them counts with all of its own.
  constexpr std::uint32_t kOdd = 0x9E3779B9;
  const auto word =
      static_cast<std::uint32_t>(seed) ^ static_cast<std::uint32_t>(seed >> 32) * kOdd;
  std::memcpy(array.mutable_bytes().data(), &word, sizeof(word));
  devices::PutOptions put;
  put.call = call;
  devices::ExecuteOptions execute;
  execute.call = call;
  const Future<Buffer> seed_put =
      device.put({array.bytes().data(), array.shape(), {}, array.owner()}, put);
  Result<Buffer> seed_buffer = co_await seed_put;
  if (!seed_buffer) co_return seed_buffer.error();
  const Buffer arguments[] = {*seed_buffer};
  const Future<Buffers> making = device.execute(init, std::span<const Buffer>(arguments), execute);
  co_return co_await making;
}

Task<Buffers> committed_arrays(devices::Device device, std::vector<TensorSpec> arrays,
                               std::shared_ptr<const Committed> committed, CallOptions call) {
  devices::PutOptions put;
  put.call = call;
  std::vector<Future<Buffer>> puts;
  for (const TensorSpec& wanted : arrays) {
    const std::string name = checkpoint_array_name(wanted).value_or(wanted.name);
    const auto found = std::ranges::find(committed->names, name);
    MILLRACE_CHECK(found != committed->names.end(), "what was committed has every array");
    const auto& array =
        committed->arrays[static_cast<std::size_t>(found - committed->names.begin())];
    puts.push_back(device.put({array.bytes().data(), array.shape(), {}, array.owner()}, put));
  }
  std::vector<Buffer> buffers;
  Status failed;
  for (const Future<Buffer>& one : puts) {
    Result<Buffer> buffer = co_await one;
    if (buffer) {
      buffers.push_back(*std::move(buffer));
    } else if (failed) {
      failed = std::unexpected(buffer.error());
    }
  }
  if (!failed) co_return failed.error();
  co_return Buffers(buffers);
}

}  // namespace millrace::train
