#include "millrace/devices/stablehlo/bytecode/container.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "millrace/devices/stablehlo/bytecode/version.h"

namespace millrace::devices::stablehlo::bytecode {
namespace {

class ContainerReader {
 public:
  explicit ContainerReader(const File& file) : file_(file) {}

  Container read() {
    ByteCursor in(file_, {0, file_.size()});
    header(in);
    sections(in);
    strings();
    dialects();
    offsets();
    properties();
    out_.operations = section(SectionId::kOperations, "operations");
    return std::move(out_);
  }

 private:
  void header(ByteCursor& in) {
    if (file_.text(in.range(kMagic.size())) != kMagic) file_.fail(0, "this is no MLIR bytecode");
    const std::uint64_t format = in.varint();
    if (format > static_cast<std::uint64_t>(kNewestFormat)) {
      file_.fail(kMagic.size(),
                 "the bytecode has format " + std::to_string(format) + ", newer than the " +
                     std::to_string(kNewestFormat) +
                     " of portable artifacts; export the program for an older version",
                 ErrorCode::kUnimplemented);
    }
    out_.format = static_cast<int>(format);
    in.zero_terminated();  // "StableHLO_v1.17.0" of a portable artifact
  }

  // Sections come in any order: they are found first and decoded then.
  void sections(ByteCursor& in) {
    while (!in.at_end()) {
      const std::size_t begin = in.offset();
      const auto [id, contents] = read_section(in);
      const auto number = static_cast<std::size_t>(id);
      if (sections_[number])
        file_.fail(begin, "the section " + std::to_string(number) + " for the second time");
      sections_[number] = contents;
    }
  }

  Range section(SectionId id, std::string_view what) const {
    const auto& found = sections_[static_cast<std::size_t>(id)];
    if (!found) file_.fail(file_.size(), "the bytecode has no section of " + std::string(what));
    return *found;
  }

  // The lengths stand in front, those of the last string first.
  void strings() {
    const Range contents = section(SectionId::kString, "strings");
    ByteCursor in(file_, contents);
    out_.strings.resize(in.count());
    std::size_t end = contents.begin + contents.size;
    for (std::size_t i = out_.strings.size(); i-- != 0;) {
      const std::uint64_t size = in.varint();
      // The lengths may have run into the strings behind them.
      if (size == 0 || in.offset() > end || size > end - in.offset())
        in.fail("a string of " + std::to_string(size) + " bytes, which do not fit");
      end -= size;
      // The last byte is a zero.
      out_.strings[i] = file_.text({end, size - 1});
    }
    if (end != in.offset()) in.fail("bytes that belong to no string");
  }

  std::string_view string(const ByteCursor& in, std::uint64_t index) const {
    return out_.strings[in.check_reference("string", out_.strings.size(), index)];
  }

  void dialects() {
    ByteCursor in(file_, section(SectionId::kDialect, "dialects"));
    for (std::size_t n = in.count(); n != 0; --n) {
      const auto [name, versioned] = in.flagged_if(out_.format >= kDialectVersions);
      out_.dialects.push_back(string(in, name));
      if (versioned) read_section(in);
    }
    if (out_.format >= kElidedLocations) in.varint();  // how many names there are
    while (!in.at_end()) {
      auto [dialect, n] = group(in);
      for (; n != 0; --n) {
        const auto [name, registered] = in.flagged_if(out_.format >= kNativeProperties);
        out_.op_names.push_back({dialect, string(in, name)});
      }
    }
  }

  // The dialect of what follows and how many there are.
  std::pair<std::uint32_t, std::size_t> group(ByteCursor& in) const {
    const std::size_t dialect = in.reference("dialect", out_.dialects.size());
    return {static_cast<std::uint32_t>(dialect), in.count()};
  }

  void offsets() {
    ByteCursor in(file_, section(SectionId::kOffsets, "offsets"));
    ByteCursor entries(file_, section(SectionId::kAttributesAndTypes, "attributes and types"));
    const std::size_t attributes = in.count();
    const std::size_t types = in.count();
    out_.attributes = entry_list(in, entries, attributes);
    out_.types = entry_list(in, entries, types);
  }

  std::vector<Entry> entry_list(ByteCursor& in, ByteCursor& entries, std::size_t wanted) const {
    std::vector<Entry> list;
    list.reserve(std::min(wanted, in.remaining()));
    while (list.size() < wanted) {
      auto [dialect, n] = group(in);
      if (n > wanted - list.size()) in.fail("more entries than were announced");
      for (; n != 0; --n) {
        const auto [size, custom] = in.flagged();
        list.push_back({entries.range(size), dialect, custom});
      }
    }
    return list;
  }

  void properties() {
    const auto& found = sections_[static_cast<std::size_t>(SectionId::kProperties)];
    if (!found) return;
    ByteCursor in(file_, *found);
    out_.properties = in.list([&] { return in.range(in.varint()); });
  }

  const File& file_;
  Container out_;
  std::array<std::optional<Range>, kSections> sections_;
};

}  // namespace

Section read_section(ByteCursor& in) {
  const std::uint8_t head = in.byte();
  const std::uint64_t size = in.varint();
  const int number = head & 0x7F;
  if (number >= kSections) in.fail("an unknown section " + std::to_string(number));
  if ((head & 0x80) != 0) in.align(in.varint());
  return {static_cast<SectionId>(number), in.range(size)};
}

Container read_container(const File& file) { return ContainerReader(file).read(); }

}  // namespace millrace::devices::stablehlo::bytecode
