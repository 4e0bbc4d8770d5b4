// Bytes: makes the content of IDX and gzip files for the tests of this folder, whole and damaged.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "millrace/core/base/check.h"

namespace millrace::transfer {

using Bytes = std::vector<std::byte>;

inline Bytes bytes_of(std::initializer_list<int> values) {
  Bytes bytes;
  for (const int v : values) bytes.push_back(static_cast<std::byte>(v));
  return bytes;
}

inline Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline Bytes first(const Bytes& bytes, std::size_t count) {
  return Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
}

inline Bytes with_byte(Bytes bytes, std::size_t at, int value) {
  bytes.at(at) = static_cast<std::byte>(value);
  return bytes;
}

inline Bytes idx_header(int type, std::initializer_list<std::uint32_t> dims) {
  Bytes bytes = bytes_of({0, 0, type, static_cast<int>(dims.size())});
  for (const std::uint32_t d : dims) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(std::byte(d >> shift & 0xff));
  }
  return bytes;
}

// 0, 1, 2, ... modulo 251: a prime, so that no row equals the next.
inline Bytes counting(std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i % 251);
  return bytes;
}

// One gzip member.
inline Bytes gzip(const Bytes& content) {
  z_stream stream = {};
  MILLRACE_CHECK(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK, "");
  Bytes out(deflateBound(&stream, content.size()) + 32);
  Bytes in = content;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  MILLRACE_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END, "");
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace millrace::transfer
