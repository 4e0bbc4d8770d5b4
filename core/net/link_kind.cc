#include "millrace/core/net/link_kind.h"

#include <array>

namespace millrace::net {
namespace {

struct NamedKind {
  const char* name;
  LinkKind kind;
};
constexpr std::array kKinds = {NamedKind{"shm", LinkKind::kShm}, NamedKind{"unix", LinkKind::kUnix},
                               NamedKind{"tcp", LinkKind::kTcp}};

}  // namespace

std::string link_kind_names() {
  std::string text;
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (i > 0) text += i + 1 == kKinds.size() ? " or " : ", ";
    text += kKinds[i].name;
  }
  return text;
}

Result<LinkKind> read_link_kind(std::string_view name) {
  for (const NamedKind& named : kKinds) {
    if (name == named.name) return named.kind;
  }
  return fail(ErrorCode::kInvalidArgument,
              "'" + std::string(name) + "', but must be " + link_kind_names());
}

bool may_fall_silent(std::string_view address) { return address.starts_with("tcp:"); }

}  // namespace millrace::net
