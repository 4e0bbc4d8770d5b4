// The main of every bench_<family>: bench_<family> [NAME...] [--json] [--rounds N].
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/child.h"
#include "bench/figure.h"

int main(int argc, char** argv) {
  if (argc == 4 && std::string(argv[1]) == "--part") {
    return millrace::bench::Part::run(argv[2], argv[3]);
  }
  std::vector<std::string> names;
  bool json = false;
  int rounds = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--json") {
      json = true;
    } else if (argument == "--rounds" && i + 1 < argc) {
      rounds = std::atoi(argv[++i]);
    } else if (argument.starts_with('-')) {
      std::fprintf(stderr, "usage: %s [NAME...] [--json] [--rounds N]\n", argv[0]);
      return 2;
    } else {
      names.push_back(argument);
    }
  }
  millrace::bench::Session session(std::move(names), json, rounds);
  return millrace::bench::run_registered(session);
}
