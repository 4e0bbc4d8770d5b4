// The JSON header of safetensors files: a reader for headers that strangers made, as a handler of
// parse events (so no depth and no document is ever built), and the checks of what it has read.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "millrace/core/base/json_text.h"
#include "millrace/transfer/formats/safetensors.h"

namespace millrace::transfer {
namespace {

using devices::DType;
using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little,
              "the arrays of a safetensors file are little-endian, and are used as they lie there");

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::string_view kMetadataKey = "__metadata__";
// A list is refused when it is longer, not when it has been read: a header may be 100 MB.
constexpr std::size_t kMostDims = 64;
static_assert(kMostDims >= devices::kMaxRank);

struct Name {
  std::string_view text;
  DType type;
};
// Without the types that the format has not, or packs (those below a byte). Its F8_E4M3 is the
// finite one of PyTorch (float8_e4m3fn).
constexpr std::array<Name, 19> kNames = {{{"BOOL", DType::kI1},
                                          {"I8", DType::kI8},
                                          {"I16", DType::kI16},
                                          {"I32", DType::kI32},
                                          {"I64", DType::kI64},
                                          {"U8", DType::kU8},
                                          {"U16", DType::kU16},
                                          {"U32", DType::kU32},
                                          {"U64", DType::kU64},
                                          {"F16", DType::kF16},
                                          {"BF16", DType::kBF16},
                                          {"F32", DType::kF32},
                                          {"F64", DType::kF64},
                                          {"C64", DType::kC64},
                                          {"F8_E4M3", DType::kF8E4M3FN},
                                          {"F8_E5M2", DType::kF8E5M2},
                                          {"F8_E8M0", DType::kF8E8M0FNU},
                                          {"F8_E4M3FNUZ", DType::kF8E4M3FNUZ},
                                          {"F8_E5M2FNUZ", DType::kF8E5M2FNUZ}}};

struct Wrong {
  ErrorCode code = ErrorCode::kDataLoss;
  std::uint64_t at = 0;  // in the file
  std::string words;
};

// One array as in the header.
struct Entry {
  std::string name;
  std::uint64_t at = 0;  // behind its name in the file
  std::optional<std::string> dtype;
  std::optional<std::vector<std::uint64_t>> shape;
  std::optional<std::vector<std::uint64_t>> offsets;
};

// Walks over text and keeps its position.
class CountedText {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountedText(const char* next, const char** reached) : next_(next), reached_(reached) {}
  reference operator*() const { return *next_; }
  CountedText& operator++() {
    *reached_ = ++next_;
    return *this;
  }
  CountedText operator++(int) {
    CountedText before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountedText& other) const { return next_ == other.next_; }

 private:
  const char* next_;
  const char** reached_;
};

// Takes {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...,
// "__metadata__": {"key": "text"}} and nothing else, apart from fields of an array that it does not
// know: these it leaves out, as the package does, because the three that it knows say all about the
// bytes. Every member function answers "continue?".
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : text_(text), reached_(text.data()) {}

  std::optional<Wrong> read() {
    const std::span<const char> letters(text_);
    const CountedText begin(letters.data(), &reached_);
    const CountedText end(letters.data() + letters.size(), &reached_);
    const bool whole = Json::sax_parse(begin, end, this);
    if (!whole && !wrong_) refuse("it is no JSON");
    return std::move(wrong_);
  }
  std::vector<Entry>& entries() { return entries_; }
  SafetensorsMetadata& metadata() { return metadata_; }

