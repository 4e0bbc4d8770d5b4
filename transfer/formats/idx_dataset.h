// IdxDataset: images and labels of one split of a folder as MNIST's (and Debian's
// dataset-fashion-mnist) has it, checked as a whole before the first row is given out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "millrace/core/base/error.h"
#include "millrace/devices/shape.h"
#include "millrace/transfer/formats/idx.h"

namespace millrace::transfer {

enum class Split { kTrain, kTest };
// "train" or "t10k", as the names of the files begin.
std::string_view to_string(Split split);

// Rows of ui8 with a label each. All rows are in memory: any order of reading costs the same.
// Copies share the bytes. Thread-safety: immutable.
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
  // All rows, and all labels: what an ArraySource (array_source.h) loads from.
  const devices::HostArray& images() const { return images_; }
  const devices::HostArray& labels() const { return labels_; }
  // One more than the largest label.
  int classes() const { return classes_; }
  const std::string& images_file() const { return images_file_; }

 private:
  IdxDataset(devices::HostArray images, devices::HostArray labels, std::string images_file);

  devices::HostArray images_;
  devices::HostArray labels_;
  std::string images_file_;
  devices::Shape row_shape_;
  int classes_ = 0;
};

}  // namespace millrace::transfer
