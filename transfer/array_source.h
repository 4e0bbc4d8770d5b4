// ArraySource: items that lie in memory as arrays whose first dimension counts the items.
// formats/idx_dataset.h reads MNIST and its relatives so: {{"images", data.images()}, {"labels",
// data.labels()}}.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/buffer.h"
#include "millrace/transfer/item_source.h"

namespace millrace::transfer {

// Thread-safety: immutable.
class ArraySource final : public ItemSource {
 public:
  // The first dimension of each array counts the items: kInvalidArgument if these differ or lack.
  static Result<std::shared_ptr<ArraySource>> create(
      std::vector<std::pair<std::string, devices::HostArray>> arrays);

  std::uint64_t items() const override { return items_; }
  std::span<const Field> fields() const override { return fields_; }
  // Sizes, all scalars, and a sample of each other array.
  std::string fingerprint() const override;
  // Copies the rows, here because memory that is a mapped file may have to be read.
  Future<void> read(const Ref<SourceBatch>& batch, std::stop_token stop) override;

 private:
  ArraySource() = default;
  std::uint64_t items_ = 0;
  std::vector<Field> fields_;
  std::vector<devices::HostArray> arrays_;
};

}  // namespace millrace::transfer
