// The Content-Encoding of a request's body, undone within a limit. Pure; what comes is foreign.
#pragma once

#include <cstddef>
#include <string_view>

#include "millrace/tools/serve/infer_body.h"

namespace millrace::serve {

// The body as it was before its Content-Encoding, which is none, "identity", "gzip" or "deflate".
// The last is zlib's format (RFC 1950) by HTTP; what some clients send by that name, deflate
// without a header (RFC 1951), is read, too. kOutOfRange: it has more than so many bytes when it is
// unpacked, and no more were; kUnimplemented: another encoding; kInvalidArgument: it is damaged.
Result<Body> unpack_body(const Body& body, std::string_view encoding, std::size_t most_bytes);

}  // namespace millrace::serve
