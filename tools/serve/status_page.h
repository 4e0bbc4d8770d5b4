// The page at GET /: how the server does, live. It asks for /status (status_json.h) once a second
// and has nothing secret in itself: with a token, it asks its reader for that.
#pragma once

#include <string_view>

namespace millrace::serve {

std::string_view status_page();
// The page's own style and script run, and it reaches nothing but its server.
inline constexpr const char* kPagePolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

}  // namespace millrace::serve
