#include "millrace/devices/pjrt/layout.h"

#include <array>
#include <optional>
#include <utility>

#include "millrace/devices/pjrt/buffer.h"
#include "millrace/devices/pjrt/client.h"
#include "millrace/devices/pjrt/dtype.h"
#include "millrace/devices/pjrt/executable.h"

namespace millrace::devices::pjrt {
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
                "the plugin " + plugin.name() + " tells a layout in strides, not in dimensions");
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

Layouts::Layouts(const PjrtClient& client)
    : client_(client), extension_(client.plugin().extension(abi::kLayoutsExtension)) {}

template <class A>
Status Layouts::call(abi::Function<A> abi::LayoutsExtension::* function, OtherCall name,
                     A& args) const {
  const std::string full(to_string(name));
  abi::Function<A> called = nullptr;
  // Later minors have more of them.
  if (extension_ != nullptr && extension_->struct_size >= abi::end_in_layouts(function))
    called = static_cast<const abi::LayoutsExtension*>(extension_)->*function;
  if (called == nullptr) {
    return fail(ErrorCode::kUnimplemented,
                "the plugin " + client_.plugin().name() + " has no function " + full);
  }
  args.struct_size = sizeof(A);
  abi::Error* error = nullptr;
  try {
    const CallUnderWay under_way(client_.plugin().number(), name);
    error = called(&args);
  } catch (...) {
    return fail(ErrorCode::kInternal, full + " of the plugin " + client_.plugin().name() +
                                          " threw an exception through its C interface");
  }
  if (error != nullptr) return std::unexpected(client_.plugin().take_error(error, full));
  return {};
}

Result<std::string> Layouts::read(abi::Layout* layout) const {
  abi::LayoutSerializeArgs written;
  written.layout = layout;
  MILLRACE_TRY_STATUS(
      call(&abi::LayoutsExtension::serialize, OtherCall::kLayoutSerialize, written));
  std::string text;
  if (written.text != nullptr) text.assign(written.text, written.text_size);
  if (written.deleter != nullptr) {
    client_.plugin().quietly("the deleter of PJRT_Layouts_MemoryLayout_Serialize",
                             [&] { written.deleter(written.owner); });
  }
  return text;
}

// The layout's text; the layout goes.
Result<std::string> Layouts::take(abi::Layout* layout) const {
  if (layout == nullptr)
    return fail(ErrorCode::kInternal,
                "the plugin " + client_.plugin().name() + " gives no layout and no error");
  Result<std::string> text = read(layout);
  abi::LayoutDestroyArgs destroy;
  destroy.layout = layout;
  MILLRACE_TRY_STATUS(call(&abi::LayoutsExtension::destroy, OtherCall::kLayoutDestroy, destroy));
  return text;
}

Result<std::string> Layouts::default_of(const Shape& shape) const {
  abi::ClientDefaultLayoutArgs args;
  args.client = client_.get();
  args.type = to_buffer_type(shape.dtype());
  args.dims = shape.dims().data();
  args.num_dims = shape.dims().size();
  MILLRACE_TRY_STATUS(
      call(&abi::LayoutsExtension::client_default, OtherCall::kDefaultLayout, args));
  return take(args.layout);
}

Result<std::string> Layouts::of_buffer(const PjrtBuffer& buffer) const {
  abi::BufferLayoutArgs args;
  args.buffer = buffer.get();
  MILLRACE_TRY_STATUS(call(&abi::LayoutsExtension::of_buffer, OtherCall::kBufferLayout, args));
  return take(args.layout);
}

Result<std::vector<std::string>> Layouts::of_program(const PjrtExecutable& executable,
                                                     bool inputs) const {
  abi::ExecutableLayoutsArgs args;
  args.executable = executable.get();
  MILLRACE_TRY_STATUS(
      call(inputs ? &abi::LayoutsExtension::of_parameters : &abi::LayoutsExtension::of_outputs,
           inputs ? OtherCall::kParameterLayouts : OtherCall::kOutputLayouts, args));
  std::vector<std::string> texts;
  for (std::size_t i = 0; args.layouts != nullptr && i < args.num_layouts; ++i) {
    MILLRACE_TRY(std::string text, read(args.layouts[i]));
    texts.push_back(std::move(text));
  }
  return texts;
}

Result<std::vector<std::string>> Layouts::of_inputs(const PjrtExecutable& executable) const {
  return of_program(executable, true);
}

Result<std::vector<std::string>> Layouts::of_outputs(const PjrtExecutable& executable) const {
  return of_program(executable, false);
}

}  // namespace millrace::devices::pjrt
