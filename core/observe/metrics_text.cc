#include "millrace/core/observe/metrics_text.h"

#include <charconv>
#include <string_view>

namespace millrace {
namespace {

constexpr std::string_view kNanoseconds = "_nanoseconds";
// Upper bounds of a histogram's buckets: 4^n - 1, from 0 to beyond nine years of nanoseconds.
constexpr int kBounds = 30;

bool valid(char c, bool first, bool colon) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  return letter || (colon && c == ':') || (!first && c >= '0' && c <= '9');
}

std::string valid_name(std::string_view name, bool colon) {
  std::string made;
  for (const char c : name) {
    if (made.empty() && c >= '0' && c <= '9') made += '_';
    made += valid(c, made.empty(), colon) ? c : '_';
  }
  return made.empty() ? "_" : made;
}

std::string escaped(std::string_view text, bool quotes) {
  std::string safe;
  for (const char c : text) {
    if (c == '\\') {
      safe += "\\\\";
    } else if (c == '\n') {
      safe += "\\n";
    } else if (c == '"' && quotes) {
      safe += "\\\"";
    } else {
      safe += c;
    }
  }
  return safe;
}

// A metric's name and the factor of its values.
struct Unit {
  std::string name;
  bool seconds = false;
};

Unit unit_of(std::string_view name) {
  const bool total = name.ends_with("_total");
  std::string_view stem = total ? name.substr(0, name.size() - 6) : name;
  if (!stem.ends_with(kNanoseconds)) return {valid_name(name, true)};
  stem.remove_suffix(kNanoseconds.size());
  return {valid_name(std::string(stem) + "_seconds" + (total ? "_total" : ""), true), true};
}

// The shortest text that reads back as the same number.
template <class Number>
std::string number(Number value) {
  char text[40];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

template <class Number>
std::string value_text(const Unit& unit, Number value) {
  return unit.seconds ? number(static_cast<double>(value) / 1e9) : number(value);
}

std::string labels_text(const Labels& labels, std::string_view le = {}) {
  std::string text;
  for (const auto& [name, value] : labels)
    text +=
        (text.empty() ? "" : ",") + valid_name(name, false) + "=\"" + escaped(value, true) + "\"";
  if (!le.empty()) text += (text.empty() ? "le=\"" : ",le=\"") + std::string(le) + "\"";
  return text.empty() ? text : "{" + text + "}";
}

class Writer {
 public:
  explicit Writer(const MetricsSnapshot& snapshot) : snapshot_(snapshot) {}

  template <class Entries, class Write>
  void families(const Entries& entries, const char* type, Write write) {
    const std::string* last = nullptr;
    for (const auto& entry : entries) {
      const Unit unit = unit_of(entry.name);
      if (last == nullptr || *last != entry.name) head(entry.name, unit.name, type);
      last = &entry.name;
      write(unit, entry);
    }
  }
  void sample(const std::string& name, const std::string& labels, const std::string& value) {
    text_ += name + labels + " " + value + "\n";
  }
  void histogram(const Unit& unit, const Labels& labels, const Histogram::Snapshot& h) {
    std::uint64_t seen = 0;
    auto bucket = h.buckets.begin();
    for (int n = 0; n <= kBounds; ++n) {
      const std::uint64_t bound = (std::uint64_t{1} << (2 * n)) - 1;
      for (; bucket != h.buckets.end() && bucket->first <= bound; ++bucket) seen += bucket->second;
      sample(unit.name + "_bucket", labels_text(labels, value_text(unit, bound)), number(seen));
    }
    sample(unit.name + "_bucket", labels_text(labels, "+Inf"), number(h.count));
    sample(unit.name + "_sum", labels_text(labels), value_text(unit, h.sum));
    sample(unit.name + "_count", labels_text(labels), number(h.count));
  }
  std::string take() { return std::move(text_); }

 private:
  void head(const std::string& name, const std::string& shown, const char* type) {
    if (const auto help = snapshot_.help.find(name); help != snapshot_.help.end())
      text_ += "# HELP " + shown + " " + escaped(help->second, false) + "\n";
    text_ += "# TYPE " + shown + " " + type + "\n";
  }

  const MetricsSnapshot& snapshot_;
  std::string text_;
};

}  // namespace

std::string prometheus_text(const MetricsSnapshot& snapshot) {
  Writer writer(snapshot);
  const auto one = [&writer](const Unit& unit, const auto& entry) {
    writer.sample(unit.name, labels_text(entry.labels), value_text(unit, entry.value));
  };
  writer.families(snapshot.counters, "counter", one);
  writer.families(snapshot.gauges, "gauge", one);
  writer.families(snapshot.histograms, "histogram", [&](const Unit& unit, const auto& entry) {
    writer.histogram(unit, entry.labels, entry.value);
  });
  return writer.take();
}

}  // namespace millrace
