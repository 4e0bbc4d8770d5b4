// Feeds frames of members to a store: what a decoder accepts is encoded as it came, the table stays
// within its limits, a get has one answer, and what is answered was put.
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "millrace/core/base/check.h"
#include "millrace/core/net/store_table.h"

using namespace millrace;       // NOLINT(google-build-using-namespace): a program of its own
using namespace millrace::net;  // NOLINT(google-build-using-namespace)

namespace {

constexpr StoreLimits kLimits{.keys = 8, .total_bytes = 256, .waiting_of_member = 4};

bool is_same(const Frame& a, const Frame& b) {
  return a.header == b.header && a.payload == b.payload;
}

// Answers are read by whom the server is a stranger to.
void read_answer(const Frame& frame) {
  auto answer = decode_store_answer(frame);
  if (answer) MILLRACE_CHECK(is_same(encode(*std::move(answer)), frame), "encoded as it came");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  StoreTable table(kLimits);
  std::map<std::string, Bytes> first;                                    // values, by key
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> waits;  // keys of gets
  FrameParser parser(1024);
  std::span<const std::byte> rest{reinterpret_cast<const std::byte*>(data), size};
  for (std::uint64_t turn = 0;; ++turn) {
    const auto read = parser.next(rest);
    if (!read || !*read) break;
    read_answer(**read);
    auto request = decode_store_request(**read);
    if (!request) continue;
    MILLRACE_CHECK(is_same(encode(*request), **read), "encoded as it came");
    const StoreTable::Member member = turn % 3;
    const std::pair get{member, request->number};
    const StoreRequest asked = *request;
    const auto answers = table.take(member, *std::move(request));
    if (!answers) {
      table.end(member);
      std::erase_if(waits, [member](const auto& wait) { return wait.first.first == member; });
      continue;
    }
    if (asked.kind == FrameKind::kStoreWithdraw) waits.erase(get);
    if (asked.kind == FrameKind::kStoreGet) waits[get] = asked.key;
    for (const StoreTable::Answer& answer : *answers) {
      const std::pair to{answer.to, answer.number};
      if (std::holds_alternative<StoreDone>(answer.what)) {
        const Bytes& value = first.emplace(asked.key, asked.value).first->second;
        MILLRACE_CHECK(value == asked.value, "a key keeps its first value");
      } else if (const auto* value = std::get_if<StoreTable::Value>(&answer.what)) {
        const std::string key = waits.contains(to) ? waits[to] : asked.key;
        MILLRACE_CHECK(first.contains(key) && first[key] == **value, "the value that was put");
      }
      waits.erase(to);
    }
    MILLRACE_CHECK(table.waiting() == waits.size(), "one answer for each get");
    MILLRACE_CHECK(table.keys() <= kLimits.keys && table.bytes() <= kLimits.total_bytes,
                   "the limits hold");
  }
  return 0;
}
