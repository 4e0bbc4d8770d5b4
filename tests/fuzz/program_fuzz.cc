// Frames that another process sends about programs that span processes: whatever they say, they are
// read or refused, and their pieces make whole messages or are refused. What is kept has come.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "millrace/collectives/message_line.h"
#include "millrace/collectives/program_frames.h"
#include "millrace/core/base/check.h"
#include "tests/fuzz/input.h"

using namespace millrace;  // NOLINT(google-build-using-namespace): a program of its own
using namespace millrace::collectives;  // NOLINT(google-build-using-namespace)

namespace {

net::Frame make_frame(Input& input) {
  net::Frame frame;
  const std::uint8_t odd = input.byte();
  frame.header.kind = odd > 250 ? net::FrameKind{34} : kProgramFrame;
  frame.header.flags = odd % 8;
  frame.header.sequence = input.number();
  for (std::uint64_t& word : frame.header.words) word = input.byte() % 4 == 0 ? input.number() : 0;
  frame.payload.resize(input.byte() % 32);
  for (std::byte& each : frame.payload) each = static_cast<std::byte>(input.byte());
  return frame;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  std::map<int, MessageLine> lines;  // by edge
  while (!input.empty()) {
    net::Frame frame = make_frame(input);
    const std::size_t bytes = frame.payload.size();
    auto saying = read_program_frame(std::move(frame));
    if (!saying || saying->says != ProgramSays::kData) continue;
    MILLRACE_CHECK(saying->piece.size() == bytes && saying->total <= kMostMessage &&
                       saying->offset + bytes <= saying->total,
                   "a piece lies in its message");
    MessageLine& line = lines[saying->edge];
    if (!line.add(saying->total, saying->offset, std::move(saying->piece)) || !line.ready())
      continue;
    ProgramMessage message = line.take();
    std::vector<std::byte> whole(message.total);  // which has come
    message.move_to(whole);
  }
  return 0;
}
