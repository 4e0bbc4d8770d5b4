#include "millrace/transfer/fake_source.h"

#include <algorithm>

#include "millrace/core/base/check.h"
#include "millrace/core/base/philox.h"

namespace millrace::transfer {
namespace {

using devices::DType;
using devices::Shape;

constexpr std::int64_t kCell = 4;    // a pattern is made of squares of this many pixels
constexpr int kNoise = 96;           // noise is uniform in [-kNoise, kNoise]
constexpr std::int64_t kShift = 14;  // an image is moved by fewer pixels, down and to the right
constexpr int kOther = 50;           // percent of another class's pattern that an image has at most
// The streams of this file, apart from those of the devices of a run.
constexpr std::uint32_t kPatternDomain = 0x70617474;
constexpr std::uint32_t kLabelDomain = 0x6c61626c;
constexpr std::uint32_t kNoiseDomain = 0x6e6f6973;

}  // namespace

FakeSource::FakeSource(const FakeSourceOptions& options)
    : options_(options),
      fields_{Field{"images", Shape(DType::kU8, {options.height, options.width})},
              Field{"labels", Shape(DType::kU8, {})}} {
  MILLRACE_CHECK(options.classes > 0 && options.classes <= kMostClasses, "a class is one byte");
  const std::int64_t columns = (options.width + kCell - 1) / kCell;
  patterns_.reserve(static_cast<std::size_t>(options.classes * options.height * options.width));
  for (int c = 0; c < options.classes; ++c) {
    RandomStream random(options.seed, kPatternDomain, static_cast<std::uint64_t>(c));
    std::vector<std::uint8_t> cells(
        static_cast<std::size_t>((options.height + kCell - 1) / kCell * columns));
    for (std::uint8_t& cell : cells) cell = random.next() % 2 == 0 ? 40 : 215;
    for (std::int64_t y = 0; y < options.height; ++y) {
      for (std::int64_t x = 0; x < options.width; ++x) {
        patterns_.push_back(cells[static_cast<std::size_t>(y / kCell * columns + x / kCell)]);
      }
    }
  }
}

std::string FakeSource::fingerprint() const {
  return size_text() + "; generated, " + std::to_string(options_.classes) + " classes, seed " +
         std::to_string(options_.seed) + ", from item " + std::to_string(options_.first_item) +
         " on";
}

std::uint8_t FakeSource::label(std::uint64_t item) const {
  RandomStream random(options_.seed, kLabelDomain, options_.first_item + item);
  return static_cast<std::uint8_t>(random.next() % static_cast<std::uint32_t>(options_.classes));
}

void FakeSource::generate(std::uint64_t item, std::span<std::byte> image) const {
  RandomStream random(options_.seed, kNoiseDomain, options_.first_item + item);
  const auto draw = [&random](std::int64_t below) {
    return static_cast<std::int64_t>(random.next() % static_cast<std::uint32_t>(below));
  };
  const std::uint8_t* own = pattern(label(item));
  const std::uint8_t* other = pattern(static_cast<std::uint8_t>(draw(options_.classes)));
  const std::int64_t share = draw(kOther + 1);
  const std::int64_t down = draw(std::min(kShift, options_.height));
  const std::int64_t right = draw(std::min(kShift, options_.width));
  std::size_t i = 0;
  for (std::int64_t y = 0; y < options_.height; ++y) {
    const std::int64_t row = (y + down) % options_.height * options_.width;
    for (std::int64_t x = 0; x < options_.width; ++x, ++i) {
      const std::int64_t moved = x + right;
      const std::int64_t from = row + (moved < options_.width ? moved : moved - options_.width);
      const std::int64_t clear = (own[from] * (100 - share) + other[from] * share) / 100;
      const std::int64_t noise = draw(2 * kNoise + 1) - kNoise;
      image[i] = static_cast<std::byte>(std::clamp<std::int64_t>(clear + noise, 0, 255));
    }
  }
}

Future<void> FakeSource::read(const Ref<SourceBatch>&, std::stop_token) { return make_ready(); }

Future<void> FakeSource::decode(const Ref<SourceBatch>& batch, std::stop_token stop) {
  const std::size_t bytes = fields_[0].item.size_bytes();
  for (std::size_t row = 0; row < batch->items.size(); ++row) {
    if (stop.stop_requested())
      return fail(ErrorCode::kCancelled, "stopped on request while generating images");
    const std::uint64_t item = batch->items[row];
    generate(item, batch->fields[0].subspan(row * bytes, bytes));
    batch->fields[1][row] = std::byte{label(item)};
  }
  return make_ready();
}

}  // namespace millrace::transfer
