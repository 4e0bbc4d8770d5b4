#include "millrace/devices/pjrt/client.h"

#include <algorithm>
#include <set>
#include <utility>

#include "millrace/core/blocking.h"
#include "millrace/core/check.h"
#include "millrace/core/log.h"
#include "millrace/devices/host_view.h"
#include "millrace/devices/pjrt/buffer.h"
#include "millrace/devices/pjrt/calls_under_way.h"
#include "millrace/devices/pjrt/dtype.h"
#include "millrace/devices/pjrt/layout.h"

namespace millrace::devices::pjrt {
namespace {

std::string text(const char* data, std::size_t size) {
  return data != nullptr ? std::string(data, size) : std::string();
}

// A plugin may lack a function that only describes.
Status or_unimplemented(Status status) {
  if (!status && status.error().code() == ErrorCode::kUnimplemented) return {};
  return status;
}

Error no_type_error(const Shape& shape) {
  return Error(ErrorCode::kUnimplemented, "PJRT has no element type for a " + shape.to_string());
}

}  // namespace

Result<std::unique_ptr<PjrtClient>> PjrtClient::create(const Plugin& plugin,
                                                       PjrtClientOptions options) {
  MILLRACE_CHECK(options.completions != nullptr, "a PJRT client needs an executor");
  std::unique_ptr<PjrtClient> client(new PjrtClient(plugin, std::move(options)));
  if (Status opened = client->open(); !opened) {
    const Error error =
        opened.error().with_context("opening devices (PJRT API " + plugin.version_text() + ")");
    if (client->options_.on_failure) client->options_.on_failure(error);
    if (client->destroy_in_time()) return std::unexpected(error);
    client->take_back_store();
    static_cast<void>(client.release());  // a thread is still in there
    return std::unexpected(
        Error(error.code(), error.message() + "; nor has PJRT_Client_Destroy returned after that"));
  }
  return client;
}

PjrtClient::~PjrtClient() {
  MILLRACE_CHECK(
      scope_.holders() == 0,
      "a PJRT client goes after its launches and transfers, one that was given up never");
  end_lives();
  if (client_ != nullptr) {
    static_cast<void>(wait_blocking(destroy()));
    MILLRACE_CHECK(uses_.holders() == 0, "a PJRT client goes after its buffers and executables");
  }
  // Those that the end of the plugin's client has not ended, whose executor may go next.
  for (const DeviceInfo& info : infos_) give_up_events(releases_of(info.id), scope_.closed_error());
}

void PjrtClient::destroy_here() {
  const CallsFor mine(this);
  make_handed_over();
  if (client_ == nullptr) return;
  end_mappings();  // of a client that nobody has closed
  if (!given_up()) {
    // Of one that nobody has closed, or of buffers that were asked since.
    for (const DeviceInfo& info : infos_) give_up_events(events_of(info.id), scope_.closed_error());
    wait_for_callbacks(id_);
  }
  abi::ClientDestroyArgs args;
  args.client = std::exchange(client_, nullptr);
  if (given_up()) return keep_key_values();
  if (const std::string left = events_given_up(id_); !left.empty()) {
    MILLRACE_LOG(kError, "pjrt",
                 "the client of the plugin " + plugin_.name() +
                     " is not destroyed, since it has not ended " + left);
    return keep_key_values();
  }
  plugin_.call_quietly(args);
}

void PjrtClient::take_back_store() {
  if (lent_store_) lent_store_->take_back();
}

void PjrtClient::keep_key_values() {
  take_back_store();
  static_cast<void>(key_values_.release());
}

Status PjrtClient::open() {
  const CallsFor mine(this);
  const NamedValues settings(options_.settings);
  abi::ClientCreateArgs create;
  create.create_options = settings.data();
  create.num_options = settings.size();
  if (options_.store != nullptr) {
    if (!lent_store_) lent_store_ = std::make_shared<LentStore>(*options_.store);
    key_values_ = std::make_unique<KeyValues>(*lent_store_, *options_.clock, options_.store_prefix,
                                              KeyValues::kPatience, lent_store_);
    key_values_->serve(create);
  }
  MILLRACE_TRY_STATUS(plugin_.call(create));
  client_ = create.client;
  MILLRACE_TRY_STATUS(plugin_.require<abi::ClientCreateArgs>(client_ != nullptr, "client"));
  abi::ClientPlatformNameArgs name;
  name.client = client_;
  MILLRACE_TRY_STATUS(plugin_.call(name));
  platform_name_ = text(name.platform_name, name.platform_name_size);
  abi::ClientPlatformVersionArgs version;
  version.client = client_;
  MILLRACE_TRY_STATUS(plugin_.call(version));
  platform_version_ = text(version.platform_version, version.platform_version_size) +
                      " (PJRT API " + plugin_.version_text() + ")";
  abi::ClientAddressableDevicesArgs devices;
  devices.client = client_;
  MILLRACE_TRY_STATUS(plugin_.call(devices));
  MILLRACE_TRY_STATUS(plugin_.require<abi::ClientAddressableDevicesArgs>(
      devices.devices != nullptr || devices.num_devices == 0, "list of devices"));
  MILLRACE_TRY_STATUS(check_devices({devices.devices, devices.num_devices}));
  MILLRACE_TRY_STATUS(read_topology());
  devices_.assign(devices.devices, devices.devices + devices.num_devices);
  for (std::size_t i = 0; i < devices_.size(); ++i) MILLRACE_TRY_STATUS(read_device(i));
  if (options_.profile && options_.trace != nullptr) start_profiler();
  return {};
}

// Whatever runs on a client takes for granted that it has a device, and that each has its own work.
Status PjrtClient::check_devices(std::span<abi::Device* const> listed) const {
  const auto refuse = [this](ErrorCode code, const std::string& what) {
    return fail(code, std::string(abi::to_string(abi::Slot::kClient_AddressableDevices)) +
                          " of the plugin " + plugin_.name() + " gives " + what);
  };
  if (listed.empty()) {
    return refuse(ErrorCode::kUnavailable,
                  "no devices: there are none of this process, or its create options or the "
                  "machine's settings hide them");
  }
  if (listed.size() > kMostDevices) {
    return refuse(ErrorCode::kInternal, std::to_string(listed.size()) + " devices, more than the " +
                                            std::to_string(kMostDevices) +
                                            " that one process may have here");
  }
  std::set<const abi::Device*> seen;
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const std::string where = std::to_string(i) + " of " + std::to_string(listed.size());
    if (listed[i] == nullptr)
      return refuse(ErrorCode::kInternal, "a null pointer as device " + where);
    if (!seen.insert(listed[i]).second)
      return refuse(ErrorCode::kInternal, "a device twice, again as device " + where);
  }
  return {};
}

