// The matrix of failures, row by row. Its classes of errors are codes and details here: PeerLost
// and PeerUnresponsive are kUnavailable with PeerLoss, CollectiveMismatch kFailedPrecondition and
// absent ranks kDeadlineExceeded, both with Culprits, DuplicateRank kAlreadyExists with the
// JobMember that holds it, AuthFailed kUnauthenticated, QuorumLost kUnavailable with the detail of
// that name.
#include "millrace/tools/failure_rows/row.h"

namespace millrace::failures {

const std::vector<Row>& all_rows() {
  static const std::vector<Row> rows = {
      {1, "kill -9 of a leaf in an all_reduce",
       "UNAVAILABLE (PeerLoss) with rank, host and pid at all others and at launch within 20 ms; a "
       "part without it goes on",
       kill_a_leaf},
      {2, "kill -9 of rank 0", "as row 1", kill_rank_0},
      {3, "SIGSTOP for 3 s, then SIGCONT", "no error, no suspicion", stop_for_3_s},
      {4, "SIGSTOP for ever",
       "suspect at half of --silent-after; at it UNAVAILABLE (PeerLoss), named; killed",
       stop_for_ever},
      {5, "1, 5 and 20 % of the pieces lost and repeated", "right results, no rank held for lost",
       lose_bytes},
      {6, "black hole both ways: a link; a rank from all",
       "a link: UNAVAILABLE (PeerLoss) at both ends 1.1 x --silent-after later. A rank: the host's "
       "side names it, silent; the rank itself: UNAVAILABLE (QuorumLost)",
       cut_both_ways},
      {7, "black hole one way", "both ends: UNAVAILABLE (PeerLoss), 1.1 x --silent-after later",
       cut_one_way},
      {8, "half-open: nothing comes, then a reset",
       "UNAVAILABLE (PeerLoss) at the reset, both ends", half_open},
      {9, "slow reader",
       "no timeout while bytes come; bounded memory; a deadline is DEADLINE_EXCEEDED, with who "
       "waits for whom",
       read_slowly},
      {10, "a call skipped", "DEADLINE_EXCEEDED (Culprits) that names who did not call",
       skip_a_call},
      {11, "another op, dtype, shape or root",
       "FAILED_PRECONDITION (Culprits) with both calls on both sides", differ},
      {12, "garbage at the doors of ranks and host", "closed; the job goes on", send_garbage},
      {13, "another secret, another job, a repeated handshake",
       "UNAUTHENTICATED, at once; the job goes on", use_another_secret},
      {14, "two processes of a rank",
       "the newcomer: ALREADY_EXISTS (JobMember), the holder goes on", come_twice},
      {15, "late joiner", "the others wait, then all meet", come_late},
      {16, "missing rank at the deadline", "DEADLINE_EXCEEDED on all ranks, which name it",
       never_come},
      {17, "restart with the same rank before it is declared",
       "UNAVAILABLE (PeerLoss) with the old pid at all others at once; the new one is let in",
       restart_before_it_is_declared},
      {18, "restart after a shrink",
       "--min 3: on as three, four again at the next commit, 2 s each", restart_after_a_shrink},
      {19, "connect storm: 1,000 strangers, 16 ranks", "all ranks get in within 10 s", storm},
      {20, "clean exit race, 20 jobs", "no error at any rank", leave_first},
      {21, "no descriptors left at the start", "an error that says so, at once",
       run_out_of_descriptors},
      {22, "clock jumps by an hour", "no effect", jump_the_clock},
      {23, "the user's threads compute for 4 s", "no error, no suspicion", block_the_users_thread},
      {24, "kill -9 before a subgroup's first call", "that call: UNAVAILABLE (PeerLoss) at once",
       die_before_a_subgroups_first_call},
      {25, "two groups interleaved, in orders of their own", "right results, no deadlock",
       interleave_two_groups},
  };
  return rows;
}

}  // namespace millrace::failures
