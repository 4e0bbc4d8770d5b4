// TLS of the server: a certificate and its key from files, checked before anything listens. Read
// next: http_listener.h, whose connections use it.
#pragma once

#include <memory>
#include <string>

#include "millrace/core/base/clock.h"
#include "millrace/core/base/error.h"

struct bufferevent;
struct event_base;
struct ssl_ctx_st;

namespace millrace::serve {

// What all connections share: TLS 1.2 and later. Thread-safety: external.
using TlsContext = std::shared_ptr<ssl_ctx_st>;

// Both files are PEM; certificate: that of the server first, then those between it and its root.
// Errors name the file and what would help: kNotFound, kPermissionDenied; kInvalidArgument: it
// holds none, or the key is that of another certificate, or wants a passphrase;
// kFailedPrecondition: the certificate has run out at wall_now (wall_time()), or is not valid yet.
Result<TlsContext> load_tls(const std::string& certificate, const std::string& key,
                            Duration wall_now);

// A socket that will be accepted, which begins with a handshake; nullptr: no memory.
bufferevent* make_tls_socket(event_base* base, const TlsContext& context);
// Says to the client that nothing follows; once all is sent, and before the socket is closed.
void end_tls(bufferevent* socket);

}  // namespace millrace::serve
