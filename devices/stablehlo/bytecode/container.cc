#include "millrace/devices/stablehlo/bytecode/container.h"

#include <array>
#include <optional>

#include "millrace/devices/stablehlo/bytecode/version.h"

namespace millrace::devices::stablehlo::bytecode {
namespace {

using Sections = std::array<std::optional<Range>, kSections>;

class ContainerReader {
 public:
  ContainerReader(Problem& problem, std::string_view bytes, Container& out)
      : problem_(problem), out_(out) {
    out.file = std::as_bytes(std::span(bytes));
  }

  bool read() {
    ByteCursor in(problem_, out_.file, {0, out_.file.size()});
    return header(in) && sections(in) && strings() && dialects() && offsets() && properties() &&
           section(SectionId::kOperations, "operations", &out_.operations);
  }

 private:
  bool header(ByteCursor& in) {
    Range magic;
    std::uint64_t format = 0;
    if (!in.range(kMagic.size(), &magic)) return false;
    if (in.text(magic) != kMagic) return problem_.fail(0, "this is no MLIR bytecode");
    if (!in.varint(&format)) return false;
    if (format > static_cast<std::uint64_t>(kNewestFormat)) {
      return problem_.fail(magic.size,
                           "the bytecode has format " + std::to_string(format) +
                               ", newer than the " + std::to_string(kNewestFormat) +
                               " of portable artifacts; export the program for an older version",
                           ErrorCode::kUnimplemented);
    }
    out_.format = static_cast<int>(format);
    return in.zero_terminated(&out_.producer);
  }

  // Sections come in any order: they are found first and decoded then.
  bool sections(ByteCursor& in) {
    while (!in.at_end()) {
      const std::size_t begin = in.offset();
      SectionId id{};
      Range contents;
      if (!read_section(in, &id, &contents)) return false;
      auto& place = sections_[static_cast<std::size_t>(id)];
      if (place) {
        return problem_.fail(
            begin, "the section " + std::to_string(static_cast<int>(id)) + " for the second time");
      }
      place = contents;
    }
    return true;
  }

  bool section(SectionId id, std::string_view what, Range* out) {
    const auto& found = sections_[static_cast<std::size_t>(id)];
    if (!found) {
      return problem_.fail(out_.file.size(), "the bytecode has no section of " + std::string(what));
    }
    *out = *found;
    return true;
  }

  // The lengths stand in front, those of the last string first.
  bool strings() {
    Range contents;
    if (!section(SectionId::kString, "strings", &contents)) return false;
    ByteCursor in(problem_, out_.file, contents);
    std::size_t n = 0;
    if (!in.count(&n)) return false;
    out_.strings.resize(n);
    std::size_t end = contents.begin + contents.size;
    for (std::size_t i = n; i-- != 0;) {
      std::uint64_t size = 0;
      if (!in.varint(&size)) return false;
      // The lengths may have run into the strings behind them.
      if (size == 0 || in.offset() > end || size > end - in.offset())
        return in.fail("a string of " + std::to_string(size) + " bytes, which do not fit");
      end -= size;
      // The last byte is a zero.
      out_.strings[i] = in.text({end, size - 1});
    }
    return end == in.offset() || in.fail("bytes that belong to no string");
  }

  bool string(ByteCursor& in, std::uint64_t index, std::string_view* out) {
    if (!in.check_reference("string", out_.strings.size(), index)) return false;
    *out = out_.strings[index];
    return true;
  }

  bool dialects() {
    Range contents;
    if (!section(SectionId::kDialect, "dialects", &contents)) return false;
    ByteCursor in(problem_, out_.file, contents);
    std::size_t n = 0;
    if (!in.count(&n)) return false;
    for (; n != 0; --n) {
      std::uint64_t name = 0;
      bool versioned = false;
      if (!(out_.format < kDialectVersions ? in.varint(&name) : in.flagged(&name, &versioned)) ||
          !string(in, name, &out_.dialects.emplace_back())) {
        return false;
      }
      SectionId id{};
      Range ignored;
      if (versioned && !read_section(in, &id, &ignored)) return false;
    }
    std::uint64_t total = 0;
    if (out_.format >= kElidedLocations && !in.varint(&total)) return false;
    while (!in.at_end()) {
      if (!op_names(in)) return false;
    }
    return true;
  }

