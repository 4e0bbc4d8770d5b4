// FakeSource: generated images for machines without a data set. Every class has its own pattern,
// and every image is its class's pattern with part of another class's in it, up to a half, and
// noise: a network learns them in some hundred steps, and not all of them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "millrace/transfer/item_source.h"

namespace millrace::transfer {

struct FakeSourceOptions {
  std::uint64_t items = 60'000;
  std::int64_t height = 28;
  std::int64_t width = 28;
  int classes = 10;  // 1 to FakeSource::kMostClasses
  std::uint64_t seed = 0;
  // Items from this one on: another range of the same data, for a test split.
  std::uint64_t first_item = 0;
};

// Fields as those of an IDX data set: "images" (height x width, ui8), "labels" (ui8). An item's
// bytes depend on (seed, item) alone. Thread-safety: immutable.
class FakeSource final : public ItemSource {
 public:
  static constexpr int kMostClasses = 256;  // a label is a byte

  explicit FakeSource(const FakeSourceOptions& options);

  std::uint64_t items() const override { return options_.items; }
  std::span<const Field> fields() const override { return fields_; }
  // The options.
  std::string fingerprint() const override;
  // Nothing is read; decode generates.
  Future<void> read(const Ref<SourceBatch>& batch, std::stop_token stop) override;
  Future<void> decode(const Ref<SourceBatch>& batch, std::stop_token stop) override;

  std::uint8_t label(std::uint64_t item) const;
  // image has height * width bytes.
  void generate(std::uint64_t item, std::span<std::byte> image) const;

 private:
  const std::uint8_t* pattern(std::uint8_t label) const {
    return patterns_.data() + label * fields_[0].item.size_bytes();
  }

  FakeSourceOptions options_;
  std::array<Field, 2> fields_;
  std::vector<std::uint8_t> patterns_;  // classes x height x width
};

}  // namespace millrace::transfer
