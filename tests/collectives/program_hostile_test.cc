// What a process may say to another one about programs, and what ends the link, in simulation:
// PL-7.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "millrace/collectives/program_frames.h"
#include "millrace/collectives/program_links.h"
#include "tests/collectives/sim_programs.h"

namespace millrace::collectives {
namespace {

using testing::SimPrograms;
using testing::Simulation;

// Process 1 says what a test has it say.
struct Hostile {
  explicit Hostile(Simulation& simulation, std::vector<std::uint32_t> ranks = {0, 1})
      : sim(simulation), job(simulation, 2) {
    job.start_all();
    job.mesh(1).set_sink({kProgramFrame}, [this](std::uint32_t, net::Frame frame) -> Future<void> {
      came.push_back(std::move(frame));
      return {};
    });
    links.emplace(job.processes[0]->mesh, 0, std::move(ranks));
    link = links->open("'f'", "digest").value();
    sim.run_for(std::chrono::seconds(1));
    if (!came.empty()) id = came[0].header.words[0];
  }
  ~Hostile() {
    links->close(Error(ErrorCode::kCancelled, "over"));
    EXPECT_TRUE(sim.run(links->drained()));
    job.close_all();
  }
  bool says(net::Frame frame) {
    frame.header.kind = kProgramFrame;
    const auto lost = job.mesh(0).peer_lost(1);
    lost.ignore();
    job.mesh(1).send(0, std::move(frame)).ignore();
    sim.run_for(std::chrono::seconds(1));
    if (!lost.ready()) return true;
    EXPECT_EQ(lost.result()->cause, net::LossCause::kProtocolError);
    return false;
  }

  Simulation& sim;
  net::testing::MeshJob job;
  std::vector<net::Frame> came;
  std::optional<ProgramLinks> links;
  Ref<devices::ProgramLink> link;
  std::uint64_t id = 0;
};

TEST(ProgramHostileTest, FrameThatHasNoPlaceEndsTheLinkToItsSender) {
  const auto pieces = [](std::uint64_t id) {
    return data_frames({id, 0}, 0, SimPrograms::bytes("abcdef"), 2);
  };
  const Error error(ErrorCode::kDataLoss, "the words");
  struct Row {
    const char* what;
    std::function<net::Frame(std::uint64_t id)> frame;
    bool has_place = false;
  };
  const Row rows[] = {
      {"a piece", [&](auto id) { return pieces(id)[0]; }, true},
      {"a piece that is not the next", [&](auto id) { return pieces(id)[1]; }},
      {"a piece for another link", [&](auto id) { return pieces(id + 1)[0]; }},
      {"its error", [&](auto id) { return end_frame({id, 0}, 1, error); }, true},
      {"an error of process 0", [&](auto id) { return end_frame({id, 0}, 0, error); }},
      {"an error of process 2", [&](auto id) { return end_frame({id, 0}, 2, error); }},
      {"an end of another link", [&](auto id) { return end_frame({id + 1, 0}, 1, error); }},
      {"news", [](auto id) { return news_frame(ProgramSays::kOver, {id, 1}); }, true},
      {"news of another link", [](auto id) { return news_frame(ProgramSays::kOver, {id + 1, 1}); }},
      {"another link that is gone",
       [](auto id) { return news_frame(ProgramSays::kGone, {id + 1, 1}); }},
      {"another link that is open",
       [](auto id) { return news_frame(ProgramSays::kOpen, {id + 1, 0}); }, true},
      {"no saying", [](auto) { return net::Frame{.header = {.flags = kProgramSayings}}; }},
  };
  for (const Row& row : rows) {
    Simulation sim(1);
    Hostile job(sim);
    EXPECT_EQ(job.says(row.frame(job.id)), row.has_place) << row.what;
  }
  Simulation sim(1);
  Hostile job(sim, {0});
  EXPECT_FALSE(job.says(pieces(7)[0])) << "it takes no part";
}

TEST(ProgramHostileTest, FrameForALinkThatWasReleasedIsDroppedAndAnOpenIsAnswered) {  // PL-4, PL-7
  Simulation sim(1);
  Hostile job(sim);
  job.link = nullptr;
  EXPECT_TRUE(job.says(data_frames({job.id, 0}, 0, SimPrograms::bytes("x"), 2)[0]));
  ASSERT_EQ(job.came.size(), 1U);  // it had not said that the link is open
  EXPECT_TRUE(job.says(news_frame(ProgramSays::kOpen, {job.id, 0})));
  ASSERT_EQ(job.came.size(), 2U);
  const auto saying = read_program_frame(job.came[1]);
  ASSERT_TRUE(saying);
  EXPECT_EQ(saying->says, ProgramSays::kGone);
  EXPECT_EQ(saying->launch.link, job.id);
}

}  // namespace
}  // namespace millrace::collectives
