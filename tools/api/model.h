// Model: a model folder that is ready to answer requests: its `predict` programs, compiled for
// every batch size, and its weights, once on each device and shared by all of them.
//
//   Result<Model> model = wait_blocking(Model::load(
//       runtime, {.folder = "tools/models/mnist", .weights = "checkpoints"}));
//   if (!model) return std::unexpected(model.error());
//   if (Status warm = wait_blocking(model->warm_up()); !warm) return warm;
//   return batcher.add(model->batches());
//
// The inputs of role `param` and `state` are the weights, all others the rows of requests. Read
// next: transfer/batcher.h, model_manifest.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "millrace/core/async/call_options.h"
#include "millrace/core/async/future.h"
#include "millrace/core/base/braced.h"
#include "millrace/tools/api/model_manifest.h"
#include "millrace/tools/api/runtime.h"
#include "millrace/transfer/batch_model.h"

namespace millrace {

struct ModelSource {
  Braced<std::string> folder = {};
  Braced<std::string> name = {};  // for requests; empty: as the manifest says
  // A file in the format safetensors, a checkpoint, or a folder of checkpoints, whose newest is
  // taken. Empty: the manifest's weights; else weights.safetensors of the folder, if programs need
  // any.
  Braced<std::string> weights = {};
  Braced<std::vector<std::int64_t>> sizes = {};  // batch sizes; empty: all that were exported
};

// Value handle. Its buffers go with the last copy and the last batch that runs on it.
// Thread-safety: immutable.
class Model {
 public:
  // Reads and compiles on blocking threads, then puts the weights on every device of the runtime:
  // at most 64 MiB of them, or one array, are on their way to a device at once, out of the mapped
  // file. kNotFound: no manifest, file or exported size, with what there is; kInvalidArgument:
  // an array of another shape or type, or none of a name; kDataLoss: a damaged file; the errors of
  // Runtime::compile. Each names the file and what would help. The runtime outlives the future.
  static Future<Model> load(const Runtime& runtime, ModelSource source,
                            const CallOptions& call = {});

  // Loads a new version: the programs that have not changed since this one was loaded are those of
  // this one. The errors of load().
  Future<Model> reload(const Runtime& runtime, ModelSource source,
                       const CallOptions& call = {}) const;

  // Names, sizes and times of what load() would read: another text where that has changed.
  // Blocking.
  static Result<std::string> fingerprint(const ModelSource& source);

  const std::string& name() const { return parts_->batches->name(); }
  const ModelManifest& manifest() const { return parts_->manifest; }
  const std::shared_ptr<const transfer::BatchModel>& batches() const { return parts_->batches; }
  const std::string& weights_path() const { return parts_->weights_path; }  // empty: none
  std::uint64_t weights_bytes() const { return parts_->weights_bytes; }     // on each device
  // Runs every program once on every device, on zeros, but for those of the version before.
  Future<void> warm_up(const CallOptions& call = {}) const;

  struct Parts {
    ModelManifest manifest = {};
    std::vector<devices::Device> devices = {};
    std::shared_ptr<const transfer::BatchModel> batches = {};
    std::string weights_path = {};
    std::uint64_t weights_bytes = 0;
    Executor* executor = nullptr;  // of the warm-up
    std::vector<devices::Program> codes = {};
    std::vector<devices::Executable> executables = {};  // of the codes
    std::vector<bool> cold = {};                        // those that no version before has run
  };
  explicit Model(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}

 private:
  std::shared_ptr<const Parts> parts_;
};

}  // namespace millrace
