// BatchModel: what a Batcher runs: one computation, exported for several batch sizes (and lengths
// of its rows), with the arrays that all of them take besides the rows. Read next: batcher.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/base/braced.h"
#include "millrace/core/base/error.h"
#include "millrace/devices/client.h"
#include "millrace/devices/shape.h"
#include "millrace/transfer/batch_schedule.h"

namespace millrace::transfer {

// An input or an output whose first dimension is the rows of the batch.
struct BatchTensor {
  std::string name = {};
  devices::Shape row = {};   // of one row; kUnknownDimension where it has the length of the bucket
  std::size_t position = 0;  // among the program's inputs, or its outputs
};

struct BatchProgram {
  devices::Executable executable = {};
  std::int64_t rows = 0;
  std::int64_t length = 0;  // of the rows' unknown dimension; 0: they have none
};

// An input that is the same in every batch (a weight), where one device has it.
struct BatchConstant {
  std::size_t position = 0;
  devices::Buffer buffer = {};
};

// A request's bytes of one input: rows first, dense. They have an owner, since a batch may read
// them after the request has ended by its deadline.
struct RowInput {
  Braced<std::string> name = {};
  devices::HostView view = {};
};
// The rows of one output: a view of the batch's array, which it keeps.
struct RowOutput {
  std::string name = {};
  devices::HostArray array = {};
};

// Immutable, shared by the requests that run on it: its buffers go with the last of them.
// Thread-safety: immutable.
class BatchModel {
 public:
  struct Parts {
    std::string name = {};
    std::vector<BatchTensor> inputs = {};
    std::vector<BatchTensor> outputs = {};
    std::vector<BatchProgram> programs = {};
    // By device of the Batcher; one list alone serves all of them.
    std::vector<std::vector<BatchConstant>> constants = {};
  };
  // kInvalidArgument names what does not fit: a program whose shapes are not those of its rows, two
  // for the same size, a name that is there twice, an input that nothing gives.
  static Result<std::shared_ptr<const BatchModel>> create(Parts parts);

  const std::string& name() const { return parts_.name; }
  std::span<const BatchTensor> inputs() const { return parts_.inputs; }
  std::span<const BatchTensor> outputs() const { return parts_.outputs; }
  std::span<const BatchConstant> constants(std::size_t device) const;
  std::size_t constant_lists() const { return parts_.constants.size(); }
  // The lengths of the buckets, ascending; one bucket of length 0 where rows have one length.
  std::span<const std::int64_t> lengths() const { return lengths_; }
  std::vector<std::vector<std::int64_t>> sizes() const;  // by bucket, ascending
  std::int64_t most_rows() const { return most_rows_; }  // that every bucket can take
  const BatchProgram& program(std::size_t bucket, std::int64_t size) const;
  // Same names, rows and buckets: requests that were made for one fit the other.
  bool same_interface(const BatchModel& other) const;

  // What a request is, or kInvalidArgument with the name of the input that does not fit.
  struct Request {
    std::size_t bucket = 0;
    std::int64_t rows = 0;
    std::size_t bytes = 0;
    std::int64_t length = 0;  // of its rows; 0: they do not vary
  };
  Result<Request> check(std::span<const RowInput> inputs) const;

 private:
  explicit BatchModel(Parts parts) : parts_(std::move(parts)) {}
  Status check_program(const BatchProgram& program) const;
  Status index_programs();

  Parts parts_;
  std::vector<std::int64_t> lengths_;
  std::int64_t most_rows_ = 0;
};

// The rows of one request as the batch takes them. length: of their unknown dimension.
struct RowBytes {
  std::span<const std::byte> bytes = {};
  std::int64_t rows = 0;
  std::int64_t length = 0;
};
// "tensor<16x28x28xui8>": the array of such a batch. length stands for unknown dimensions.
devices::Shape batch_shape(const devices::Shape& row, std::int64_t rows, std::int64_t length);
// Writes the rows one after the other, each filled up with zeros to the bucket's length, and zeros
// behind the last. Pure: one copy per row, none of what is written by zeros.
void assemble_rows(const devices::Shape& row, std::int64_t bucket_length,
                   std::span<const RowBytes> rows, std::span<std::byte> batch);

}  // namespace millrace::transfer
