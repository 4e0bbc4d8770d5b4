// Certificates that a test makes for itself, with the time in which they are valid.
#pragma once

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cstdio>
#include <memory>
#include <string>

namespace millrace::testing {

struct MadeKey {
  MadeKey() : key(EVP_EC_gen("P-256"), &EVP_PKEY_free) {}
  std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key;

  void write(const std::string& path, const char* passphrase = nullptr) const {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    ASSERT_NE(file, nullptr) << path;
    EXPECT_EQ(PEM_write_PKCS8PrivateKey(file, key.get(),
                                        passphrase == nullptr ? nullptr : EVP_aes_128_cbc(),
                                        nullptr, 0, nullptr, const_cast<char*>(passphrase)),
              1);
    std::fclose(file);
  }
  // Signed by itself; valid so many seconds from now.
  void write_certificate(const std::string& path, long from, long to) const {
    const std::unique_ptr<X509, void (*)(X509*)> made(X509_new(), &X509_free);
    X509_set_version(made.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), from);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), to);
    X509_set_pubkey(made.get(), key.get());
    X509_NAME* const name = X509_get_subject_name(made.get());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
    X509_set_issuer_name(made.get(), name);
    EXPECT_GT(X509_sign(made.get(), key.get(), EVP_sha256()), 0);
    std::FILE* const file = std::fopen(path.c_str(), "w");
    ASSERT_NE(file, nullptr) << path;
    EXPECT_EQ(PEM_write_X509(file, made.get()), 1);
    std::fclose(file);
  }
};

}  // namespace millrace::testing
