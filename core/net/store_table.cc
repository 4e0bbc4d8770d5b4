#include "millrace/core/net/store_table.h"

#include <algorithm>

namespace millrace::net {
namespace {

Error refused(const std::string& what, const std::string& why) {
  return Error(ErrorCode::kResourceExhausted, what + " was refused: " + why);
}

}  // namespace

Result<StoreTable::Answers> StoreTable::take(Member member, StoreRequest request) {
  const Get number{member, request.number};
  if (request.kind == FrameKind::kStoreWithdraw) {
    if (const auto found = waiting_.find(number); found != waiting_.end()) withdraw(found);
    return Answers{};
  }
  if (waiting_.contains(number))
    return fail(ErrorCode::kInvalidArgument, "a request has the number of one that waits");
  if (request.kind == FrameKind::kStorePut) return put(member, std::move(request));
  bool waits = false;
  Answer answer = get(member, std::move(request), waits);
  return waits ? Answers{} : Answers{std::move(answer)};
}

StoreTable::Answer StoreTable::get(Member member, StoreRequest&& request, bool& waits) {
  const std::string what = "the get of " + key_text(request.key);
  Answer answer{.to = member, .number = request.number};
  const auto found = entries_.find(request.key);
  if (found != entries_.end() && found->second.value) {
    answer.what = found->second.value;
    return answer;
  }
  if (request.kind == FrameKind::kStoreTryGet) {
    answer.what = Error(ErrorCode::kNotFound, key_text(request.key) + " was not put");
    return answer;
  }
  if (const auto of = waiting_of_.find(member);
      of != waiting_of_.end() && of->second >= limits_.waiting_of_member) {
    answer.what = refused(what, "this process waits for " + std::to_string(of->second) +
                                    " keys already, which is the limit; await some of them");
    return answer;
  }
  auto entry = find_or_make(std::move(request.key), 0);
  if (!entry) {
    answer.what = entry.error().with_context(what);
    return answer;
  }
  (*entry)->second.waits.emplace_back(member, request.number);
  waiting_.emplace(Get{member, request.number}, *entry);
  ++waiting_of_[member];
  waits = true;
  return answer;
}

StoreTable::Answers StoreTable::put(Member member, StoreRequest&& request) {
  Answers answers{{.to = member, .number = request.number, .what = StoreDone{}}};
  const std::string what = "the put of " + key_text(request.key);
  const auto found = entries_.find(request.key);
  if (found != entries_.end() && found->second.value) {
    if (*found->second.value != request.value) {
      answers[0].what =
          Error(ErrorCode::kAlreadyExists, what + " was refused: it has another value already");
    }
    return answers;
  }
  auto entry = find_or_make(std::move(request.key), request.value.size());
  if (!entry) {
    answers[0].what = entry.error().with_context(what);
    return answers;
  }
  const auto value = std::make_shared<const Bytes>(std::move(request.value));
  (*entry)->second.value = value;
  bytes_ += value->size();
  for (const Get& get : std::exchange((*entry)->second.waits, {})) {
    waiting_.erase(get);
    if (const auto of = waiting_of_.find(get.first); --of->second == 0) waiting_of_.erase(of);
    answers.push_back({.to = get.first, .number = get.second, .what = value});
  }
  return answers;
}

// value_bytes: that are to be added.
Result<StoreTable::Entries::iterator> StoreTable::find_or_make(std::string&& key,
                                                               std::size_t value_bytes) {
  auto found = entries_.find(key);
  const bool is_new = found == entries_.end();
  const std::size_t added = value_bytes + (is_new ? key.size() : 0);
  if (is_new && entries_.size() >= limits_.keys) {
    return fail(ErrorCode::kResourceExhausted,
                "the store has " + std::to_string(entries_.size()) + " keys, which is the limit");
  }
  if (added > limits_.total_bytes - bytes_) {
    return fail(ErrorCode::kResourceExhausted,
                "the store holds " + std::to_string(bytes_) + " bytes, and " +
                    std::to_string(limits_.total_bytes) + " is the limit");
  }
  if (is_new) {
    bytes_ += key.size();
    found = entries_.emplace(std::move(key), Entry{}).first;
  }
  return found;
}

void StoreTable::withdraw(std::map<Get, Entries::iterator>::iterator get) {
  const Entries::iterator entry = get->second;
  std::vector<Get>& waits = entry->second.waits;
  waits.erase(std::ranges::find(waits, get->first));
  if (waits.empty()) {
    bytes_ -= entry->first.size();
    entries_.erase(entry);
  }
  if (const auto of = waiting_of_.find(get->first.first); --of->second == 0) waiting_of_.erase(of);
  waiting_.erase(get);
}

void StoreTable::end(Member member) {
  for (auto get = waiting_.lower_bound({member, 0});
       get != waiting_.end() && get->first.first == member;)
    withdraw(get++);
}

}  // namespace millrace::net
