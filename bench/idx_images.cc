// loader.idx_images_per_s: an epoch of Fashion-MNIST's 60,000 images, shuffled, in batches of 128,
// from the inflated files to batches that a step can take: ours are buffers of the CPU device,
// those of the peers (PyTorch's DataLoader and SPDL; peers_loader.py) are tensors. Opening and
// inflating the files is not part of it, here or there.
#include <memory>
#include <string>
#include <vector>

#include "bench/child.h"
#include "bench/figure.h"
#include "millrace/core/async/blocking.h"
#include "millrace/core/async/coroutine.h"
#include "millrace/tools/api/runtime.h"
#include "millrace/transfer/array_source.h"
#include "millrace/transfer/device_loader.h"
#include "millrace/transfer/formats/idx_dataset.h"

namespace millrace::bench {
namespace {

constexpr const char* kFolder = "/usr/share/datasets/fashion-mnist";
constexpr std::int64_t kBatch = 128;
constexpr int kEpochs = 5;  // of a round

struct Peer {
  const char* figure;
  const char* name;
  const char* argument;  // of peers_loader.py
};
constexpr Peer kPeers[] = {{"loader.idx_images_per_s", "PyTorch's DataLoader", "torch"},
                           {"loader.idx_images_per_s_spdl", "SPDL", "spdl"}};

Task<std::int64_t> read_all(const transfer::DeviceLoader& loader) {
  std::int64_t rows = 0;
  for (;;) {
    const auto batch = co_await loader.next(0);
    if (!batch) co_await end_with(batch.error());
    if (!*batch) co_return rows;
    rows += (*batch)->rows;
  }
}

double images_per_s(const Runtime& runtime, const std::shared_ptr<transfer::ArraySource>& source,
                    std::uint64_t seed) {
  transfer::LoaderOptions options;
  options.batch_size = kBatch;
  options.shuffle = true;
  options.seed = seed;
  std::int64_t rows = 0;
  const double seconds = seconds_of([&] {
    const auto loader =
        transfer::DeviceLoader::create(runtime.environment(), source, {runtime.device(0)}, options);
    if (!loader) give_up("loader", loader.error().to_string());
    const auto read = wait_blocking(spawn(runtime.compute(), read_all(*loader)));
    if (!read) give_up("loader", read.error().to_string());
    rows = *read;
    static_cast<void>(wait_blocking(loader->close()));
  });
  return static_cast<double>(rows) / seconds;
}

void measure(Session& session) {
  for (const Peer& peer : kPeers) {
    if (!session.wants(peer.figure)) continue;
    auto dataset = transfer::IdxDataset::open(kFolder, transfer::Split::kTrain);
    if (!dataset) {
      session.skip(peer.figure, "no data (tools/install_packages data)");
      continue;
    }
    const PythonPeers python = python_peers();
    if (python.python.empty()) {
      session.skip(peer.figure, python.why_not);
      continue;
    }
    const auto source = transfer::ArraySource::create(
        {{"images", dataset->images()}, {"labels", dataset->labels()}});
    if (!source) give_up("loader", source.error().to_string());
    RuntimeOptions options;
    options.devices = 1;
    auto runtime = Runtime::create(options);
    if (!runtime) give_up("loader", runtime.error().to_string());
    Child other(
        {python.python, source_folder() + "/bench/peers_loader.py", peer.argument, kFolder});
    std::uint64_t seed = 0;
    session.measure(
        {.name = peer.figure, .unit = "M/s", .peer = peer.name, .goal = Goal::kAtLeast, .limit = 1},
        [&] { return images_per_s(*runtime, *source, ++seed) / 1e6; },
        [&] { return other.ask("epoch") / 1e6; });
  }
}

const Registration registration(&measure);

}  // namespace
}  // namespace millrace::bench