Status PjrtClient::read_topology() {
  attributes_ = plugin_.attributes();
  abi::ClientTopologyDescriptionArgs topology;
  topology.client = client_;
  const Status described = plugin_.call(topology);
  if (!described || topology.topology == nullptr) return or_unimplemented(described);
  abi::TopologyDescriptionAttributesArgs attributes;
  attributes.topology = topology.topology;
  MILLRACE_TRY_STATUS(or_unimplemented(plugin_.call(attributes)));
  MILLRACE_TRY_STATUS(plugin_.require<abi::TopologyDescriptionAttributesArgs>(
      attributes.attributes != nullptr || attributes.num_attributes == 0, "list of attributes"));
  attributes_.merge(read_values(attributes.attributes, attributes.num_attributes));
  return {};
}

Status PjrtClient::read_device(std::size_t i) {
  abi::DeviceGetDescriptionArgs description;
  description.device = devices_[i];
  MILLRACE_TRY_STATUS(plugin_.call(description));
  MILLRACE_TRY_STATUS(plugin_.require<abi::DeviceGetDescriptionArgs>(
      description.description != nullptr, "description"));
  abi::DeviceDescriptionIdArgs id;
  id.description = description.description;
  MILLRACE_TRY_STATUS(plugin_.call(id));
  global_ids_.push_back(id.id);
  runs_.push_back(std::make_unique<Runs>());
  lives_.push_back(std::make_unique<Life>());
  if (options_.trace != nullptr) {
    runs_.back()->lane = options_.trace->lane("device " + std::to_string(i));
  }
  abi::DeviceDescriptionProcessIndexArgs process;
  process.description = description.description;
  MILLRACE_TRY_STATUS(plugin_.call(process));
  abi::DeviceDescriptionKindArgs kind;
  kind.description = description.description;
  MILLRACE_TRY_STATUS(plugin_.call(kind));
  infos_.push_back({.id = DeviceId{static_cast<std::int32_t>(i)},
                    .process = process.process_index,
                    .kind = text(kind.kind, kind.kind_size),
                    .memories = {},
                    .attributes = {}});
  MILLRACE_TRY_STATUS(read_attributes(i, description.description));
  return read_memories(i);
}

