// failure_rows: the rows of the matrix of failures with real processes; tools/failures runs it.
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "millrace/core/base/json_text.h"
#include "millrace/tools/failure_rows/row.h"

namespace {

using namespace millrace;
using failures::Row;

void print(const Row& row, const failures::Seen& seen, bool json) {
  if (json) {
    const nlohmann::ordered_json line = {{"row", row.number},        {"what", row.what},
                                         {"expected", row.expected}, {"seen", seen.text()},
                                         {"ms", seen.ms()},          {"met", seen.met()}};
    std::printf("%s\n", json_text(line).c_str());
  } else {
    std::printf("%2d  %-6s %9.1f ms  %s\n", row.number, seen.met() ? "met" : "NOT", seen.ms(),
                row.what);
    if (!seen.met())
      std::printf("    expected: %s\n    seen: %s\n", row.expected, seen.text().c_str());
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);
  bool json = false;
  std::vector<const Row*> rows;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--json") {
      json = true;
      continue;
    }
    const auto& all = failures::all_rows();
    const auto found = std::ranges::find(all, std::atoi(word.c_str()), &Row::number);
    if (found == all.end() || std::to_string(found->number) != word) {
      std::fprintf(stderr, "failure_rows: '%s' is no row, 1 to %zu\n", word.c_str(), all.size());
      return 2;
    }
    rows.push_back(&*found);
  }
  if (rows.empty()) {
    for (const Row& row : failures::all_rows()) rows.push_back(&row);
  }
  bool all_met = true;
  for (const Row* const row : rows) {
    const failures::Seen seen = row->run();
    print(*row, seen, json);
    all_met = all_met && seen.met();
  }
  return all_met ? 0 : 1;
}
