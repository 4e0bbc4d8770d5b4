#include "millrace/collectives/wire.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <utility>

#include "millrace/collectives/tree.h"

namespace millrace::collectives {
namespace {

using Message = RendezvousMessage;

constexpr std::uint64_t kAnyNumber = ~std::uint64_t{0};
constexpr std::size_t kFewCulprits = 8;
enum class Form : std::uint8_t { kRuns, kBits };

std::string_view cut_text(std::string_view text) { return text.substr(0, kMostWireText); }

net::WireBytes as_runs(std::span<const Rank> ranks) {
  net::WireWriter writer;
  int next = 0;  // the lowest rank that may come
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && index(ranks[end]) == index(ranks[end - 1]) + 1) ++end;
    writer.number(static_cast<std::uint64_t>(index(ranks[i]) - next));
    writer.number(end - i - 1);
    next = index(ranks[end - 1]) + 1;
    i = end;
  }
  return writer.take();
}

void decode_runs(net::WireReader& reader, int size, std::vector<Rank>& ranks) {
  const auto bound = static_cast<std::uint64_t>(size);
  std::uint64_t next = 0;
  for (std::size_t runs = reader.count(bound); runs > 0 && !reader.failed(); --runs) {
    const std::uint64_t first = next + reader.number(bound);
    next = first + reader.number(bound) + 1;
    if (next > bound) return reader.refuse("it names a rank that the group does not have");
    for (std::uint64_t r = first; r < next; ++r) ranks.push_back(Rank{static_cast<int>(r)});
  }
}

void decode_bits(net::WireReader& reader, int size, std::vector<Rank>& ranks) {
  const std::size_t bytes = reader.count((static_cast<std::uint64_t>(size) + 7) / 8);
  for (std::size_t i = 0; i < bytes; ++i) {
    for (unsigned bits = reader.byte(); bits != 0; bits &= bits - 1) {
      const int rank = static_cast<int>(8 * i) + std::countr_zero(bits);
      if (rank >= size) return reader.refuse("it names a rank that the group does not have");
      ranks.push_back(Rank{rank});
    }
  }
}

// ---- who may send what

bool is_below(int position, int top) {
  while (position > top) position = *tree_parent(position);
  return position == top;
}

int positions_below(int top, int size) {  // top is one of them
  long long first = top, last = top;
  int count = 0;
  for (; first < size; first = first * kTreeRadix + 1, last = last * kTreeRadix + kTreeRadix)
    count += static_cast<int>(std::min<long long>(last, size - 1) - first) + 1;
  return count;
}

class RendezvousDecoder {
 public:
  RendezvousDecoder(std::span<const std::byte> bytes, Rank from, Rank self, const Subset& world)
      : reader_(bytes), from_(from), self_(self), world_(world) {}

  Result<Message> run() {
    const std::uint8_t kind = reader_.byte();
    if (kind > std::to_underlying(Message::Kind::kAnswer)) reader_.refuse("there is no such kind");
    message_.kind = static_cast<Message::Kind>(kind);
    message_.key.tag = reader_.text(kMostTag);
    message_.key.generation = reader_.number(kAnyNumber);
    read_subset();
    if (!reader_.failed()) read_body();
    MILLRACE_TRY_STATUS(reader_.end("a message of a rendezvous from " + to_string(from_)));
    return std::move(message_);
  }

