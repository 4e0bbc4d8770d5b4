// Row: one row of the matrix of failures: what is done to a job of real processes, what has to come
// of it, and what did. Read next: table.cc, all of them; deaths.cc, silences.cc, wires.cc,
// mistakes.cc, strangers.cc and comings.cc, how.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "millrace/tools/failure_rows/launched.h"

namespace millrace::failures {

// What was seen in a row. It is met while all that was expected held.
class Seen {
 public:
  // Notes the words where it holds, and "NOT: words" where it does not.
  bool expect(bool holds, const std::string& words);
  // The error of a rank's word has this code, and names all of these.
  bool expect_error(const Launched& job, int rank, const std::string& word, const std::string& code,
                    std::initializer_list<std::string> names);
  // All ranks did that word, without an error.
  bool expect_did(const Launched& job, int ranks, const std::string& word);
  void note_ms(double ms) { ms_ = ms; }  // of the event until it is named

  bool met() const { return met_; }
  const std::string& text() const { return text_; }
  double ms() const { return ms_; }

 private:
  bool met_ = true;
  std::string text_;
  double ms_ = 0;
};

struct Row {
  int number;
  const char* what;
  const char* expected;
  Seen (*run)();
};

const std::vector<Row>& all_rows();

// "rank 2 (host h, pid 4711)", as errors name it.
std::string name_of(const Launched& job, int rank);

// deaths.cc
Seen kill_a_leaf();
Seen kill_rank_0();
Seen restart_before_it_is_declared();
Seen restart_after_a_shrink();
Seen die_before_a_subgroups_first_call();
// silences.cc
Seen stop_for_3_s();
Seen stop_for_ever();
Seen block_the_users_thread();
Seen jump_the_clock();
// wires.cc
Seen lose_bytes();
Seen cut_both_ways();
Seen cut_one_way();
Seen half_open();
Seen read_slowly();
// mistakes.cc
Seen skip_a_call();
Seen differ();
Seen interleave_two_groups();
// strangers.cc
Seen send_garbage();
Seen use_another_secret();
Seen storm();
Seen run_out_of_descriptors();
// comings.cc
Seen come_twice();
Seen come_late();
Seen never_come();
Seen leave_first();

}  // namespace millrace::failures
