#include "millrace/devices/pjrt/layout.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "millrace/devices/pjrt/abi/extensions.h"
#include "millrace/devices/pjrt/calls_under_way.h"

namespace millrace::devices::pjrt {
namespace {

struct Row {
  abi::BufferType pjrt;
  DType ours;
  int xla;  // 0: none
};

constexpr Row kRows[] = {
#define MILLRACE_PJRT_BUFFER_TYPE(name, dtype, xla) {abi::BufferType::name, DType::dtype, xla},
#include "millrace/devices/pjrt/abi/buffer_types.inc"
};

// By DType: every put asks.
constexpr auto kBufferTypes = [] {
  std::array<abi::BufferType, static_cast<std::size_t>(DType::kToken) + 1> types{};
  for (const Row& row : kRows) {
    if (row.ours != DType::kInvalid) types[static_cast<std::size_t>(row.ours)] = row.pjrt;
  }
  return types;
}();

}  // namespace

abi::BufferType to_buffer_type(DType type) { return kBufferTypes[static_cast<std::size_t>(type)]; }

DType from_buffer_type(abi::BufferType type) {
  const auto i = static_cast<std::size_t>(type);
  return i < std::size(kRows) ? kRows[i].ours : DType::kInvalid;
}

DType from_primitive_type(int type) {
  const auto* const row = std::ranges::find(kRows, type, &Row::xla);
  return type == 0 || row == std::end(kRows) ? DType::kInvalid : row->ours;
}

int to_primitive_type(DType type) {
  const auto* const row = std::ranges::find(kRows, type, &Row::ours);
  return type == DType::kInvalid || row == std::end(kRows) ? 0 : row->xla;
}

WrittenLayout::WrittenLayout(const DeviceLayout& layout) : minor_to_major_(layout.minor_to_major) {
  for (const auto& tile : layout.tiles) {
    tile_dims_.insert(tile_dims_.end(), tile.begin(), tile.end());
    tile_sizes_.push_back(tile.size());
  }
  written_.struct_size = abi::kStructSize<abi::MemoryLayout>;
  written_.type = abi::LayoutType::kTiled;
  written_.tiled.struct_size = abi::kStructSize<abi::TiledLayout>;
  written_.tiled.minor_to_major = minor_to_major_.data();
  written_.tiled.minor_to_major_size = minor_to_major_.size();
  written_.tiled.tile_dims = tile_dims_.data();
  written_.tiled.tile_dim_sizes = tile_sizes_.data();
  written_.tiled.num_tiles = tile_sizes_.size();
}

abi::MemoryLayout* WrittenLayout::row_major(int rank) {
  struct All {
    All() {
      for (int r = 0; r <= kMaxRank; ++r)
        ranks[static_cast<std::size_t>(r)].emplace(DeviceLayout::row_major(r));
    }
    std::array<std::optional<WrittenLayout>, kMaxRank + 1> ranks;
  };
  static All* const all = new All;  // never destroyed: plugins' threads run on
  return all->ranks[static_cast<std::size_t>(rank)]->get();
}

Result<DeviceLayout> read_layout(const Plugin& plugin, const abi::MemoryLayout& layout, int rank) {
  if (layout.type != abi::LayoutType::kTiled) {
    return fail(ErrorCode::kUnimplemented,
                "the plugin " + plugin.name() + " reports a layout in strides, not in dimensions");
  }
  const abi::TiledLayout& tiled = layout.tiled;
  const auto size = static_cast<std::size_t>(rank);
  MILLRACE_TRY_STATUS(plugin.require<abi::BufferGetMemoryLayoutArgs>(
      (tiled.minor_to_major != nullptr && tiled.minor_to_major_size == size) || rank == 0,
      "order of dimensions"));
  MILLRACE_TRY_STATUS(plugin.require<abi::BufferGetMemoryLayoutArgs>(
      (tiled.tile_dims != nullptr && tiled.tile_dim_sizes != nullptr) || tiled.num_tiles == 0,
      "tiles"));
  DeviceLayout read;
  if (rank != 0) read.minor_to_major.assign(tiled.minor_to_major, tiled.minor_to_major + rank);
  const std::int64_t* dims = tiled.tile_dims;
  for (std::size_t t = 0; t < tiled.num_tiles; ++t) {
    const std::size_t count = tiled.tile_dim_sizes[t];
    read.tiles.emplace_back(dims, dims + count);
    dims += count;
  }
  return read;
}

namespace {

// Calls the function that the extension has there.
template <class A>
Status call(const Plugin& plugin, abi::Function<A> abi::LayoutsExtension::* function,
            OtherCall name, A& args) {
  static const abi::LayoutsExtension whole{};
  const auto* const end = reinterpret_cast<const char*>(&(whole.*function) + 1);
  const auto least = static_cast<std::size_t>(end - reinterpret_cast<const char*>(&whole));
  const auto* const extension =
      static_cast<const abi::LayoutsExtension*>(plugin.extension(abi::kLayoutsExtension));
  // Later minors have more of them.
  const bool there = extension != nullptr && extension->struct_size >= least;
  abi::Function<A> const called = there ? extension->*function : nullptr;
  args.struct_size = sizeof(A);
  MILLRACE_TRY(abi::Error* const error, plugin.call_extension(called, name, args));
  if (error != nullptr) return std::unexpected(plugin.take_error(error, to_string(name)));
  return {};
}

}  // namespace

Result<std::string> default_layout_text(const Plugin& plugin, abi::Client* client,
                                        const Shape& shape) {
  using abi::LayoutsExtension;
  // JAX, too, takes a plugin without the extension for one that keeps arrays row-major.
  if (plugin.extension(abi::kLayoutsExtension) == nullptr)
    return DeviceLayout::row_major(shape.rank()).to_text();
  abi::ClientDefaultLayoutArgs args{
      {}, client, to_buffer_type(shape.dtype()), shape.dims().data(), shape.dims().size()};
  MILLRACE_TRY_STATUS(
      call(plugin, &LayoutsExtension::client_default, OtherCall::kDefaultLayout, args));
  if (args.layout == nullptr)
    return fail(ErrorCode::kInternal,
                "the plugin " + plugin.name() + " gives no layout and no error");
  abi::LayoutSerializeArgs written{{}, args.layout};
  const Status serialized =
      call(plugin, &LayoutsExtension::serialize, OtherCall::kLayoutSerialize, written);
  std::string text;
  if (serialized && written.text != nullptr) text.assign(written.text, written.text_size);
  if (serialized && written.deleter != nullptr) {
    plugin.quietly("the deleter of PJRT_Layouts_MemoryLayout_Serialize",
                   [&] { written.deleter(written.owner); });
  }
  abi::LayoutDestroyArgs destroy{{}, args.layout};
  MILLRACE_TRY_STATUS(call(plugin, &LayoutsExtension::destroy, OtherCall::kLayoutDestroy, destroy));
  MILLRACE_TRY_STATUS(serialized);
  return text;
}

}  // namespace millrace::devices::pjrt