 private:
  void read_subset() {
    std::vector<Rank> ranks = decode_ranks(reader_, world_->size());
    if (reader_.failed()) return;
    const bool all = ranks.size() == world_->ranks().size();
    message_.subset = all ? world_ : std::make_shared<const RankSet>(std::move(ranks));
    message_.key.subset_hash = message_.subset->hash();
    if (message_.subset->contains(from_) && message_.subset->contains(self_)) {
      const auto& members = message_.subset->ranks();
      const auto place = [&](Rank rank) {
        return static_cast<int>(std::ranges::lower_bound(members, rank) - members.begin());
      };
      from_at_ = place(from_);
      self_at_ = place(self_);
      check_sender();
    } else {
      reader_.refuse("its ranks are not those of its ends");
    }
  }
  void check_sender() {
    using Kind = Message::Kind;
    const bool from_child = tree_parent(from_at_) == std::optional(self_at_);
    const bool from_parent = tree_parent(self_at_) == std::optional(from_at_);
    const bool allowed = message_.kind == Kind::kUp || message_.kind == Kind::kAnswer ? from_child
                         : message_.kind == Kind::kOutcome || message_.kind == Kind::kQuery
                             ? from_parent
                             : self_at_ == 0;
    if (!allowed) reader_.refuse("its sender has another place in the tree");
  }
  int size() const { return message_.subset->size(); }
  // One in the sender's part of the tree.
  int read_position() {
    const int position = static_cast<int>(reader_.number(static_cast<std::uint64_t>(size()) - 1));
    if (!is_below(position, from_at_)) reader_.refuse("a position is not below its sender");
    return position;
  }
  std::string read_payload() {
    std::string payload = reader_.text(kMostWirePayload);
    payload_bytes_ += payload.size();
    if (payload_bytes_ > kMostWirePayloads) reader_.refuse("its payloads are too long");
    return payload;
  }
  void read_body() {
    switch (message_.kind) {
      case Message::Kind::kUp:
        return read_entries();
      case Message::Kind::kOutcome:
        return read_outcome();
      case Message::Kind::kExpired:
        message_.reason = reader_.text(kMostWireText);
        return;
      case Message::Kind::kQuery:
        return;
      case Message::Kind::kAnswer:
        return read_joined();
    }
  }
  // False: the error is read instead.
  bool read_success() {
    const std::uint8_t success = reader_.byte();
    if (success > 1) reader_.refuse("it is neither a success nor a failure");
    if (success == 0) message_.error = decode_error(reader_, world_->size());
    return success != 0;
  }
  // All of the sender's part, each once: it reports when it is complete, or cannot be.
  void read_entries() {
    message_.position = from_at_;
    if (!read_success()) return;
    const int expected = positions_below(from_at_, size());
    std::vector<bool> seen(static_cast<std::size_t>(size()));
    const std::size_t count = reader_.count(static_cast<std::uint64_t>(expected));
    if (count != static_cast<std::size_t>(expected)) reader_.refuse("its part is not complete");
    for (std::size_t i = 0; i < count && !reader_.failed(); ++i) {
      const int position = read_position();
      if (seen[static_cast<std::size_t>(position)]) reader_.refuse("a position comes twice");
      seen[static_cast<std::size_t>(position)] = true;
      message_.entries.push_back({position, read_payload()});
    }
  }
  void read_joined() {
    const std::size_t count = reader_.count(static_cast<std::uint64_t>(size()));
    for (std::size_t i = 0; i < count && !reader_.failed(); ++i)
      message_.joined.push_back(read_position());
  }
  void read_outcome() {
    if (!read_success()) return;
    auto payloads = std::make_shared<std::vector<std::string>>();
    const std::size_t count = reader_.count(static_cast<std::uint64_t>(size()));
    if (count != static_cast<std::size_t>(size())) reader_.refuse("a payload is missing");
    for (std::size_t i = 0; i < count && !reader_.failed(); ++i)
      payloads->push_back(read_payload());
    message_.payloads = std::move(payloads);
  }

  net::WireReader reader_;
  const Rank from_, self_;
  const Subset& world_;
  Message message_;
  int from_at_ = 0, self_at_ = 0;  // positions in the subset
  std::size_t payload_bytes_ = 0;
};

std::unexpected<Error> too_long(const Message& message, const std::string& what,
                                std::size_t limit) {
  return fail(ErrorCode::kResourceExhausted,
              "rendezvous '" + message.key.tag.substr(0, 64) + "' between processes: " + what +
                  " is longer than " + std::to_string(limit) + " bytes");
}

Status check_bounds(const Message& message) {
  if (message.key.tag.size() > kMostTag) return too_long(message, "its tag", kMostTag);
  std::size_t all = 0;
  const auto add = [&](const std::string& payload) -> Status {
    if (payload.size() > kMostWirePayload) return too_long(message, "a payload", kMostWirePayload);
    all += payload.size();
    if (all <= kMostWirePayloads) return {};
    return too_long(message, "the sum of its payloads", kMostWirePayloads);
  };
  for (const Message::Entry& entry : message.entries) MILLRACE_TRY_STATUS(add(entry.payload));
  if (message.kind != Message::Kind::kOutcome || message.error) return {};
  for (const std::string& payload : *message.payloads) MILLRACE_TRY_STATUS(add(payload));
  return {};
}

// Whether it is one.
bool write_error(net::WireWriter& writer, const Message& message) {
  writer.byte(message.error ? 0 : 1);
  if (message.error) encode_error(writer, *message.error);
  return message.error.has_value();
}

}  // namespace

void encode_error(net::WireWriter& writer, const Error& error) {
  writer.number(static_cast<std::uint64_t>(error.code()));
  writer.text(cut_text(error.message()));
  const Culprits* culprits = error.detail<Culprits>();
  writer.byte(culprits == nullptr ? 0 : 1);
  if (culprits == nullptr) return;
  writer.byte(std::to_underlying(culprits->kind));
  // Few keep their order; many are sorted as they are.
  const bool few = culprits->ranks.size() <= kFewCulprits;
  writer.byte(few ? 1 : 0);
  if (!few) {
    std::vector<Rank> sorted = culprits->ranks;
    std::ranges::sort(sorted);
    const auto same = std::ranges::unique(sorted);
    sorted.erase(same.begin(), same.end());
    return encode_ranks(writer, sorted);
  }
  writer.number(culprits->ranks.size());
  for (const Rank rank : culprits->ranks) writer.number(at(rank));
}

