// The extension Profiler: sessions, and what they record.
#include <gmock/gmock.h>

#include "millrace/devices/pjrt/abi/extensions.h"
#include "millrace/tools/pjrt_plugin/xspace.h"
#include "tests/pjrt_plugin/plugin_fixture.h"
#include "xla.pb.h"

namespace millrace::testing {
namespace {

using ::testing::HasSubstr;

const abi::ProfilerApi& profiler() {
  return *static_cast<const abi::ProfilerExtension&>(extension(abi::kProfilerExtension)).api;
}

Outcome profiler_outcome(abi::ProfilerError* error) {
  if (error == nullptr) return {};
  abi::ProfilerErrorGetCodeArgs code{.error = error};
  EXPECT_EQ(profiler().error_get_code(&code), nullptr);
  abi::ProfilerErrorMessageArgs message{.error = error};
  profiler().error_message(&message);
  Outcome outcome{code.code, std::string(message.message, message.message_size)};
  abi::ProfilerErrorDestroyArgs destroy{.error = error};
  profiler().error_destroy(&destroy);
  return outcome;
}

class ProfilerTest : public PluginTest {
 protected:
  static abi::ProfilerHandle* create() {
    abi::ProfilerCreateArgs args;
    EXPECT_TRUE(profiler_outcome(profiler().create(&args)).ok());
    return args.profiler;
  }
  static Outcome start(abi::ProfilerHandle* session) {
    abi::ProfilerArgs args{.profiler = session};
    return profiler_outcome(profiler().start(&args));
  }
  static Outcome stop(abi::ProfilerHandle* session) {
    abi::ProfilerArgs args{.profiler = session};
    return profiler_outcome(profiler().stop(&args));
  }
  static void destroy_session(abi::ProfilerHandle* session) {
    abi::ProfilerArgs args{.profiler = session};
    EXPECT_TRUE(profiler_outcome(profiler().destroy(&args)).ok());
  }
  static std::string collect(abi::ProfilerHandle* session) {
    abi::ProfilerCollectDataArgs args{.profiler = session};
    EXPECT_TRUE(profiler_outcome(profiler().collect_data(&args)).ok());
    const std::string own(reinterpret_cast<const char*>(args.buffer), args.buffer_size);
    std::string bytes(args.buffer_size, '\0');
    args.buffer = reinterpret_cast<std::uint8_t*>(bytes.data());
    EXPECT_TRUE(profiler_outcome(profiler().collect_data(&args)).ok());
    EXPECT_EQ(own, bytes);
    return bytes;
  }
  void run_plus_one(std::size_t on = 0) {
    abi::LoadedExecutable* const executable = compiled(kPlusOne);
    abi::Buffer* const x = put(values_, on);
    const Launch made = launch(executable, {x}, 1, on);
    EXPECT_TRUE(awaited(made.done).ok());
    destroy(made.outputs[0]);
    destroy(x);
    destroy(executable);
  }
  // The names of the programs of a plane.
  static std::vector<std::string> programs(const millrace::pjrt::XPlane& plane) {
    std::vector<std::string> names;
    for (const auto& line : plane.lines()) {
      if (line.name() != "Programs") continue;
      for (const auto& event : line.events())
        names.push_back(plane.event_metadata().at(event.metadata_id()).name());
    }
    return names;
  }