  bool op_names(ByteCursor& in) {
    std::uint32_t dialect = 0;
    std::size_t n = 0;
    if (!group(in, &dialect, &n)) return false;
    for (; n != 0; --n) {
      std::uint64_t name = 0;
      bool registered = false;
      OpName& made = out_.op_names.emplace_back();
      made.dialect = dialect;
      if (!(out_.format < kNativeProperties ? in.varint(&name) : in.flagged(&name, &registered)) ||
          !string(in, name, &made.name)) {
        return false;
      }
    }
    return true;
  }

  // The dialect of what follows and how many there are.
  bool group(ByteCursor& in, std::uint32_t* dialect, std::size_t* n) {
    std::size_t index = 0;
    if (!in.reference("dialect", out_.dialects.size(), &index) || !in.count(n)) return false;
    *dialect = static_cast<std::uint32_t>(index);
    return true;
  }

  bool offsets() {
    Range contents;
    Range data;
    if (!section(SectionId::kOffsets, "offsets", &contents) ||
        !section(SectionId::kAttributesAndTypes, "attributes and types", &data)) {
      return false;
    }
    ByteCursor in(problem_, out_.file, contents);
    ByteCursor entries(problem_, out_.file, data);
    std::size_t attributes = 0;
    std::size_t types = 0;
    return in.count(&attributes) && in.count(&types) &&
           entry_list(in, entries, attributes, &out_.attributes) &&
           entry_list(in, entries, types, &out_.types);
  }

  bool entry_list(ByteCursor& in, ByteCursor& entries, std::size_t wanted,
                  std::vector<Entry>* out) {
    out->reserve(std::min(wanted, in.remaining()));
    while (out->size() < wanted) {
      std::uint32_t dialect = 0;
      std::size_t n = 0;
      if (!group(in, &dialect, &n)) return false;
      if (n > wanted - out->size()) return in.fail("more entries than were announced");
      for (; n != 0; --n) {
        Entry& entry = out->emplace_back();
        entry.dialect = dialect;
        std::uint64_t size = 0;
        if (!in.flagged(&size, &entry.custom) || !entries.range(size, &entry.range)) return false;
      }
    }
    return true;
  }

  bool properties() {
    const auto& found = sections_[static_cast<std::size_t>(SectionId::kProperties)];
    if (!found) return true;
    ByteCursor in(problem_, out_.file, *found);
    std::size_t n = 0;
    if (!in.count(&n)) return false;
    out_.properties.reserve(n);
    for (; n != 0; --n) {
      std::uint64_t size = 0;
      if (!in.varint(&size) || !in.range(size, &out_.properties.emplace_back())) return false;
    }
    return true;
  }

  Problem& problem_;
  Container& out_;
  Sections sections_;
};

}  // namespace

bool read_section(ByteCursor& in, SectionId* id, Range* contents) {
  std::uint8_t head = 0;
  std::uint64_t size = 0;
  if (!in.byte(&head) || !in.varint(&size)) return false;
  const int number = head & 0x7F;
  if (number >= kSections) return in.fail("an unknown section " + std::to_string(number));
  *id = static_cast<SectionId>(number);
  if ((head & 0x80) != 0) {
    std::uint64_t alignment = 0;
    if (!in.varint(&alignment) || !in.align(alignment)) return false;
  }
  return in.range(size, contents);
}

bool read_container(Problem& problem, std::string_view bytes, Container* out) {
  return ContainerReader(problem, bytes, *out).read();
}

}  // namespace millrace::devices::stablehlo::bytecode
