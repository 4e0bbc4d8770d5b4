// Bodies of inference requests: the first byte says how the rest is read and unpacked, and the next
// two how much of a body with binary tensors is JSON. What is read can be answered.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "millrace/core/base/check.h"
#include "millrace/tools/serve/infer_body.h"
#include "millrace/tools/serve/unpack_body.h"

using namespace millrace;  // NOLINT(google-build-using-namespace)

namespace {

void answer(const serve::InferRequest& request) {
  transfer::RowOutputs outputs;
  for (const transfer::RowInput& input : request.inputs) {
    const devices::HostView& view = input.view;
    outputs.push_back(
        {.name = input.name,
         .array = devices::HostArray(
             view.shape, {static_cast<const std::byte*>(view.data), view.shape.size_bytes()},
             view.owner)});
  }
  static_cast<void>(serve::make_infer_answer("m", request, outputs));
  serve::InferRequest all = request;
  all.outputs.clear();
  MILLRACE_CHECK(serve::make_infer_answer("m", all, outputs), "what is read can be sent");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const auto kept = std::make_shared<std::vector<std::uint8_t>>(data + 3, data + size);
  constexpr const char* kEncodings[] = {"", "gzip", "deflate"};
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  const Result<serve::Body> unpacked = serve::unpack_body({std::as_bytes(std::span(*kept)), kept},
                                                          kEncodings[data[0] / 3 % 3], kMostBytes);
  if (!unpacked) return 0;
  MILLRACE_CHECK(unpacked->bytes.size() <= std::max(kMostBytes, kept->size()),
                 "a body is unpacked up to its limit");
  const serve::Body& body = *unpacked;
  const std::size_t json_bytes = data[1] * std::size_t{256} + data[2];
  const Result<serve::InferRequest> request = data[0] % 3 == 0 ? serve::parse_npy_request(body, "x")
                                              : data[0] % 3 == 1
                                                  ? serve::parse_infer_request(body, json_bytes)
                                                  : serve::parse_infer_request(body, std::nullopt);
  if (request && data[0] % 3 != 0) answer(*request);
  return 0;
}
