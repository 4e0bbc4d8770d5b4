#include "millrace/core/net/handshake.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>

namespace millrace::net {
namespace {

using State = Handshake::State;

template <class T>
T filled(int value) {
  T bytes;
  bytes.fill(static_cast<std::byte>(value));
  return bytes;
}

const Identity kSelf{.rank = 7, .incarnation = filled<Incarnation>(9)};

Handshake connector(int secret = 1, std::string_view job = "job", int nonce = 2) {
  return Handshake::make_connector(filled<Secret>(secret), job, kSelf, filled<Nonce>(nonce));
}
Handshake acceptor(int secret = 1, std::string_view job = "job", int nonce = 3) {
  return Handshake::make_acceptor(filled<Secret>(secret), job, filled<Nonce>(nonce));
}
Frame answer(Handshake& to, const Frame& frame) { return to.take(frame).value().value(); }
HandshakeFault fault_of(Handshake& to, const Frame& frame) {
  const auto taken = to.take(frame);
  EXPECT_FALSE(taken.has_value());
  EXPECT_EQ(taken.error().code(), ErrorCode::kUnauthenticated);
  return *taken.error().detail<HandshakeFault>();
}

TEST(HandshakeTest, BothEndsAreDoneAndTheAcceptorKnowsWhoItIs) {
  Handshake a = connector(), b = acceptor();
  const Frame hello = a.hello();
  const Frame challenge = answer(b, hello);
  const Frame proof = answer(a, challenge);
  const Frame welcome = answer(b, proof);
  EXPECT_FALSE(a.take(welcome).value().has_value());
  EXPECT_TRUE(a.done());
  EXPECT_TRUE(b.done());
  EXPECT_EQ(b.other(), kSelf);
  EXPECT_LE(2 * kHeaderBytes + hello.payload.size() + proof.payload.size(), kStrangerBytes);
  EXPECT_LE(challenge.payload.size(), kStrangerPayload);
}

TEST(HandshakeTest, AnAcceptorWithAnotherSecretIsFoundOutByTheConnector) {
  Handshake a = connector(1), b = acceptor(2);
  EXPECT_EQ(fault_of(a, answer(b, a.hello())), HandshakeFault::kProof);
  EXPECT_EQ(a.state(), State::kFailed);
}

TEST(HandshakeTest, AConnectorWithoutTheSecretIsRefused) {
  Handshake good = connector(), b = acceptor();
  Frame proof = answer(good, answer(b, good.hello()));
  proof.payload[31] ^= std::byte{1};
  EXPECT_EQ(fault_of(b, proof), HandshakeFault::kProof);
  EXPECT_EQ(fault_of(b, proof), HandshakeFault::kUnexpected) << "there is no second try";
}

TEST(HandshakeTest, ARecordedHandshakeIsNoUseASecondTime) {
  Handshake a = connector(), b = acceptor(), later = acceptor(1, "job", 4);
  const Frame hello = a.hello();
  const Frame proof = answer(a, answer(b, hello));
  static_cast<void>(answer(later, hello));
  EXPECT_EQ(fault_of(later, proof), HandshakeFault::kProof);
}

TEST(HandshakeTest, WhatTheOtherEndSaidIsNoProofOfOnesOwn) {
  Handshake a = connector(), b = acceptor();
  Frame reflected = answer(b, a.hello());
  reflected.header.kind = FrameKind::kProof;
  reflected.payload.erase(reflected.payload.begin(), reflected.payload.begin() + 32);
  EXPECT_EQ(fault_of(b, reflected), HandshakeFault::kProof);
}

TEST(HandshakeTest, EveryByteOfTheHelloIsBound) {
  for (std::size_t at = 0;; ++at) {
    Handshake a = connector(), b = acceptor();
    Frame hello = a.hello();
    if (at == hello.payload.size()) break;
    hello.payload[at] ^= std::byte{0x40};
    const auto challenge = b.take(hello);
    if (!challenge) {
      EXPECT_TRUE(at >= 32 && at < 64) << at;
      EXPECT_EQ(*challenge.error().detail<HandshakeFault>(), HandshakeFault::kJob);
    } else {
      EXPECT_EQ(fault_of(a, **challenge), HandshakeFault::kProof) << at;
    }
  }
}

TEST(HandshakeTest, AnotherJobIsRefusedAndTheConnectorHearsWhy) {
  Handshake a = connector(1, "one"), b = acceptor(1, "two");
  const auto refused = b.take(a.hello());
  ASSERT_FALSE(refused.has_value());
  const auto heard = a.take(Handshake::refusal(refused.error()));
  ASSERT_FALSE(heard.has_value());
  EXPECT_EQ(*heard.error().detail<HandshakeFault>(), HandshakeFault::kRefused);
  EXPECT_NE(heard.error().message().find("another job"), std::string::npos);
}

TEST(HandshakeTest, OtherLengthsAreNotRead) {
  for (const std::size_t size : {0u, 1u, 31u, 83u, 85u, 192u}) {
    Handshake b = acceptor();
    EXPECT_EQ(fault_of(b, {{.kind = FrameKind::kHello}, Bytes(size)}), HandshakeFault::kUnexpected);
    Handshake a = connector();
    static_cast<void>(a.hello());
    EXPECT_EQ(fault_of(a, {{.kind = FrameKind::kChallenge}, Bytes(size)}),
              HandshakeFault::kUnexpected);
    Handshake c = connector(), d = acceptor();
    static_cast<void>(answer(d, c.hello()));
    EXPECT_EQ(fault_of(d, {{.kind = FrameKind::kProof}, Bytes(size)}), HandshakeFault::kProof);
  }
}

// Each state against each kind: all that is no edge fails, and nothing leaves a final state.
TEST(HandshakeTest, AFrameWithoutAPlaceFailsInEveryState) {
  for (int steps = 0; steps <= 3; ++steps) {
    for (int kind = 1; kind < 40; ++kind) {
      Handshake a = connector(), b = acceptor();
      if (steps > 0) {
        const Frame challenge = answer(b, a.hello());
        if (steps > 1) {
          const Frame proof = answer(a, challenge);
          if (steps > 2) static_cast<void>(a.take(answer(b, proof)));
        }
      }
      for (Handshake* one : {&a, &b}) {
        if (one->state() == State::kAwaitsWelcome &&
            kind == std::to_underlying(FrameKind::kWelcome))
          continue;
        const bool was_done = one->done();
        EXPECT_FALSE(one->take({{.kind = static_cast<FrameKind>(kind)}, {}}).has_value()) << kind;
        EXPECT_EQ(one->state(), was_done ? State::kDone : State::kFailed) << kind;
      }
    }
  }
}

TEST(HandshakeTest, RandomBytesDiffer) {
  Nonce a = {}, b = {};
  draw_random(a);
  draw_random(b);
  EXPECT_NE(a, b);
}

}  // namespace
}  // namespace millrace::net