Status PjrtClient::read_attributes(std::size_t i, abi::DeviceDescription* description) {
  abi::DeviceDescriptionAttributesArgs described;
  described.description = description;
  MILLRACE_TRY_STATUS(or_unimplemented(plugin_.call(described)));
  MILLRACE_TRY_STATUS(plugin_.require<abi::DeviceDescriptionAttributesArgs>(
      described.attributes != nullptr || described.num_attributes == 0, "list of attributes"));
  infos_[i].attributes = read_values(described.attributes, described.num_attributes);
  abi::DeviceGetAttributesArgs own;
  own.device = devices_[i];
  MILLRACE_TRY_STATUS(or_unimplemented(plugin_.call(own)));
  infos_[i].attributes.merge(read_values(own.attributes, own.num_attributes));
  const Status listed = plugin_.require<abi::DeviceGetAttributesArgs>(
      own.attributes != nullptr || own.num_attributes == 0, "list of attributes");
  if (own.deleter != nullptr)
    plugin_.quietly("the deleter of PJRT_Device_GetAttributes", [&] { own.deleter(own.owner); });
  return listed;
}

Status PjrtClient::read_memories(std::size_t i) {
  abi::DeviceAddressableMemoriesArgs addressable;
  addressable.device = devices_[i];
  MILLRACE_TRY_STATUS(or_unimplemented(plugin_.call(addressable)));
  MILLRACE_TRY_STATUS(plugin_.require<abi::DeviceAddressableMemoriesArgs>(
      addressable.memories != nullptr || addressable.num_memories == 0, "list of memories"));
  // Without any, the device is all that puts and copies name.
  if (addressable.num_memories == 0) return {};
  abi::DeviceDefaultMemoryArgs standard;
  standard.device = devices_[i];
  MILLRACE_TRY_STATUS(or_unimplemented(plugin_.call(standard)));
  std::vector<abi::Memory*> memories(addressable.memories,
                                     addressable.memories + addressable.num_memories);
  std::ranges::stable_sort(memories, {}, [&](abi::Memory* m) { return m != standard.memory; });
  for (abi::Memory* memory : memories) {
    MILLRACE_TRY_STATUS(plugin_.require<abi::DeviceAddressableMemoriesArgs>(
        memory != nullptr, "memory of device " + std::to_string(i)));
    abi::MemoryIdArgs id;
    id.memory = memory;
    MILLRACE_TRY_STATUS(plugin_.call(id));
    // Some plugins number each device's on its own. Of two with one number, only the first can be
    // named.
    if (!memories_.emplace(std::pair(infos_[i].id, id.id), memory).second) continue;
    abi::MemoryKindArgs kind;
    kind.memory = memory;
    MILLRACE_TRY_STATUS(plugin_.call(kind));
    infos_[i].memories.push_back(id.id);
    note_memory(id.id, text(kind.kind, kind.kind_size), infos_[i].id);
  }
  return {};
}

// One that several devices reach is listed once.
void PjrtClient::note_memory(int id, std::string kind, DeviceId device) {
  const auto same = std::ranges::find_if(
      memory_infos_, [&](const MemoryInfo& m) { return m.id == id && m.kind == kind; });
  if (same != memory_infos_.end()) {
    same->devices.push_back(device);
  } else {
    memory_infos_.push_back({.id = id, .kind = std::move(kind), .devices = {device}});
  }
}

std::unexpected<Error> PjrtClient::unknown_device(DeviceId device) const {
  const int i = index(device);
  return fail(ErrorCode::kInvalidArgument, "'" + platform_name_ + "' has no device " +
                                               std::to_string(i) + " (of " +
                                               std::to_string(devices_.size()) + ")");
}