  const std::vector<float> values_ = {1, 2, 3, 4};
};

TEST_F(ProfilerTest, ASessionHasTheProgramsThatRanInIt) {
  run_plus_one();
  abi::ProfilerHandle* const session = create();
  ASSERT_TRUE(start(session).ok());
  run_plus_one(1);
  run_plus_one(1);
  ASSERT_TRUE(stop(session).ok());
  run_plus_one();
  const std::string bytes = collect(session);
  EXPECT_EQ(collect(session), bytes);
  millrace::pjrt::XSpace space;
  ASSERT_TRUE(space.ParseFromString(bytes));
  ASSERT_EQ(space.planes_size(), 1);
  const millrace::pjrt::XPlane& plane = space.planes(0);
  EXPECT_EQ(plane.name(), "/device:CUSTOM:CPU:1");
  EXPECT_EQ(programs(plane), (std::vector<std::string>{"plus_one", "plus_one"}));
  for (const auto& line : plane.lines()) {
    EXPECT_GT(line.timestamp_ns(), std::int64_t{1'700'000'000} * 1'000'000'000);  // since 1970
    for (const auto& event : line.events()) {
      EXPECT_GE(event.offset_ps(), 0);
      EXPECT_GE(event.duration_ps(), 0);
      ASSERT_EQ(event.stats_size(), 1);
      EXPECT_EQ(plane.stat_metadata().at(event.stats(0).metadata_id()).name(), "device_ordinal");
      EXPECT_EQ(event.stats(0).int64_value(), 1);
    }
  }
  destroy_session(session);
}

TEST_F(ProfilerTest, ASessionInWhichNothingRanIsEmpty) {
  abi::ProfilerHandle* const session = create();
  ASSERT_TRUE(start(session).ok());
  ASSERT_TRUE(stop(session).ok());
  EXPECT_EQ(collect(session), "");
  destroy_session(session);
}

TEST_F(ProfilerTest, ASecondSessionIsRefusedWhileOneRecords) {
  abi::ProfilerHandle* const first = create();
  abi::ProfilerHandle* const second = create();
  ASSERT_TRUE(start(first).ok());
  const Outcome refused = start(second);
  EXPECT_EQ(refused.code, 9);
  EXPECT_THAT(refused.message, HasSubstr("another session"));
  destroy_session(first);  // which ends it
  EXPECT_TRUE(start(second).ok());
  EXPECT_TRUE(stop(second).ok());
  destroy_session(second);
}

TEST_F(ProfilerTest, CallsInAWrongOrderAreRefused) {
  abi::ProfilerHandle* const session = create();
  EXPECT_EQ(stop(session).code, 9);
  abi::ProfilerCollectDataArgs early{.profiler = session};
  EXPECT_EQ(profiler_outcome(profiler().collect_data(&early)).code, 9);
  ASSERT_TRUE(start(session).ok());
  EXPECT_EQ(start(session).code, 9);
  ASSERT_TRUE(stop(session).ok());
  EXPECT_EQ(start(session).code, 9);
  destroy_session(session);
  abi::ProfilerArgs none{.profiler = nullptr};
  EXPECT_THAT(profiler_outcome(profiler().start(&none)).message, HasSubstr("'profiler'"));
}

// XLA's client leaves the size of some of its structures unset.
TEST_F(ProfilerTest, TheSizeOfAStructureIsNotLookedAt) {
  abi::ProfilerHandle* const session = create();
  for (const auto& call : {profiler().start, profiler().stop, profiler().destroy}) {
    abi::ProfilerArgs args{.struct_size = 1, .profiler = session};
    EXPECT_TRUE(profiler_outcome(call(&args)).ok());
  }
  EXPECT_THAT(profiler_outcome(profiler().start(nullptr)).message, HasSubstr("no structure"));
}

TEST_F(ProfilerTest, APlaceThatIsTooSmallIsRefused) {
  abi::ProfilerHandle* const session = create();
  ASSERT_TRUE(start(session).ok());
  run_plus_one();
  ASSERT_TRUE(stop(session).ok());
  std::uint8_t byte = 0;
  abi::ProfilerCollectDataArgs args{.profiler = session, .buffer = &byte, .buffer_size = 1};
  EXPECT_EQ(profiler_outcome(profiler().collect_data(&args)).code, 3);
  EXPECT_EQ(byte, 0);
  destroy_session(session);
}

TEST(XSpaceTest, EventsAreByDeviceAndKind) {
  using Kind = pjrt_plugin::DeviceEvent::Kind;
  const std::string bytes =
      pjrt_plugin::write_xspace({.events = {{1, Kind::kPut, "put", 1000, 5},
                                            {0, Kind::kProgram, "f", 1200, 7},
                                            {1, Kind::kProgram, "f", 1300, 9}},
                                 .lost = 3});
  millrace::pjrt::XSpace space;
  ASSERT_TRUE(space.ParseFromString(bytes));
  ASSERT_EQ(space.planes_size(), 2);
  EXPECT_EQ(space.planes(0).id(), 1);
  ASSERT_EQ(space.planes(0).lines_size(), 2);
  const millrace::pjrt::XEvent& event = space.planes(0).lines(1).events(0);
  EXPECT_EQ(space.planes(0).lines(1).timestamp_ns(), 1000);
  EXPECT_EQ(event.offset_ps(), 300'000);
  EXPECT_EQ(event.duration_ps(), 9'000);
  EXPECT_EQ(space.planes(1).lines(0).events(0).offset_ps(), 0);
  ASSERT_EQ(space.warnings_size(), 1);
  EXPECT_THAT(space.warnings(0), HasSubstr("3 of the earliest events"));
}

}  // namespace
}  // namespace millrace::testing
