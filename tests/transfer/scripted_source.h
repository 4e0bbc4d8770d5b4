// ScriptedSource: a source whose stages take the time that a test says, use no CPU, and fail or
// hang where it says.
#pragma once

#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include "millrace/core/async/combinators.h"
#include "millrace/core/async/environment.h"
#include "millrace/transfer/item_source.h"

namespace millrace::transfer {

// Completes after duration, or with kCancelled on stop; leaves no timer behind.
inline Future<void> sleep_for(const Environment& environment, Duration duration,
                              std::stop_token stop) {
  return sleep_until(environment.clock->now() + duration, *environment.timers, std::move(stop));
}

// Each item is one u64, its own index. Everything is set before the loader is made, except
// release().
class ScriptedSource final : public ItemSource {
 public:
  using Times = std::function<Duration(const SourceBatch&)>;
  using Script = std::function<Future<void>(SourceBatch&, std::stop_token)>;

  ScriptedSource(const Environment& environment, std::uint64_t items)
      : environment_(environment), items_(items) {}

  Times read_time = [](const SourceBatch&) { return Duration(0); };
  Times decode_time = read_time;
  // Instead of the stage, where it gives a valid future; may throw.
  Script on_read;
  Script on_decode;
  std::size_t raw_bytes = 0;

  std::uint64_t items() const override { return items_; }
  std::span<const Field> fields() const override { return fields_; }
  std::size_t raw_item_bytes() const override { return raw_bytes; }

  Future<void> read(const Ref<SourceBatch>& batch, std::stop_token stop) override {
    if (on_read) {
      if (Future<void> scripted = on_read(*batch, stop); scripted.valid()) return scripted;
    }
    batch->raw = std::make_shared<PooledVector<std::uint64_t>>(batch->items);
    return wait(read_time(*batch), stop);
  }
  Future<void> decode(const Ref<SourceBatch>& batch, std::stop_token stop) override {
    if (on_decode) {
      if (Future<void> scripted = on_decode(*batch, stop); scripted.valid()) return scripted;
    }
    const auto& raw = *std::static_pointer_cast<PooledVector<std::uint64_t>>(batch->raw);
    std::memcpy(batch->fields[0].data(), raw.data(), raw.size() * sizeof(std::uint64_t));
    return wait(decode_time(*batch), stop);
  }

 private:
  Future<void> wait(Duration duration, std::stop_token stop) const {
    if (duration == Duration(0)) return make_ready();
    return sleep_for(environment_, duration, std::move(stop));
  }

  const Environment environment_;
  const std::uint64_t items_;
  const std::array<Field, 1> fields_{Field{"index", devices::Shape(devices::DType::kU64, {})}};
};

}  // namespace millrace::transfer