Result<abi::Memory*> PjrtClient::find_memory(DeviceId device, int memory) const {
  const auto found = memories_.find({device, memory});
  if (found != memories_.end()) return found->second;
  return fail(ErrorCode::kInvalidArgument, "device " + std::to_string(index(device)) + " of '" +
                                               platform_name_ + "' has no memory " +
                                               std::to_string(memory));
}

Result<DeviceId> PjrtClient::id_of(abi::Device* device) const {
  const auto found = std::ranges::find(devices_, device);
  if (found == devices_.end()) {
    return fail(ErrorCode::kInternal,
                "the plugin " + plugin_.name() + " names a device that it has not listed");
  }
  return infos_[static_cast<std::size_t>(found - devices_.begin())].id;
}

Result<PutResult> PjrtClient::put_in(const HostView& view, HostBufferSemantics semantics,
                                     DeviceId device, int memory, const DeviceLayout& layout) {
  MILLRACE_TRY_STATUS(layout.check(view.shape.rank()));
  WrittenLayout written(layout);
  const bool row_major =
      layout.minor_to_major == DeviceLayout::row_major(view.shape.rank()).minor_to_major;
  return put_laid_out(view, semantics, device, memory, written.get(), !row_major);
}

Result<DeviceLayout> PjrtClient::default_layout(const Shape& shape, DeviceId device) const {
  MILLRACE_TRY_STATUS(find(device));
  if (to_buffer_type(shape.dtype()) == abi::BufferType::kInvalid)
    return std::unexpected(no_type_error(shape));
  MILLRACE_TRY(const std::string text, Layouts(*this).default_of(shape));
  return DeviceLayout::from_text(text);
}

Result<PutResult> PjrtClient::put_laid_out(const HostView& view, HostBufferSemantics semantics,
                                           DeviceId device, int memory, abi::MemoryLayout* layout,
                                           bool laid_out) {
  MILLRACE_TRY(abi::Device* const target, find(device));
  MILLRACE_TRY_STATUS(alive(device));
  MILLRACE_TRY_STATUS(check(view));
  make_handed_over();
  StripedScope::Hold hold = scope_.hold();
  if (!hold) [[unlikely]]
    return std::unexpected(scope_.closed_error());
  // Kept by each thread: to fill all of it with zeros first costs more than to set it.
  constinit thread_local abi::ClientBufferFromHostBufferArgs args;
  args.extension_start = nullptr;
  args.client = client_;
  args.data = view.data;
  args.type = to_buffer_type(view.shape.dtype());
  args.dims = view.shape.dims().data();
  args.num_dims = view.shape.dims().size();
  args.byte_strides = view.byte_strides.empty() ? nullptr : view.byte_strides.data();
  args.num_byte_strides = view.byte_strides.size();
  args.host_buffer_semantics = static_cast<int>(semantics);
  args.device = memory == -1 ? target : nullptr;
  args.memory = nullptr;
  if (memory != -1) {
    MILLRACE_TRY(args.memory, find_memory(device, memory));
  }
  args.done_with_host_buffer = nullptr;
  args.buffer = nullptr;
  if (args.type == abi::BufferType::kInvalid) [[unlikely]]
    return std::unexpected(no_type_error(view.shape));
  args.device_layout = layout;
  const Status put = plugin_.call(args);
  args.device_layout = nullptr;  // the caller's, who goes
  if (!put) [[unlikely]] {
    return std::unexpected(put.error().with_context("cannot put a " + view.shape.to_string() +
                                                    " on device " + std::to_string(index(device))));
  }
  abi::Event* const done = args.done_with_host_buffer;
  abi::Buffer* const made = args.buffer;
  // A zero-copy put releases its source when the buffer goes, which may be after the close: it is
  // no event that the device owes.
  const bool zero_copy = semantics >= HostBufferSemantics::kImmutableZeroCopy;
  const StripedScope::Hold use = zero_copy ? uses_.hold_late() : StripedScope::Hold();
  if (zero_copy) hold.reset();  // use is there until the buffer's own begins
  constexpr const char* kPut = "PJRT_Client_BufferFromHostBuffer";
  Future<void> released =
      zero_copy ? take_event(plugin_, done, releases(), kPut, releases_of(device), view.owner)
                : watch(done, kPut, device, view.owner);
  if (!released.ready()) {
    released = std::move(released).then(
        inline_executor(),
        [hold = std::move(hold), owner = view.owner](Status done) { return done; });
  }
  if (made == nullptr) [[unlikely]] {
    released.ignore();
    return std::unexpected(
        plugin_.require<abi::ClientBufferFromHostBufferArgs>(false, "buffer").error());
  }
  Buffer buffer(make_ref<PjrtBuffer>(*this, device, view.shape, made, laid_out));
  return PutResult{std::move(buffer), std::move(released)};
}