  // What the parser calls.
  bool null() {
    // For the metadata the package takes it for none.
    return skips(0) || moves(Place::kBeforeMetadata, Place::kTop) ||
           refuse("null has no place here");
  }
  bool boolean(bool /*value*/) { return skips(0) || refuse("true and false have no place here"); }
  bool number_integer(std::int64_t value) {
    if (value >= 0) return number_unsigned(static_cast<std::uint64_t>(value));
    return skips(0) || refuse("a negative number has no place here");
  }
  bool number_unsigned(std::uint64_t value) {
    if (skips(0)) return true;
    const bool dims = place_ == Place::kShape;
    if (!dims && place_ != Place::kOffsets) return refuse("a number has no place here");
    std::vector<std::uint64_t>& list = dims ? *entries_.back().shape : *entries_.back().offsets;
    if (dims && list.size() == kMostDims) {
      return refuse("it has more than " + std::to_string(kMostDims) + " dimensions",
                    ErrorCode::kUnimplemented);
    }
    if (!dims && list.size() == 2) return refuse("'data_offsets' must be two numbers");
    list.push_back(value);
    return true;
  }
  bool number_float(double /*value*/, const std::string& text) {
    return skips(0) || refuse("'" + text.substr(0, 40) + "' is no whole number below 2^64");
  }
  bool string(std::string& text) {
    if (skips(0)) return true;
    if (moves(Place::kDtype, Place::kEntry)) {
      entries_.back().dtype = std::move(text);
    } else if (moves(Place::kMetadataText, Place::kMetadata)) {
      metadata_[key_] = std::move(text);
    } else {
      return refuse("a string has no place here");
    }
    return true;
  }
  bool binary(std::vector<std::uint8_t>& /*value*/) { return refuse("binary has no place here"); }
  bool start_object(std::size_t /*elements*/) {
    return skips(1) || moves(Place::kStart, Place::kTop) ||
           moves(Place::kBeforeEntry, Place::kEntry) ||
           moves(Place::kBeforeMetadata, Place::kMetadata) || refuse("an object has no place here");
  }
  bool end_object() {
    if (skips(-1) || moves(Place::kTop, Place::kEnd) || moves(Place::kMetadata, Place::kTop))
      return true;
    const Entry& entry = entries_.back();
    if (!entry.dtype || !entry.shape || !entry.offsets)
      return refuse("it lacks 'dtype', 'shape' or 'data_offsets'");
    return moves(Place::kEntry, Place::kTop);
  }
  bool start_array(std::size_t /*elements*/) {
    if (skips(1)) return true;
    if (moves(Place::kBeforeShape, Place::kShape)) {
      entries_.back().shape.emplace();
    } else if (moves(Place::kBeforeOffsets, Place::kOffsets)) {
      entries_.back().offsets.emplace();
    } else {
      return refuse("a list has no place here");
    }
    return true;
  }
  bool end_array() {
    if (skips(-1) || moves(Place::kShape, Place::kEntry)) return true;
    if (entries_.back().offsets->size() != 2) return refuse("'data_offsets' must be two numbers");
    return moves(Place::kOffsets, Place::kEntry);
  }
  bool key(std::string& text) {
    switch (place_) {
      case Place::kSkipped:
        return true;
      case Place::kTop:
        return top_key(text);
      case Place::kEntry:
        return entry_key(text);
      default:
        if (metadata_.contains(text)) return refuse("the key '" + text + "' is there twice");
        key_ = std::move(text);
        place_ = Place::kMetadataText;
        return true;
    }
  }
  bool parse_error(std::size_t /*position*/, const std::string& token,
                   const nlohmann::detail::exception& /*error*/) {
    return refuse("it is no JSON at '" + token.substr(0, 40) + "'");
  }

 private:
  enum class Place : std::uint8_t {
    kStart,           // -> kTop
    kTop,             // between entries -> kBeforeEntry, kBeforeMetadata, kEnd
    kBeforeEntry,     // -> kEntry
    kEntry,           // between its fields -> kDtype, kBeforeShape, kBeforeOffsets, kSkipped, kTop
    kDtype,           // -> kEntry
    kBeforeShape,     // -> kShape
    kShape,           // -> kEntry
    kBeforeOffsets,   // -> kOffsets
    kOffsets,         // -> kEntry
    kSkipped,         // before or in the value of an unknown field -> kEntry
    kBeforeMetadata,  // -> kMetadata, kTop
    kMetadata,        // -> kMetadataText, kTop
    kMetadataText,    // -> kMetadata
    kEnd,             // final
  };

  bool moves(Place from, Place to) {
    if (place_ != from) return false;
    place_ = to;
    return true;
  }
  // Whether what comes is of an unknown field: a value (0), or the front (1) or end (-1) of a list.
  bool skips(int depth) {
    if (place_ != Place::kSkipped) return false;
    skipped_depth_ += depth;
    if (skipped_depth_ == 0) place_ = Place::kEntry;
    return true;
  }

