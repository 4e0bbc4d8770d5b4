// IdxSource: the images and labels of an IDX data set (formats/idx_dataset.h) as items for the
// loader. Read next: item_source.h.
#pragma once

#include <array>
#include <utility>

#include "millrace/transfer/formats/idx_dataset.h"
#include "millrace/transfer/item_source.h"

namespace millrace::transfer {

// Fields: "images", a row as it is in the file (ui8), and "labels", ui8 scalars. Thread-safety:
// immutable.
class IdxSource final : public ItemSource {
 public:
  explicit IdxSource(IdxDataset dataset);

  const IdxDataset& dataset() const { return dataset_; }
  std::uint64_t items() const override { return static_cast<std::uint64_t>(dataset_.rows()); }
  std::span<const Field> fields() const override { return fields_; }
  // Sizes, all labels, a sample of the images.
  std::string fingerprint() const override;
  // Copies the images: where the file is mapped, this is what reads it.
  Future<void> read(const Ref<SourceBatch>& batch, std::stop_token stop) override;
  // Copies the labels.
  Future<void> decode(const Ref<SourceBatch>& batch, std::stop_token stop) override;

 private:
  IdxDataset dataset_;
  std::array<Field, 2> fields_;
};

}  // namespace millrace::transfer
