#include "millrace/transfer/formats/safetensors.h"

#include <algorithm>
#include <utility>

#include "millrace/core/base/check.h"

namespace millrace::transfer {

Status write_safetensors_file(const std::string& path, std::span<const NamedArray> arrays,
                              const SafetensorsMetadata& metadata) {
  MILLRACE_TRY(const SafetensorsLayout layout, lay_out_safetensors(arrays, metadata));
  std::vector<std::span<const std::byte>> pieces = {std::as_bytes(std::span(layout.front))};
  for (const std::size_t i : layout.order) {
    MILLRACE_CHECK(arrays[i].bytes.size() == arrays[i].shape.size_bytes(),
                   "an array has the bytes of its shape");
    pieces.push_back(arrays[i].bytes);
  }
  return write_file(path, pieces);
}

Result<SafetensorsFile> SafetensorsFile::open(const std::string& path,
                                              const SafetensorsLimits& limits) {
  MILLRACE_TRY(const File file, File::open(path));
  MILLRACE_TRY(MappedFile mapped, MappedFile::map(file));
  MILLRACE_TRY(SafetensorsHeader header, parse_safetensors(mapped.bytes(), path, limits));
  return SafetensorsFile(
      std::make_shared<const Parts>(Parts{std::move(mapped), std::move(header), path}));
}

Result<devices::HostArray> SafetensorsFile::array(std::string_view name) const {
  const auto& arrays = parts_->header.arrays;
  const auto found = std::ranges::find(arrays, name, &SafetensorsArray::name);
  if (found == arrays.end()) {
    return fail(ErrorCode::kNotFound, parts_->path + " has no array '" + std::string(name) + "'");
  }
  const std::span<const std::byte> lies = bytes().subspan(found->offset, found->shape.size_bytes());
  const auto address = reinterpret_cast<std::uintptr_t>(lies.data());
  if (address % devices::byte_width(found->shape.dtype()) == 0) {
    return devices::HostArray(found->shape, lies, parts_);
  }
  devices::HostArray copy = devices::HostArray::make_unwritten(found->shape);
  std::ranges::copy(lies, copy.mutable_bytes().begin());
  return copy;
}

}  // namespace millrace::transfer
