// The bodies of an inference request and its answer: JSON of the Open Inference Protocol v2, with
// or without the binary tensor data extension, and NPY. Pure: from bytes to arrays and back; what
// comes is foreign and is read within its bounds. Bodies are unpacked before (unpack_body.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/transfer/batch_model.h"
#include "millrace/transfer/batch_options.h"

namespace millrace::serve {

// The bytes of a body, kept by their owner.
struct Body {
  std::span<const std::byte> bytes = {};
  devices::Owner owner = {};
};

struct WantedOutput {
  std::string name = {};
  bool binary = false;
};

struct InferRequest {
  std::string id = {};
  std::vector<transfer::RowInput> inputs = {};
  std::vector<WantedOutput> outputs = {};  // none: all
  bool binary_output = false;              // of outputs that are not named
  std::optional<double> deadline_ms = {};  // the parameter "deadline_ms"
  int priority = 0;                        // the parameter "priority"
};

// header_bytes: Inference-Header-Content-Length, where it was sent: JSON has so many bytes, and
// binary tensors follow. kInvalidArgument names the tensor, and where JSON is wrong, the byte.
// Binary tensors are views of the body where they are aligned to their elements.
Result<InferRequest> parse_infer_request(const Body& body, std::optional<std::size_t> header_bytes);

// The one array of a .npy file as the one input of this name.
Result<InferRequest> parse_npy_request(const Body& body, const std::string& input);

// What is sent: head, then the bytes of the arrays, one behind the other. header_bytes: of head,
// where arrays follow JSON.
struct InferAnswer {
  std::string head = {};
  std::optional<std::size_t> header_bytes = {};
  std::vector<devices::HostArray> tail = {};
};

// kInvalidArgument: one that is asked for is none of the model's.
Status check_outputs(const InferRequest& request, const transfer::BatchModel& model);
// kInvalidArgument: an output that is wanted is none of the model, or cannot be sent as JSON.
// Numbers that JSON has not (NaN, infinities) are null.
Result<InferAnswer> make_infer_answer(const std::string& model, const InferRequest& request,
                                      const transfer::RowOutputs& outputs);
// The one output as .npy. kInvalidArgument: the model has several.
Result<InferAnswer> make_npy_answer(const transfer::RowOutputs& outputs);
// {"error": "..."}, with the beginning of a message that is long.
std::string error_body(std::string_view message);

}  // namespace millrace::serve