  bool refuse(std::string words, ErrorCode code = ErrorCode::kDataLoss) {
    if (wrong_) return false;
    if (place_ != Place::kStart && place_ != Place::kTop && place_ != Place::kEnd) {
      const bool metadata = place_ >= Place::kBeforeMetadata;
      words = (metadata ? std::string(kMetadataKey) : "array '" + entries_.back().name + "'") +
              ": " + words;
    }
    wrong_ = Wrong{code, here(), "wrong safetensors header: " + std::move(words)};
    return false;
  }
  std::uint64_t here() const {
    return kLengthBytes + static_cast<std::uint64_t>(reached_ - text_.data());
  }
  bool top_key(std::string& text) {
    if (text == kMetadataKey) {
      if (has_metadata_) return refuse("'__metadata__' is there twice");
      has_metadata_ = true;
      place_ = Place::kBeforeMetadata;
      return true;
    }
    if (!names_.insert(text).second) return refuse("array '" + text + "' is there twice");
    entries_.push_back({.name = std::move(text), .at = here()});
    place_ = Place::kBeforeEntry;
    return true;
  }
  bool entry_key(const std::string& text) {
    const Entry& entry = entries_.back();
    const bool again = (text == "dtype" && entry.dtype) || (text == "shape" && entry.shape) ||
                       (text == "data_offsets" && entry.offsets);
    if (again) return refuse("'" + text + "' is there twice");
    place_ = text == "dtype"          ? Place::kDtype
             : text == "shape"        ? Place::kBeforeShape
             : text == "data_offsets" ? Place::kBeforeOffsets
                                      : Place::kSkipped;
    return true;
  }

  const std::string_view text_;
  const char* reached_;
  Place place_ = Place::kStart;
  std::string key_;
  bool has_metadata_ = false;
  std::int64_t skipped_depth_ = 0;
  std::set<std::string> names_;
  std::vector<Entry> entries_;
  SafetensorsMetadata metadata_;
  std::optional<Wrong> wrong_;
};

// The shape of an entry whose bytes are as many as the shape wants.
std::expected<devices::Shape, Wrong> shape_of(const Entry& entry, std::uint64_t data_bytes) {
  const auto wrong = [&](ErrorCode code, const std::string& words) {
    return std::unexpected(Wrong{code, entry.at, "array '" + entry.name + "': " + words});
  };
  const auto* const name = std::ranges::find(kNames, std::string_view(*entry.dtype), &Name::text);
  if (name == kNames.end()) {
    return wrong(ErrorCode::kUnimplemented,
                 "element type '" + entry.dtype->substr(0, 40) + "' has no counterpart");
  }
  if (entry.shape->size() > devices::kMaxRank) {
    return wrong(ErrorCode::kUnimplemented, std::to_string(entry.shape->size()) +
                                                " dimensions; an array here has at most " +
                                                std::to_string(devices::kMaxRank));
  }
  // Dimensions of zero are left out of the product, so that it overflows in no order of them.
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t bytes = devices::byte_width(name->type);
  bool empty = false;
  std::vector<std::int64_t> dims;
  for (const std::uint64_t dim : *entry.shape) {
    if (dim == 0) empty = true;
    if (dim > kMost || (dim != 0 && bytes > kMost / dim)) {
      return wrong(ErrorCode::kDataLoss, "its shape has more than 2^63 bytes");
    }
    if (dim != 0) bytes *= dim;
    dims.push_back(static_cast<std::int64_t>(dim));
  }
  if (empty) bytes = 0;
  const std::uint64_t begin = (*entry.offsets)[0];
  const std::uint64_t end = (*entry.offsets)[1];
  if (begin > end || end > data_bytes) {
    return wrong(ErrorCode::kDataLoss, "its bytes " + std::to_string(begin) + " to " +
                                           std::to_string(end) + " are not among the file's " +
                                           std::to_string(data_bytes));
  }
  const devices::Shape shape(name->type, dims);
  if (end - begin != bytes) {
    return wrong(ErrorCode::kDataLoss, "it has " + std::to_string(end - begin) + " bytes, but " +
                                           shape.to_string() + " takes " + std::to_string(bytes));
  }
  return shape;
}

// The arrays in the order of their bytes, which must follow each other up to the end of the file.
std::expected<std::vector<SafetensorsArray>, Wrong> check_entries(std::vector<Entry> entries,
                                                                  std::uint64_t data_offset,
                                                                  std::uint64_t data_bytes) {
  for (const Entry& entry : entries) {
    if (const auto shape = shape_of(entry, data_bytes); !shape) {
      return std::unexpected(shape.error());
    }
  }
  std::ranges::stable_sort(entries, {}, [](const Entry& entry) { return *entry.offsets; });
  std::vector<SafetensorsArray> arrays;
  std::uint64_t next = 0;
  for (Entry& entry : entries) {
    const std::uint64_t begin = (*entry.offsets)[0];
    if (begin != next) {
      const std::string words = begin > next ? "no array has the bytes from " : "bytes from ";
      return std::unexpected(
          Wrong{ErrorCode::kDataLoss, data_offset + std::min(begin, next),
                words + std::to_string(std::min(begin, next)) + " on" +
                    (begin > next ? " before" : " belong to two arrays, one of them") + " array '" +
                    entry.name + "'"});
    }
    next = (*entry.offsets)[1];
    arrays.push_back({std::move(entry.name), *shape_of(entry, data_bytes), data_offset + begin});
  }
  if (next != data_bytes) {
    return std::unexpected(Wrong{ErrorCode::kDataLoss, data_offset + next,
                                 "oversized: bytes follow those of the last array"});
  }
  return arrays;
}

}  // namespace

