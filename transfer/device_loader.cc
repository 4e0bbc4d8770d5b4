#include "millrace/transfer/device_loader.h"

#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "millrace/transfer/loader.h"

namespace millrace::transfer {
namespace {

constexpr std::size_t kFieldAlignment = 64;  // what backends ask of memory that they use in place
constexpr std::size_t kDefaultHostBatches = 4;
constexpr std::size_t kDefaultDeviceBatches = 2;

// The sizes of one batch of one device, and where its fields lie in a staging block.
struct BatchLayout {
  std::vector<std::size_t> offsets;
  std::size_t staging_bytes = 0;
  std::size_t device_bytes = 0;
  std::size_t raw_bytes = 0;
};

BatchLayout lay_out(const ItemSource& source, std::int64_t rows) {
  BatchLayout layout;
  for (const Field& field : source.fields()) {
    const std::size_t bytes = static_cast<std::size_t>(rows) * field.item.size_bytes();
    layout.offsets.push_back(layout.staging_bytes);
    layout.staging_bytes += (bytes + kFieldAlignment - 1) / kFieldAlignment * kFieldAlignment;
    layout.device_bytes += bytes;
  }
  layout.raw_bytes = static_cast<std::size_t>(rows) * source.raw_item_bytes();
  return layout;
}

Status check_shards(LoaderOptions& options, std::size_t devices) {
  if (options.shards == 0) options.shards = static_cast<int>(devices);
  if (options.shard_of_device.empty()) {
    options.shard_of_device.resize(devices);
    std::iota(options.shard_of_device.begin(), options.shard_of_device.end(), 0);
  }
  if (options.shard_of_device.size() != devices) {
    return fail(ErrorCode::kInvalidArgument,
                "making a loader: " + std::to_string(options.shard_of_device.size()) +
                    " shards are named for " + std::to_string(devices) +
                    " devices; name one for each");
  }
  for (const int shard : options.shard_of_device) {
    if (shard >= 0 && shard < options.shards) continue;
    return fail(ErrorCode::kInvalidArgument, "making a loader: shard " + std::to_string(shard) +
                                                 " is none of the run's " +
                                                 std::to_string(options.shards));
  }
  return {};
}

Status check_budget(const char* what, std::size_t budget, std::size_t batch) {
  if (budget >= batch) return {};
  return fail(ErrorCode::kInvalidArgument,
              std::string("making a loader: a device's budget of ") + std::to_string(budget) + " " +
                  what + " bytes is below one batch (" + std::to_string(batch) +
                  " bytes); raise it or take smaller batches");
}

Status check_basics(const ItemSource* source, std::span<const devices::Device> devices,
                    const LoaderOptions& options) {
  if (source == nullptr)
    return fail(ErrorCode::kInvalidArgument, "making a loader: its source is a null pointer");
  if (devices.empty())
    return fail(ErrorCode::kInvalidArgument, "making a loader: it has no device to load for");
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i]) continue;
    return fail(ErrorCode::kInvalidArgument,
                "making a loader: device " + std::to_string(i) + " is an empty Device");
  }
  if (source->fields().empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "making a loader: the items of its source have no fields");
  }
  if (options.reads_in_flight < 1 || options.decodes_in_flight < 1) {
    return fail(ErrorCode::kInvalidArgument,
                "making a loader: at least one read and one decode must be allowed in flight");
  }
  return {};
}

}  // namespace

DeviceLoader::DeviceLoader(Ref<Loader> loader) : loader_(std::move(loader)) {}

DeviceLoader::DeviceLoader(DeviceLoader&& other) noexcept = default;

DeviceLoader& DeviceLoader::operator=(DeviceLoader&& other) noexcept {
  std::swap(loader_, other.loader_);
  return *this;
}

DeviceLoader::~DeviceLoader() {
  // The log reports a stage that was given up: no caller has this future.
  if (loader_) static_cast<void>(loader_->close());
}

Result<DeviceLoader> DeviceLoader::create(const Environment& environment,
                                          std::shared_ptr<ItemSource> source,
                                          std::vector<devices::Device> devices,
                                          LoaderOptions options) {
  MILLRACE_TRY_STATUS(check_basics(source.get(), devices, options));
  MILLRACE_TRY_STATUS(check_shards(options, devices.size()));
  MILLRACE_TRY(const BatchPlan plan, BatchPlan::create({.items = source->items(),
                                                        .batch_size = options.batch_size,
                                                        .shards = options.shards,
                                                        .remainder = options.remainder,
                                                        .shuffle = options.shuffle,
                                                        .seed = options.seed,
                                                        .start_epoch = options.start_epoch,
                                                        .start_item = options.start_item}));
  if (options.flow_devices == 0) options.flow_devices = devices.size();
  BatchLayout layout = lay_out(*source, plan.rows_per_shard());
  const std::size_t block_bytes = StagingPool::block_bytes(layout.staging_bytes);
  const std::size_t host_batch = block_bytes + layout.raw_bytes;
  if (options.host_bytes_per_device == 0)
    options.host_bytes_per_device = kDefaultHostBatches * host_batch;
  if (options.device_bytes_per_device == 0) {
    options.device_bytes_per_device = kDefaultDeviceBatches * layout.device_bytes;
  }
  MILLRACE_TRY_STATUS(check_budget("host", options.host_bytes_per_device, host_batch));
  MILLRACE_TRY_STATUS(check_budget("device", options.device_bytes_per_device, layout.device_bytes));

  const LoaderSchedule::Options schedule = {
      .devices = static_cast<int>(devices.size()),
      .steps_per_epoch = plan.steps_per_epoch(),
      .first_epoch = options.start_epoch,
      .first_step = plan.first_step(),
      .end_epoch = options.epochs == 0 ? LoaderSchedule::kEndless : options.epochs,
      .across_epochs = options.prefetch_across_epochs,
      .reads = options.reads_in_flight,
      .decodes = options.decodes_in_flight,
      .staging_bytes = block_bytes,
      .raw_bytes = layout.raw_bytes,
      .device_batch_bytes = layout.device_bytes,
      .host_budget = options.host_bytes_per_device,
      .device_budget = options.device_bytes_per_device,
  };
  if (!options.pool) {
    // With zero copy, blocks may also be with the consumer, who then bounds them by releasing them.
    const std::size_t budgets = devices.size() * options.host_bytes_per_device;
    const std::size_t bound = options.zero_copy ? std::numeric_limits<std::size_t>::max() : budgets;
    options.pool =
        std::make_shared<StagingPool>(StagingPoolOptions{.max_bytes = bound}, *environment.timers);
  }
  auto loader = make_ref<Loader>(environment,
                                 BatchWork::Parts{.source = std::move(source),
                                                  .devices = std::move(devices),
                                                  .options = std::move(options),
                                                  .plan = plan,
                                                  .field_offsets = std::move(layout.offsets),
                                                  .staging_bytes = layout.staging_bytes},
                                 schedule);
  loader->pump();
  return DeviceLoader(std::move(loader));
}

const BatchPlan& DeviceLoader::plan() const { return loader_->plan(); }

Future<std::optional<DeviceBatch>> DeviceLoader::next(int device,
                                                      const CallOptions& options) const {
  if (!loader_) return fail(ErrorCode::kInvalidArgument, "next() of a loader that was moved from");
  return loader_->next(device, options);
}

Future<void> DeviceLoader::close() const { return loader_ ? loader_->close() : make_ready(); }

LoaderStats DeviceLoader::stats() const { return loader_->stats(); }

std::vector<StageInFlight> DeviceLoader::in_flight() const { return loader_->in_flight(); }

}  // namespace millrace::transfer
