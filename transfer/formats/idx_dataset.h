// IdxDataset: images and labels of one split of a folder as MNIST's (and Debian's
// dataset-fashion-mnist) has it, checked as a whole before the first row is given out. Read next:
// idx.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "millrace/core/base/error.h"
#include "millrace/devices/shape.h"
#include "millrace/transfer/formats/idx.h"

namespace millrace::transfer {

enum class Split { kTrain, kTest };
// "train" or "t10k", as the names of the files begin.
std::string_view to_string(Split split);

// Rows of ui8 with a label each. All rows are in memory, so that any order of reading
// costs the same. Copies share the bytes and readers on any thread share a copy. Thread-safety:
// immutable.
class IdxDataset {
 public:
  // Reads <split>-images-idx3-ubyte and <split>-labels-idx1-ubyte, each plain or, if there is no
  // plain one, with .gz; ".idx3-ubyte" is taken for "-idx3-ubyte". Blocking. Errors name file and
  // offset: kNotFound (with what the folder has instead), kDataLoss (truncated, oversized, corrupt,
  // wrong magic), kInvalidArgument (counts that differ, no rows, element types other than ui8).
  static Result<IdxDataset> open(const std::string& folder, Split split,
                                 const IdxLimits& limits = {});

  std::int64_t rows() const { return images_.shape().dim(0); }
  // One row, without the leading dimension: 28x28xui8.
  const devices::Shape& row_shape() const { return row_shape_; }
  std::size_t row_bytes() const { return row_shape_.size_bytes(); }
  // i in [0, rows()).
  std::span<const std::byte> row(std::int64_t i) const;
  std::uint8_t label(std::int64_t i) const;
  // All rows, and all labels, one after the other.
  std::span<const std::byte> images() const { return images_.bytes(); }
  std::span<const std::byte> labels() const { return labels_.bytes(); }
  // One more than the largest label.
  int classes() const { return classes_; }
  const std::string& images_file() const { return images_file_; }

 private:
  IdxDataset(IdxArray images, IdxArray labels, std::string images_file);

  IdxArray images_;
  IdxArray labels_;
  std::string images_file_;
  devices::Shape row_shape_;
  int classes_ = 0;
};

}  // namespace millrace::transfer