Result<SafetensorsHeader> parse_safetensors(std::span<const std::byte> file,
                                            const std::string& name,
                                            const SafetensorsLimits& limits) {
  const auto wrong = [&](const Wrong& what) {
    return std::unexpected(file_error(what.code, {name, what.at, false}, what.words));
  };
  if (file.size() < kLengthBytes) {
    return wrong({.at = file.size(), .words = "no safetensors file: it has less than 8 bytes"});
  }
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) {
    length = length << 8 | std::to_integer<std::uint64_t>(file[i]);
  }
  const std::uint64_t rest = file.size() - kLengthBytes;
  if (length > limits.header_bytes) {
    return wrong({.code = ErrorCode::kResourceExhausted,
                  .words = "no safetensors file, or its header claims " + std::to_string(length) +
                           " bytes; the limit is " + std::to_string(limits.header_bytes)});
  }
  if (length > rest) {
    return wrong({.at = file.size(),
                  .words = "truncated: its header claims " + std::to_string(length) + " bytes"});
  }
  const auto text = std::string_view(reinterpret_cast<const char*>(file.data()), file.size())
                        .substr(kLengthBytes, length);
  if (!text.starts_with('{')) {
    return wrong(
        {.at = kLengthBytes, .words = "no safetensors file: its header does not start with '{'"});
  }
  HeaderReader reader(text);
  if (const std::optional<Wrong> refused = reader.read()) return wrong(*refused);
  SafetensorsHeader header;
  header.data_offset = kLengthBytes + length;
  auto arrays = check_entries(std::move(reader.entries()), header.data_offset, rest - length);
  if (!arrays) return wrong(arrays.error());
  header.arrays = *std::move(arrays);
  header.metadata = std::move(reader.metadata());
  return header;
}

Result<SafetensorsLayout> lay_out_safetensors(std::span<const NamedArray> arrays,
                                              const SafetensorsMetadata& metadata,
                                              const SafetensorsLimits& limits) {
  SafetensorsLayout layout;
  layout.order.resize(arrays.size());
  for (std::size_t i = 0; i < arrays.size(); ++i) layout.order[i] = i;
  std::ranges::stable_sort(layout.order, std::ranges::greater(), [&](std::size_t i) {
    return devices::byte_width(arrays[i].shape.dtype());
  });
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!metadata.empty()) json[std::string(kMetadataKey)] = metadata;
  std::set<std::string_view> names = {kMetadataKey};
  std::uint64_t next = 0;
  for (const std::size_t i : layout.order) {
    const NamedArray& array = arrays[i];
    const auto* const dtype = std::ranges::find(kNames, array.shape.dtype(), &Name::type);
    if (dtype == kNames.end()) {
      return fail(ErrorCode::kUnimplemented, "writing '" + array.name +
                                                 "' as safetensors: " + array.shape.to_string() +
                                                 " has an element type that the format has not");
    }
    if (!names.insert(array.name).second) {
      return fail(ErrorCode::kInvalidArgument,
                  "writing '" + array.name + "' as safetensors: the name is " +
                      (array.name == kMetadataKey ? "the format's own" : "there twice"));
    }
    const std::uint64_t end = next + array.shape.size_bytes();
    const std::vector<std::int64_t> dims(array.shape.dims().begin(), array.shape.dims().end());
    json[array.name] = {{"dtype", dtype->text}, {"shape", dims}, {"data_offsets", {next, end}}};
    next = end;
  }
  std::string text;
  try {
    text = exact_json_text(json);
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kInvalidArgument,
                std::string("writing names as safetensors: ") + error.what());
  }
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > limits.header_bytes) {
    return fail(ErrorCode::kResourceExhausted,
                "writing " + std::to_string(arrays.size()) +
                    " arrays as safetensors: their header "
                    "would have " +
                    std::to_string(text.size()) + " bytes, but readers take " +
                    std::to_string(limits.header_bytes) +
                    " at most: have fewer or shorter names, or less metadata");
  }
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    layout.front += static_cast<char>(text.size() >> (8 * i) & 0xff);
  }
  layout.front += text;
  layout.file_bytes = layout.front.size() + next;
  return layout;
}

}  // namespace millrace::transfer
