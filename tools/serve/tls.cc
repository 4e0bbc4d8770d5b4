#include "millrace/tools/serve/tls.h"

#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <array>
#include <chrono>
#include <ctime>
#include <string_view>

#include "millrace/core/base/free_by.h"
#include "millrace/core/base/read_file.h"

namespace millrace::serve {
namespace {

using Bio = std::unique_ptr<BIO, FreeBy<&BIO_free_all>>;
using Certificate = std::unique_ptr<X509, FreeBy<&X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, FreeBy<&EVP_PKEY_free>>;

std::unexpected<Error> refused(ErrorCode code, const std::string& message) {
  ERR_clear_error();
  return fail(code, message);
}

std::string time_text(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return "a time that cannot be read";
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text.data();
}

Bio memory_of(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Status check_time(X509* certificate, const std::string& file, Duration wall_now) {
  std::time_t now = std::chrono::duration_cast<std::chrono::seconds>(wall_now).count();
  const ASN1_TIME* const end = X509_get0_notAfter(certificate);
  if (X509_cmp_time(end, &now) < 0) {
    return refused(ErrorCode::kFailedPrecondition, "the certificate in " + file + " ran out at " +
                                                       time_text(end) +
                                                       "; have it renewed, or name another file");
  }
  const ASN1_TIME* const begin = X509_get0_notBefore(certificate);
  if (X509_cmp_time(begin, &now) > 0) {
    return refused(ErrorCode::kFailedPrecondition, "the certificate in " + file +
                                                       " is valid from " + time_text(begin) +
                                                       " on; is the clock of this machine right?");
  }
  return {};
}

// The server's own, then the others of its chain.
Status use_certificates(SSL_CTX* context, const std::string& file, Duration wall_now) {
  MILLRACE_TRY(const std::string text, read_file(file));
  const Bio from = memory_of(text);
  const Certificate own(PEM_read_bio_X509(from.get(), nullptr, nullptr, nullptr));
  if (!own) {
    return refused(
        ErrorCode::kInvalidArgument,
        file + " holds no certificate; a PEM file has lines -----BEGIN CERTIFICATE-----");
  }
  MILLRACE_TRY_STATUS(check_time(own.get(), file, wall_now));
  if (SSL_CTX_use_certificate(context, own.get()) != 1) {
    return refused(ErrorCode::kInvalidArgument, "the certificate in " + file +
                                                    " cannot be used: its key is too short or of a "
                                                    "kind that TLS does not take");
  }
  while (const Certificate next{PEM_read_bio_X509(from.get(), nullptr, nullptr, nullptr)}) {
    if (SSL_CTX_add1_chain_cert(context, next.get()) != 1)
      return refused(ErrorCode::kInvalidArgument, "the chain in " + file + " cannot be used");
  }
  ERR_clear_error();  // the end of the file is one
  return {};
}

Status use_key(SSL_CTX* context, const std::string& file, const std::string& certificate) {
  MILLRACE_TRY(const std::string text, read_file(file));
  const Bio from = memory_of(text);
  bool asked = false;
  const auto no_passphrase = [](char*, int, int, void* was_asked) {
    *static_cast<bool*>(was_asked) = true;
    return -1;
  };
  const Key key(PEM_read_bio_PrivateKey(from.get(), nullptr, no_passphrase, &asked));
  if (!key && asked) {
    return refused(ErrorCode::kInvalidArgument,
                   "the key in " + file +
                       " wants a passphrase, which nothing here can type; write "
                       "it without one to a file that only the server reads");
  }
  if (!key) {
    return refused(
        ErrorCode::kInvalidArgument,
        file + " holds no private key; a PEM file has a line -----BEGIN PRIVATE KEY-----");
  }
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1) {
    return refused(ErrorCode::kInvalidArgument,
                   "the key in " + file + " is not that of the certificate in " + certificate +
                       "; name the key that the certificate was asked for with");
  }
  return {};
}

// HTTP/1.1 for clients that offer more, and without it those that offer none.
int choose_protocol(SSL* /*connection*/, const unsigned char** chosen, unsigned char* size,
                    const unsigned char* offered, unsigned offered_size, void* /*none*/) {
  constexpr std::string_view kOurs = "\x08http/1.1";
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(&found, size, reinterpret_cast<const unsigned char*>(kOurs.data()),
                            static_cast<unsigned>(kOurs.size()), offered,
                            offered_size) != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_NOACK;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

Result<TlsContext> load_tls(const std::string& certificate, const std::string& key,
                            Duration wall_now) {
  TlsContext context(SSL_CTX_new(TLS_server_method()), [](SSL_CTX* of) { SSL_CTX_free(of); });
  if (!context || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1)
    return refused(ErrorCode::kResourceExhausted, "there is no memory for TLS");
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_select_cb(context.get(), &choose_protocol, nullptr);
  MILLRACE_TRY_STATUS(use_certificates(context.get(), certificate, wall_now));
  MILLRACE_TRY_STATUS(use_key(context.get(), key, certificate));
  return context;
}

bufferevent* make_tls_socket(event_base* base, const TlsContext& context) {
  SSL* const connection = SSL_new(context.get());
  if (connection == nullptr) return nullptr;
  bufferevent* const socket = bufferevent_openssl_socket_new(
      base, -1, connection, BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE);
  if (socket == nullptr) {
    SSL_free(connection);
    return nullptr;
  }
  bufferevent_openssl_set_allow_dirty_shutdown(socket, 1);
  return socket;
}

void end_tls(bufferevent* socket) {
  SSL* const connection = bufferevent_openssl_get_ssl(socket);
  if (connection == nullptr) return;
  SSL_set_shutdown(connection, SSL_RECEIVED_SHUTDOWN);
  SSL_shutdown(connection);
  ERR_clear_error();
}

}  // namespace millrace::serve
