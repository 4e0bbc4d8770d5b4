// The text header of NPY files: a reader of the Python literals that NumPy writes, and a writer.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "millrace/transfer/formats/npy.h"

namespace millrace::transfer {
namespace {

using devices::DType;

constexpr std::string_view kMagic("\x93NUMPY", 6);

struct Name {
  std::string_view text;  // without the byte order
  DType type;
};
constexpr std::array<Name, 15> kNames = {{{"b1", DType::kI1},
                                          {"i1", DType::kI8},
                                          {"i2", DType::kI16},
                                          {"i4", DType::kI32},
                                          {"i8", DType::kI64},
                                          {"u1", DType::kU8},
                                          {"u2", DType::kU16},
                                          {"u4", DType::kU32},
                                          {"u8", DType::kU64},
                                          {"f2", DType::kF16},
                                          {"f4", DType::kF32},
                                          {"f8", DType::kF64},
                                          {"c8", DType::kC64},
                                          {"c16", DType::kC128},
                                          // By ml_dtypes; NumPy itself cannot load it, so that it
                                          // is written as raw bytes.
                                          {"f1", DType::kF8E5M2}}};

// A place in the text of the header, and what went wrong there.
struct Wrong {
  std::size_t at;
  std::string words;
};
template <class T>
using Parsed = std::expected<T, Wrong>;

// Reads {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } in any order.
class DictReader {
 public:
  explicit DictReader(std::string_view text) : text_(text) {}

  struct Fields {
    std::optional<std::string_view> descr;
    std::size_t descr_at = 0;
    std::optional<bool> fortran_order;
    std::optional<std::array<std::int64_t, devices::kMaxRank>> dims;
    int rank = 0;
    std::size_t shape_at = 0;
  };

  Parsed<Fields> read() {
    Fields f;
    if (!take('{')) return wrong("a dictionary in braces is expected");
    while (!take('}')) {
      MILLRACE_TRY(const std::string_view key, string());
      if (!take(':')) return wrong("':' is expected");
      MILLRACE_TRY_STATUS(field(key, f));
      if (!take(',') && !at('}')) return wrong("',' or '}' is expected");
    }
    blanks();
    if (next_ != text_.size()) return wrong("nothing may follow the dictionary");
    if (!f.descr || !f.fortran_order || !f.dims) {
      return wrong("the dictionary lacks 'descr', 'fortran_order' or 'shape'");
    }
    return f;
  }

 private:
  std::unexpected<Wrong> wrong(std::string words) const {
    return std::unexpected(Wrong{next_, std::move(words)});
  }
  void blanks() {
    while (next_ < text_.size() && (text_[next_] == ' ' || text_[next_] == '\n')) ++next_;
  }
  bool at(char c) {
    blanks();
    return next_ < text_.size() && text_[next_] == c;
  }
  bool take(char c) {
    if (!at(c)) return false;
    ++next_;
    return true;
  }
  bool take_word(std::string_view word) {
    blanks();
    if (!text_.substr(next_).starts_with(word)) return false;
    next_ += word.size();
    return true;
  }

  Parsed<std::string_view> string() {
    blanks();
    const char quote = next_ < text_.size() ? text_[next_] : '\0';
    if (quote != '\'' && quote != '"') return wrong("a string in quotes is expected");
    const std::size_t end = text_.find(quote, next_ + 1);
    if (end == std::string_view::npos) return wrong("this string has no end");
    const std::string_view value = text_.substr(next_ + 1, end - next_ - 1);
    next_ = end + 1;
    return value;
  }

  Parsed<void> field(std::string_view key, Fields& f) {
    blanks();
    if (key == "descr" && !f.descr) {
      f.descr_at = next_;
      if (at('[')) return wrong("records with named fields are no array of one type");
      MILLRACE_TRY(f.descr, string());
      return {};
    }
    if (key == "fortran_order" && !f.fortran_order) {
      if (take_word("True")) {
        f.fortran_order = true;
      } else if (take_word("False")) {
        f.fortran_order = false;
      } else {
        return wrong("True or False is expected");
      }
      return {};
    }
    if (key == "shape" && !f.dims) return shape(f);
    return wrong("'" + std::string(key) + "' is unknown, or there twice");
  }

  // (), (3,) or (3, 4) with an optional last comma.
  Parsed<void> shape(Fields& f) {
    f.shape_at = next_;
    f.dims.emplace();
    if (!take('(')) return wrong("a shape in parentheses is expected");
    while (!take(')')) {
      blanks();
      std::int64_t dim = 0;
      const char* from = text_.data() + next_;
      const auto [to, error] = std::from_chars(from, text_.data() + text_.size(), dim);
      if (error != std::errc() || dim < 0) return wrong("a dimension (0 to 2^63 - 1) is expected");
      if (f.rank == devices::kMaxRank) return wrong("more dimensions than an array here may have");
      (*f.dims)[static_cast<std::size_t>(f.rank++)] = dim;
      next_ += static_cast<std::size_t>(to - from);
      if (!take(',') && !at(')')) return wrong("',' or ')' is expected");
    }
    return {};
  }