Result<Buffer> PjrtClient::copy(const Buffer& source, DeviceId device, int memory) {
  MILLRACE_TRY(abi::Device* const target, find(device));
  MILLRACE_TRY_STATUS(alive(device));
  if (&source.body()->client() != this) {
    return fail(ErrorCode::kInvalidArgument, "the buffer to copy belongs to another client");
  }
  make_handed_over();
  const auto refused = [&](const Status& status) {
    return std::unexpected(status.error().with_context("cannot copy a " +
                                                       source.shape().to_string() + " to device " +
                                                       std::to_string(index(device))));
  };
  const auto* from = static_cast<const PjrtBuffer*>(source.body().get());
  if (from->removed()) {
    return fail(ErrorCode::kFailedPrecondition, "a copy of a " + source.shape().to_string() +
                                                    " that was donated or removed before");
  }
  abi::Buffer* made = nullptr;
  if (memory != -1) {
    abi::BufferCopyToMemoryArgs args;
    args.buffer = from->get();
    MILLRACE_TRY(args.dst_memory, find_memory(device, memory));
    if (const Status copied = plugin_.call(args); !copied) return refused(copied);
    MILLRACE_TRY_STATUS(
        plugin_.require<abi::BufferCopyToMemoryArgs>(args.dst_buffer != nullptr, "buffer"));
    made = args.dst_buffer;
  } else {
    abi::BufferCopyToDeviceArgs args;
    args.buffer = from->get();
    args.dst_device = target;
    if (const Status copied = plugin_.call(args); !copied) return refused(copied);
    MILLRACE_TRY_STATUS(
        plugin_.require<abi::BufferCopyToDeviceArgs>(args.dst_buffer != nullptr, "buffer"));
    made = args.dst_buffer;
  }
  return Buffer(make_ref<PjrtBuffer>(*this, device, source.shape(), made, from->laid_out()));
}

void PjrtClient::note_run(const PjrtRun& run) {
  Runs& runs = *runs_[static_cast<std::size_t>(index(run.device))];
  const TimePoint end = now();
  const Duration::rep ended = end.time_since_epoch().count();
  // Ends may be told out of order: what another run has covered counts once. relaxed: numbers.
  Duration::rep covered = runs.last_end.load(std::memory_order_relaxed);
  while (covered < ended && !runs.last_end.compare_exchange_weak(covered, ended)) {
  }
  const TimePoint begin = std::min(std::max(run.launched, TimePoint(Duration(covered))), end);
  runs.busy.fetch_add((end - begin).count(), std::memory_order_relaxed);
  if (options_.trace != nullptr) {
    options_.trace->record(
        {.lane = runs.lane, .name = run.name, .begin = begin, .end = end, .flow = run.flow});
  }
}

std::optional<Duration> PjrtClient::busy_time(DeviceId device) const {
  return Duration(runs_[static_cast<std::size_t>(index(device))]->busy.load());
}

Result<MemoryStats> PjrtClient::memory_stats(DeviceId device) const {
  const CallsFor mine(this);
  if (may_call_here()) make_handed_over();  // what is freed counts as free
  MILLRACE_TRY(abi::Device* const target, find(device));
  abi::DeviceMemoryStatsArgs args;
  args.device = target;
  if (Status told = plugin_.call(args); !told) {
    return std::unexpected(told.error().with_context("cannot tell how much memory device " +
                                                     std::to_string(index(device)) + " uses"));
  }
  const auto known = [](const abi::MaybeInt64& v) {
    return v.is_set ? std::optional<std::int64_t>(v.value) : std::nullopt;
  };
  return MemoryStats{.bytes_in_use = args.bytes_in_use,
                     .peak_bytes_in_use = known(args.peak_bytes_in_use),
                     .bytes_limit = known(args.bytes_limit)};
}

}  // namespace millrace::devices::pjrt