Error decode_error(net::WireReader& reader, int size) {
  const std::uint64_t code = reader.number(static_cast<std::uint64_t>(ErrorCode::kUnauthenticated));
  if (code == 0) reader.refuse("an error has no code");
  const Error error(code == 0 ? ErrorCode::kUnknown : static_cast<ErrorCode>(code),
                    reader.text(kMostWireText));
  const std::uint8_t named = reader.byte();
  if (named > 1) reader.refuse("an error names its ranks or not");
  if (named == 0 || reader.failed()) return error;
  Culprits culprits{};
  const std::uint8_t kind = reader.byte();
  if (kind > std::to_underlying(Culprits::Kind::kInvalid))
    reader.refuse("there is no such culprit");
  culprits.kind = static_cast<Culprits::Kind>(kind);
  const std::uint8_t few = reader.byte();
  if (few > 1) reader.refuse("ranks are few or many");
  if (few == 0) {
    culprits.ranks = decode_ranks(reader, size);
  } else {
    for (std::size_t left = reader.count(kFewCulprits); left > 0; --left)
      culprits.ranks.push_back(
          Rank{static_cast<int>(reader.number(static_cast<std::uint64_t>(size) - 1))});
  }
  return error.with_detail(std::move(culprits));
}

void encode_ranks(net::WireWriter& writer, std::span<const Rank> ranks) {
  net::WireBytes runs = as_runs(ranks);
  const std::size_t bits = ranks.empty() ? 0 : at(ranks.back()) / 8 + 1;
  if (runs.size() <= bits) {
    std::size_t count = ranks.empty() ? 0 : 1;
    for (std::size_t i = 1; i < ranks.size(); ++i)
      count += index(ranks[i]) == index(ranks[i - 1]) + 1 ? 0 : 1;
    writer.byte(std::to_underlying(Form::kRuns));
    writer.number(count);
    for (const std::byte byte : runs) writer.byte(static_cast<std::uint8_t>(byte));
    return;
  }
  std::vector<std::uint8_t> set(bits);
  for (const Rank rank : ranks)
    set[at(rank) / 8] = static_cast<std::uint8_t>(set[at(rank) / 8] | (1U << (at(rank) % 8)));
  writer.byte(std::to_underlying(Form::kBits));
  writer.number(bits);
  for (const std::uint8_t byte : set) writer.byte(byte);
}

std::vector<Rank> decode_ranks(net::WireReader& reader, int size) {
  std::vector<Rank> ranks;
  const std::uint8_t form = reader.byte();
  if (form == std::to_underlying(Form::kRuns)) {
    decode_runs(reader, size, ranks);
  } else if (form == std::to_underlying(Form::kBits)) {
    decode_bits(reader, size, ranks);
  } else {
    reader.refuse("its ranks have no such form");
  }
  return ranks;
}

Result<net::WireBytes> encode(const Message& message) {
  MILLRACE_TRY_STATUS(check_bounds(message));
  net::WireWriter writer;
  writer.byte(std::to_underlying(message.kind));
  writer.text(message.key.tag);
  writer.number(message.key.generation);
  encode_ranks(writer, message.subset->ranks());  // and so its hash
  switch (message.kind) {
    case Message::Kind::kUp:
      if (write_error(writer, message)) break;
      writer.number(message.entries.size());
      for (const Message::Entry& entry : message.entries) {
        writer.number(static_cast<std::uint64_t>(entry.position));
        writer.text(entry.payload);
      }
      break;
    case Message::Kind::kOutcome:
      if (write_error(writer, message)) break;
      writer.number(message.payloads->size());
      for (const std::string& payload : *message.payloads) writer.text(payload);
      break;
    case Message::Kind::kExpired:
      writer.text(cut_text(message.reason));
      break;
    case Message::Kind::kQuery:
      break;
    case Message::Kind::kAnswer:
      writer.number(message.joined.size());
      for (const int position : message.joined) writer.number(static_cast<std::uint64_t>(position));
      break;
  }
  return writer.take();
}

Result<Message> decode_rendezvous(std::span<const std::byte> bytes, Rank from, Rank self,
                                  const Subset& world) {
  return RendezvousDecoder(bytes, from, self, world).run();
}

}  // namespace millrace::collectives
