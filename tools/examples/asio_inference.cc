// Inference on an asio::io_context of one's own, beside its other timers: the same protocol and
// batches as uv_inference.cc, with Asio's coroutines, completion tokens and cancellation. A request
// is a length in bytes (four, little-endian) and so many bytes of rows, four floats each; the
// answer is the same of the results, or length 0 for an error. It prints its port and serves until
// SIGTERM; then it answers what was accepted.
#include <asio.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "millrace/core/loop/asio_bridge.h"
#include "millrace/millrace.h"
#include "millrace/transfer/batcher.h"
using namespace millrace;

namespace {

using asio::ip::tcp;
constexpr auto kDone = asio::experimental::as_tuple(asio::use_awaitable);  // errors as values

constexpr std::uint32_t kMostBytes = 1 << 16;

// y = x + x, for a batch of so many rows of four floats.
std::string program(int rows) {
  const std::string type = "tensor<" + std::to_string(rows) + "x4xf32>";
  return "func.func @main(%x: " + type + ") -> " + type +
         " {\n  %0 = stablehlo.add %x, %x : " + type + "\n  return %0 : " + type + "\n}\n";
}

template <class T>
T need(Result<T> result) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "%s\n", result.error().to_string().c_str());
  std::exit(1);
}

std::shared_ptr<const transfer::BatchModel> make_model(const Runtime& runtime) {
  const Shape row(DType::kF32, {4});
  transfer::BatchModel::Parts parts;
  parts.name = "double";
  parts.inputs.push_back({.name = "x", .row = row});
  parts.outputs.push_back({.name = "y", .row = row});
  for (const int rows : {1, 8, 64}) {
    auto compiled = need(wait_blocking(runtime.compile(Program::from_text(program(rows)))));
    parts.programs.push_back({.executable = compiled, .rows = rows});
  }
  return need(transfer::BatchModel::create(std::move(parts)));
}

struct Connection;

struct Server {
  asio::io_context context;
  AsioBridge bridge{context};
  tcp::acceptor listener{context, {asio::ip::address_v4::loopback(), 0}};
  asio::steady_timer other{context};  // what else the loop does
  asio::signal_set stopped{context, SIGTERM};
  std::unique_ptr<transfer::Batcher> batcher;
  std::set<std::shared_ptr<Connection>> open;
};

// One client, until its last answer is written or it has gone.
struct Connection : std::enable_shared_from_this<Connection> {
  Connection(Server& of, tcp::socket with) : server(of), socket(std::move(with)) {}

  Server& server;
  tcp::socket socket;
  std::stop_source gone;                    // takes its queued requests with it
  Future<void> last = make_ready();         // its latest answer: they go in the order of requests
  std::deque<std::vector<std::byte>> sent;  // frames; the first is being written
  bool finishing = false;                   // it closes once all is written

  void close() {
    gone.request_stop();
    asio::error_code ignored;
    socket.close(ignored);
    server.open.erase(shared_from_this());
  }
  void finish() {
    finishing = true;
    if (sent.empty()) close();
  }
  // A frame of these rows; without any, of an error.
  void write(std::span<const std::byte> rows) {
    const auto size = static_cast<std::uint32_t>(rows.size());
    std::vector<std::byte>& frame = sent.emplace_back(4 + rows.size());
    std::memcpy(frame.data(), &size, 4);
    std::ranges::copy(rows, frame.begin() + 4);
    if (sent.size() == 1) write_first();
  }
  void write_first() {
    asio::async_write(socket, asio::buffer(sent.front()),
                      [self = shared_from_this()](asio::error_code error, std::size_t) {
                        if (error) return self->close();
                        self->sent.pop_front();
                        if (!self->sent.empty()) return self->write_first();
                        if (self->finishing) self->close();
                      });
  }
};

