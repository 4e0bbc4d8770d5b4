// kSanitized: whether a sanitizer watches this build, in which everything takes 5 to 20 times as
// long: what is tried by the thousand is tried by the hundred there.
#pragma once

namespace millrace::testing {

#if defined(MILLRACE_SANITIZED)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace millrace::testing
