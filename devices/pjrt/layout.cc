#include "millrace/devices/pjrt/layout.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "millrace/devices/pjrt/buffer.h"
#include "millrace/devices/pjrt/client.h"
#include "millrace/devices/pjrt/dtype.h"
#include "millrace/devices/pjrt/executable.h"
#include "millrace/devices/pjrt/layouts_abi.h"

namespace millrace::devices::pjrt {
namespace {

std::string list_of(std::span<const std::int64_t> numbers) {
  std::string text;
  for (const std::int64_t n : numbers) text += (text.empty() ? "" : ",") + std::to_string(n);
  return text;
}

constexpr std::size_t index_of(abi::LayoutsSlot slot) { return static_cast<std::size_t>(slot); }

}  // namespace

DeviceLayout DeviceLayout::row_major(int rank) {
  DeviceLayout layout;
  for (int d = rank - 1; d >= 0; --d) layout.minor_to_major.push_back(d);
  return layout;
}

std::string DeviceLayout::to_text() const {
  std::string text = "{" + list_of(minor_to_major);
  if (!tiles.empty()) text += ":T";
  for (const auto& tile : tiles) text += "(" + list_of(tile) + ")";
  return text + "}";
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
Status Layouts::call(std::size_t slot, std::string_view name, A& args) const {
  // The functions come right behind the head that all extensions have.
  const std::size_t end = sizeof(*extension_) + (slot + 1) * sizeof(void*);
  void* const function =
      extension_ == nullptr || extension_->struct_size < end
          ? nullptr
          : static_cast<const abi::LayoutsExtension*>(extension_)->functions[slot];
  const std::string full = "PJRT_Layouts_" + std::string(name);
  if (function == nullptr) {
    return fail(ErrorCode::kUnimplemented,
                "the plugin " + client_.plugin().name() + " has no function " + full);
  }
  args.struct_size = sizeof(A);
  abi::Error* error = nullptr;
  try {
    error = reinterpret_cast<abi::Function<A>>(function)(&args);
  } catch (...) {
    return fail(ErrorCode::kInternal, full + " threw an exception");
  }
  if (error != nullptr) return std::unexpected(client_.plugin().take_error(error, full));
  return {};
}

// The layout's text; the layout goes.
Result<std::string> Layouts::take(void* layout) const {
  if (layout == nullptr)
    return fail(ErrorCode::kInternal, client_.plugin().name() + " gives no layout");
  abi::LayoutSerializeArgs written;
  written.layout = static_cast<abi::Layout*>(layout);
  const Status told =
      call(index_of(abi::LayoutsSlot::kSerialize), "MemoryLayout_Serialize", written);
  std::string text;
  if (told && written.text != nullptr) text.assign(written.text, written.text_size);
  if (told && written.deleter != nullptr) {
    client_.plugin().quietly("the deleter of PJRT_Layouts_MemoryLayout_Serialize",
                             [&] { written.deleter(written.owner); });
  }
  abi::LayoutDestroyArgs destroy;
  destroy.layout = written.layout;
  MILLRACE_TRY_STATUS(call(index_of(abi::LayoutsSlot::kDestroy), "MemoryLayout_Destroy", destroy));
  MILLRACE_TRY_STATUS(told);
  return text;
}

Result<std::string> Layouts::default_of(const Shape& shape) const {
  abi::ClientDefaultLayoutArgs args;
  args.client = client_.get();
  args.type = to_buffer_type(shape.dtype());
  args.dims = shape.dims().data();
  args.num_dims = shape.dims().size();
  MILLRACE_TRY_STATUS(
      call(index_of(abi::LayoutsSlot::kClientDefault), "PJRT_Client_GetDefaultLayout", args));
  return take(args.layout);
}

Result<std::string> Layouts::of_buffer(const PjrtBuffer& buffer) const {
  abi::BufferLayoutArgs args;
  args.buffer = buffer.get();
  MILLRACE_TRY_STATUS(call(index_of(abi::LayoutsSlot::kBuffer), "PJRT_Buffer_MemoryLayout", args));
  return take(args.layout);
}

Result<std::vector<std::string>> Layouts::of_program(const PjrtExecutable& executable,
                                                     bool inputs) const {
  abi::ExecutableLayoutsArgs args;
  args.executable = executable.get();
  const auto slot = inputs ? abi::LayoutsSlot::kParameters : abi::LayoutsSlot::kOutputs;
  MILLRACE_TRY_STATUS(call(
      index_of(slot),
      inputs ? "PJRT_Executable_GetParameterLayouts" : "PJRT_Executable_GetOutputLayouts", args));
  std::vector<std::string> texts;
  for (std::size_t i = 0; args.layouts != nullptr && i < args.num_layouts; ++i) {
    abi::LayoutSerializeArgs written;
    written.layout = args.layouts[i];
    MILLRACE_TRY_STATUS(
        call(index_of(abi::LayoutsSlot::kSerialize), "MemoryLayout_Serialize", written));
    texts.emplace_back(written.text == nullptr ? "" : written.text,
                       written.text == nullptr ? 0 : written.text_size);
    if (written.deleter != nullptr) {
      client_.plugin().quietly("the deleter of PJRT_Layouts_MemoryLayout_Serialize",
                               [&] { written.deleter(written.owner); });
    }
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
