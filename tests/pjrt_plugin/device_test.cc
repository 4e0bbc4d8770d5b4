// What a device and a topology answer beside what they are.
#include <gmock/gmock.h>

#include "tests/pjrt_plugin/plugin_fixture.h"
#include "xla.pb.h"

namespace millrace::testing {
namespace {

using ::testing::ElementsAre;

class DeviceTest : public PluginTest {
 protected:
  abi::Topology* topology() {
    abi::ClientTopologyDescriptionArgs args{{}, client_};
    must(args);
    return args.topology;
  }
};

TEST_F(DeviceTest, ThePeakOfItsMemoryBeginsAnew) {
  const auto peak = [this] {
    abi::DeviceMemoryStatsArgs args{{}, device(client_)};
    must(args);
    EXPECT_TRUE(args.peak_bytes_in_use.is_set);
    EXPECT_GE(args.peak_bytes_in_use.value, args.bytes_in_use);
    return args.peak_bytes_in_use.value;
  };
  destroy(put(std::vector<float>(1 << 16)));
  const std::int64_t before = peak();
  EXPECT_GE(before, 4 << 16);
  abi::DeviceClearMemoryStatsArgs clear{{}, device(client_)};
  must(clear);
  EXPECT_LT(peak(), before);
}

TEST_F(DeviceTest, NothingIsTracked) {
  const std::string text = "step";
  abi::DeviceCreateAsyncTrackingEventArgs args{{}, device(client_), text.data(), text.size()};
  must(args);
  EXPECT_EQ(args.event, nullptr);
  abi::AsyncTrackingEventDestroyArgs end{{}, args.event};
  must(end);
}

TEST_F(DeviceTest, ATopologyKnowsTheKindsOfMemories) {
  abi::TopologyGetMemorySpaceKindIdsArgs args{{}, topology()};
  must(args);
  EXPECT_THAT(std::span(args.kind_ids, args.num_kind_ids), ElementsAre(0, 1, 2));
  abi::ClientUpdateGlobalProcessInfoArgs info{{}, client_};
  must(info);
}

TEST_F(DeviceTest, ATopologyKnowsHowAnArrayLies) {
  const std::int64_t dims[] = {2, 3};
  abi::TopologyMakeCanonicalShapeArgs args{{}, topology(), 1, dims, 2};
  args.type = abi::BufferType::kBF16;
  must(args);
  millrace::pjrt::Shape shape;
  ASSERT_TRUE(shape.ParseFromArray(args.bytes, static_cast<int>(args.bytes_size)));
  args.deleter(args.bytes);
  EXPECT_EQ(shape.element_type(), 16);
  EXPECT_THAT(shape.dimensions(), ElementsAre(2, 3));
  EXPECT_THAT(shape.layout().minor_to_major(), ElementsAre(1, 0));
  abi::TopologyMakeCanonicalShapeArgs other{{}, topology(), 3, dims, 2};
  EXPECT_EQ(call(other).code, 3);
}

}  // namespace
}  // namespace millrace::testing