// One request; it continues on the io_context, as every operation of Asio.
asio::awaitable<void> answer(std::shared_ptr<Connection> client, std::vector<float> values,
                             Future<void> before, Promise<void> written) {
  auto kept = std::make_shared<std::vector<float>>(std::move(values));
  transfer::RowInput input{.name = "x"};
  input.view.data = kept->data();
  input.view.shape = Shape(DType::kF32, {kept->size() / 4, 4});
  input.view.owner = kept;
  transfer::RequestOptions options;
  options.call.stop = client->gone.get_token();
  options.call.deadline = steady_clock().now() + std::chrono::seconds(1);
  Future<transfer::RowOutputs> running = client->server.batcher->run("double", input, options);
  const auto rows = co_await client->server.bridge.async_wait(running, asio::use_awaitable);
  static_cast<void>(co_await client->server.bridge.async_wait(before, asio::use_awaitable));
  if (client->socket.is_open())
    client->write(rows ? rows->front().array.bytes() : std::span<const std::byte>());
  written.set_value();
}

asio::awaitable<void> read(std::shared_ptr<Connection> client) {
  for (;;) {
    std::uint32_t size = 0;
    const auto [error, count] =
        co_await asio::async_read(client->socket, asio::buffer(&size, 4), kDone);
    if (error || size == 0 || size % 16 != 0 || size > kMostBytes) break;
    std::vector<float> values(size / 4);
    const auto [cut_off, more] =
        co_await asio::async_read(client->socket, asio::buffer(values), kDone);
    if (cut_off) break;
    Promise<void> written;
    Future<void> before = std::exchange(client->last, written.future());
    asio::co_spawn(client->server.context,
                   answer(client, std::move(values), std::move(before), std::move(written)),
                   asio::detached);
  }
  client->close();
}

// Asio cannot cancel what has completed already: accept() and tick() ask whether the listener is
// open.
asio::awaitable<void> accept(Server& server) {
  while (server.listener.is_open()) {
    auto [error, socket] = co_await server.listener.async_accept(kDone);
    if (error) continue;
    auto client = std::make_shared<Connection>(server, std::move(socket));
    server.open.insert(client);
    asio::co_spawn(server.context, read(client), asio::detached);
  }
}

asio::awaitable<void> tick(Server& server) {
  while (server.listener.is_open()) {
    server.other.expires_after(std::chrono::milliseconds(1));
    co_await server.other.async_wait(kDone);
  }
}

// Answers what was accepted, then leaves the io_context nothing to do.
asio::awaitable<void> stop(Server& server) {
  co_await server.stopped.async_wait(kDone);
  server.listener.close();  // ends accept() and tick()
  Future<void> ended = server.batcher->close(steady_clock().now() + std::chrono::seconds(5));
  static_cast<void>(co_await server.bridge.async_wait(ended, asio::use_awaitable));
  for (const auto& client : std::vector(server.open.begin(), server.open.end())) {
    static_cast<void>(co_await server.bridge.async_wait(client->last, asio::use_awaitable));
    client->finish();
  }
  for (int ms = 0; ms < 1000 && !server.open.empty(); ++ms) {  // who does not read is cut off
    server.other.expires_after(std::chrono::milliseconds(1));
    co_await server.other.async_wait(kDone);
  }
  while (!server.open.empty()) (*server.open.begin())->close();
  server.bridge.close().ignore();
}

}  // namespace

int main() {
  const Runtime runtime = need(Runtime::create(RuntimeOptions::from_env()));
  const auto model = make_model(runtime);  // compiled before there is a loop to stop
  Server server;
  server.batcher = std::make_unique<transfer::Batcher>(
      need(transfer::Batcher::create(runtime.actors(), {.devices = {runtime.device(0)}})));
  if (!server.batcher->add(model)) return 1;
  std::printf("port %d\n", server.listener.local_endpoint().port());
  std::fflush(stdout);
  asio::co_spawn(server.context, accept(server), asio::detached);
  asio::co_spawn(server.context, tick(server), asio::detached);
  asio::co_spawn(server.context, stop(server), asio::detached);
  server.context.run();
  return server.open.empty() ? 0 : 1;
}