  std::string_view text_;
  std::size_t next_ = 0;
};

struct Element {
  DType type = DType::kInvalid;
  bool swapped = false;
  bool raw = false;
};

// What "<f4" stands for. Raw bytes ("|V2") stand for `as`, if they have its width.
std::optional<Element> element_of(std::string_view descr, std::optional<DType> as) {
  if (descr.size() < 3) return std::nullopt;
  const char order = descr[0];
  const std::string_view name = descr.substr(1);
  Element element;
  if (name[0] == 'V') {
    if (as && name.substr(1) == std::to_string(devices::byte_width(*as))) element.type = *as;
    element.raw = true;
  } else {
    const auto* found =
        std::find_if(kNames.begin(), kNames.end(), [&](const Name& n) { return n.text == name; });
    if (found != kNames.end()) element.type = found->type;
  }
  if (element.type == DType::kInvalid) return std::nullopt;
  constexpr bool kLittle = std::endian::native == std::endian::little;
  const bool wide = devices::byte_width(element.type) > 1;
  element.swapped = wide && (order == '>' ? kLittle : order == '<' && !kLittle);
  if (order != '<' && order != '>' && order != '=' && order != '|') return std::nullopt;
  return element;
}

}  // namespace

Result<NpyHeader> parse_npy_header(std::span<const std::byte> bytes, const ByteSource& source,
                                   const NpyOptions& options) {
  const auto wrong = [&](std::size_t at, ErrorCode code, const std::string& words) {
    return fail_at(source, at, code, words);
  };
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t known = std::min(kMagic.size(), text.size());
  if (text.substr(0, known) != kMagic.substr(0, known) || text.empty()) {
    return wrong(0, ErrorCode::kDataLoss, "no NPY file: it does not start with \\x93NUMPY");
  }
  const auto truncated = [&] {
    return wrong(text.size(), ErrorCode::kDataLoss, "truncated inside its NPY header");
  };
  if (text.size() < 10) return truncated();
  const int version = static_cast<unsigned char>(text[6]);
  if (version < 1 || version > 3) {
    return wrong(6, ErrorCode::kUnimplemented,
                 "NPY version " + std::to_string(version) + "; 1 to 3 are known");
  }
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t start = 8 + length_bytes;
  if (text.size() < start) return truncated();
  std::size_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(text[8 + i]);
  }
  if (text.size() - start < length) return truncated();

  const Parsed<DictReader::Fields> fields = DictReader(text.substr(start, length)).read();
  if (!fields) {
    return wrong(start + fields.error().at, ErrorCode::kDataLoss,
                 "wrong NPY header: " + fields.error().words);
  }
  const std::optional<Element> element = element_of(*fields->descr, options.as);
  if (!element) {
    return wrong(start + fields->descr_at, ErrorCode::kUnimplemented,
                 "element type '" + std::string(*fields->descr) + "' has no counterpart" +
                     (options.as ? " that is " + std::string(to_string(*options.as)) : ""));
  }
  DType type = element->type;
  if (options.as && npy_stand_in(*options.as) == type) type = *options.as;
  if (options.as && *options.as != type) {
    return wrong(start + fields->descr_at, ErrorCode::kInvalidArgument,
                 "its elements are " + std::string(to_string(type)) + ", but " +
                     std::string(to_string(*options.as)) + " is expected");
  }
  std::uint64_t total = devices::byte_width(type);
  for (int i = 0; i < fields->rank; ++i) {
    const auto dim = static_cast<std::uint64_t>((*fields->dims)[static_cast<std::size_t>(i)]);
    if (dim != 0 && total > options.max_bytes / dim) {
      return wrong(
          start + fields->shape_at, ErrorCode::kResourceExhausted,
          "its shape is larger than the limit of " + std::to_string(options.max_bytes) + " bytes");
    }
    total *= dim;
  }
  const std::span<const std::int64_t> dims =
      std::span(*fields->dims).first(static_cast<std::size_t>(fields->rank));
  return NpyHeader{devices::Shape(type, dims), *fields->fortran_order, element->swapped,
                   start + length, element->raw};
}

std::optional<DType> npy_stand_in(DType type) {
  if (devices::bit_width(type) >= 8 || type == DType::kI1) return std::nullopt;
  if (devices::is_signed_integer(type)) return DType::kI8;
  if (devices::is_unsigned_integer(type)) return DType::kU8;
  return std::nullopt;
}

bool is_raw_in_npy(DType type) {
  return devices::is_floating(type) && type != DType::kTF32 &&
         (type == DType::kF8E5M2 || std::ranges::find(kNames, type, &Name::type) == kNames.end());
}

Result<std::string> make_npy_header(const devices::Shape& shape) {
  const DType type = npy_stand_in(shape.dtype()).value_or(shape.dtype());
  const auto* name =
      std::find_if(kNames.begin(), kNames.end(), [&](const Name& n) { return n.type == type; });
  const std::size_t width = devices::byte_width(type);
  std::string descr = width == 1 ? "|" : std::endian::native == std::endian::little ? "<" : ">";
  if (is_raw_in_npy(type)) {
    descr += "V" + std::to_string(width);
  } else if (name != kNames.end()) {
    descr += name->text;
  } else {
    return fail(ErrorCode::kUnimplemented,
                "writing " + shape.to_string() + " as NPY: NumPy has no such element type");
  }
  std::string dict = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
  for (int i = 0; i < shape.rank(); ++i) {
    dict += (i > 0 ? ", " : "") + std::to_string(shape.dim(i));
  }
  dict += shape.rank() == 1 ? ",), }" : "), }";
  constexpr std::size_t kPrefix = 10;
  dict.append((64 - (kPrefix + dict.size() + 1) % 64) % 64, ' ');
  dict += '\n';
  std::string header(kMagic);
  header += '\1';
  header += '\0';
  header += static_cast<char>(dict.size() & 0xff);
  header += static_cast<char>(dict.size() >> 8);
  return header + dict;
}

}  // namespace millrace::transfer
