// One of two processes that train together on devices of their own: each has half of the data, the
// gradients are summed over both by a store that they share (a folder), in the order of the ranks.
// Tells the weights, to the bit.
// usage: train_rank KIND RANK FOLDER   KIND is cpu, or a plugin: NAME=PATH[,OPTION=VALUE...]
#include <sys/inotify.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "millrace/core/async/key_value_store.h"
#include "millrace/millrace.h"

namespace millrace {
namespace {

namespace fs = std::filesystem;
using namespace devices;  // NOLINT(google-build-using-namespace): most of it

constexpr int kRanks = 2, kSteps = 5;
const Shape kFour(DType::kF32, {4});

// The gradient of the squared distance of %w from this rank's point, and the step against the sum.
constexpr const char* kGradient = R"(module @gradient {
  func.func public @main(%w: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.subtract %w, %x : tensor<4xf32>
    %1 = stablehlo.add %0, %0 : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
})";
constexpr const char* kUpdate = R"(module @update {
  func.func public @main(%w: tensor<4xf32>, %g: tensor<4xf32>, %h: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %g, %h : tensor<4xf32>
    %1 = stablehlo.constant dense<0.1> : tensor<4xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<4xf32>
    %3 = stablehlo.subtract %w, %2 : tensor<4xf32>
    return %3 : tensor<4xf32>
  }
})";

// A file for each key. Thread-safety: thread-safe, between processes too.
class FolderStore final : public KeyValueStore {
 public:
  explicit FolderStore(std::string folder) : folder_(std::move(folder)) {}

  Future<std::string> get(std::string_view key, CallOptions /*call*/ = {}) override {
    // Blocks until another rank has moved a file of that name here.
    const int watch = ::inotify_init1(IN_CLOEXEC);
    ::inotify_add_watch(watch, folder_.c_str(), IN_MOVED_TO);
    Result<std::string> value = read(key);
    for (char events[4096]; !value && ::read(watch, events, sizeof events) > 0;) value = read(key);
    ::close(watch);
    return value;
  }
  Future<std::string> try_get(std::string_view key) override { return read(key); }
  Future<void> put(std::string_view key, std::string_view value) override {
    const std::string written = path(key) + "." + std::to_string(::getpid());
    std::ofstream(written, std::ios::binary) << value;
    fs::rename(written, path(key));
    return make_ready();
  }

 private:
  std::string path(std::string_view key) const {
    std::string name(key);
    for (char& c : name) {
      if (c == '/') c = '_';
    }
    return folder_ + "/" + name;
  }
  Result<std::string> read(std::string_view key) const {
    std::ifstream in(path(key), std::ios::binary);
    if (!in) return fail(ErrorCode::kNotFound, "no rank has put " + std::string(key));
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  const std::string folder_;
};

std::string to_bytes(std::span<const float> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}
Result<Buffer> put(const Device& device, const std::vector<float>& values) {
  return wait_blocking(device.put({.data = values.data(), .shape = kFour}));
}

Status train(const Runtime& runtime, int rank, KeyValueStore& store) {
  const Device& device = runtime.device(0);
  MILLRACE_TRY(const Executable gradient,
               wait_blocking(runtime.compile(Program::from_text(kGradient))));
  MILLRACE_TRY(const Executable update,
               wait_blocking(runtime.compile(Program::from_text(kUpdate))));
  const float r = static_cast<float>(rank);
  MILLRACE_TRY(const Buffer x, put(device, {1.5F + r, -2.0F * r, 0.3F, 7.0F - r}));
  MILLRACE_TRY(Buffer w, put(device, {0, 0, 0, 0}));
  for (int step = 0; step < kSteps; ++step) {
    const Future<Buffers> made = device.execute(gradient, {w, x});
    MILLRACE_TRY(const HostArray mine, wait_blocking(fetch(device, made, 0)));
    const std::string key = "step" + std::to_string(step) + "/";
    MILLRACE_TRY_STATUS(
        wait_blocking(store.put(key + std::to_string(rank), to_bytes(mine.as<float>()))));
    std::vector<Buffer> all;
    for (int i = 0; i < kRanks; ++i) {
      MILLRACE_TRY(const std::string bytes, wait_blocking(store.get(key + std::to_string(i))));
      std::vector<float> values(4);
      if (bytes.size() != 16) return fail(ErrorCode::kDataLoss, "a gradient is no gradient");
      std::memcpy(values.data(), bytes.data(), bytes.size());
      MILLRACE_TRY(Buffer there, put(device, values));
      all.push_back(std::move(there));
    }
    MILLRACE_TRY(const Buffers next, wait_blocking(device.execute(update, {w, all[0], all[1]})));
    w = next[0];
  }
  MILLRACE_TRY(const HostArray last, wait_blocking(device.fetch(w)));
  for (const float value : last.as<float>()) std::printf("%a\n", value);
  return {};
}

int run(const std::string& kind, int rank, const std::string& folder) {
  FolderStore store(folder);
  RuntimeOptions options;
  options.device = kind.substr(0, kind.find('='));
  options.devices = kind == "cpu" ? std::optional<int>(1) : std::nullopt;
  options.threads = 1;
  options.process = {.index = rank, .count = kRanks, .local_rank = rank, .local_size = kRanks};
  options.store = &store;
  if (kind != "cpu") options.plugins.push_back(devices::pjrt::parse_plugin(kind).value());
  const Result<Runtime> runtime = Runtime::create(std::move(options));
  const Status trained =
      runtime ? train(*runtime, rank, store) : Status(std::unexpected(runtime.error()));
  if (!trained) std::fprintf(stderr, "%s\n", trained.error().to_string().c_str());
  return trained ? 0 : 1;
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  return millrace::run(argv[1], std::atoi(argv[2]), argv[3]);
}
