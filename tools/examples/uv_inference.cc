// Inference on a uv_loop_t of one's own, beside its other timers: a protocol of lengths and floats
// over TCP, coroutines, and a Batcher. A request is a length in bytes (four, little-endian) and so
// many bytes of rows, four floats each; the answer is the same of the results, or length 0 for an
// error. It prints its port and serves until SIGTERM; then it answers what was accepted. The
// program links libuv itself, beside Millrace: `pkg-config --libs millrace libuv`.
#include <uv.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "millrace/core/loop/uv_bridge.h"
#include "millrace/millrace.h"
#include "millrace/transfer/batcher.h"
using namespace millrace;

namespace {

constexpr std::uint32_t kMostBytes = 1 << 16;

// y = x + x, for a batch of so many rows of four floats.
std::string program(int rows) {
  const std::string x = "tensor<" + std::to_string(rows) + "x4xf32>";
  return "func.func @main(%x: " + x + ") -> " + x + " {\n  %y = stablehlo.add %x, %x : " + x +
         "\n  return %y : " + x + "\n}\n";
}

template <class T>
T need(Result<T> result) {
  if (result) return std::move(result).value();
  std::fprintf(stderr, "%s\n", result.error().to_string().c_str());
  std::exit(1);
}

std::shared_ptr<const transfer::BatchModel> make_model(const Runtime& runtime) {
  const Shape row(DType::kF32, {4});
  transfer::BatchModel::Parts parts{.name = "double",
                                    .inputs = {{.name = "x", .row = row}},
                                    .outputs = {{.name = "y", .row = row}}};
  for (const int rows : {1, 8, 64}) {
    auto compiled = need(wait_blocking(runtime.compile(Program::from_text(program(rows)))));
    parts.programs.push_back({.executable = compiled, .rows = rows});
  }
  return need(transfer::BatchModel::create(std::move(parts)));
}

struct Connection;
struct Server {
  uv_loop_t loop{};
  uv_tcp_t listener{};
  uv_timer_t other{};  // what else the loop does
  uv_signal_t stopped{};
  std::unique_ptr<UvBridge> bridge;
  std::unique_ptr<transfer::Batcher> batcher;
  std::set<Connection*> open;
};

// One client; lives until its handle is closed and its last answer is written.
struct Connection : std::enable_shared_from_this<Connection> {
  explicit Connection(Server& of) : server(of) {
    server.open.insert(this);
    uv_tcp_init(&server.loop, &tcp);
    tcp.data = this;
  }
  Server& server;
  uv_tcp_t tcp{};
  std::shared_ptr<Connection> self;  // until it is closed
  std::vector<char> bytes;           // that have come
  std::stop_source gone;             // takes its queued requests with it
  Future<void> last = make_ready();  // its latest answer: answers go in the order of requests

  void close() {
    gone.request_stop();
    auto* const handle = reinterpret_cast<uv_handle_t*>(&tcp);
    if (uv_is_closing(handle) != 0) return;
    uv_close(handle, [](uv_handle_t* closed) {
      const auto kept = std::move(static_cast<Connection*>(closed->data)->self);
      kept->server.open.erase(kept.get());
    });
  }
  struct Frame : uv_write_t {
    std::vector<std::byte> bytes;
  };
  // A frame of these rows; without any, of an error.
  void write(std::span<const std::byte> rows) {
    if (uv_is_closing(reinterpret_cast<uv_handle_t*>(&tcp)) != 0) return;
    const auto size = static_cast<std::uint32_t>(rows.size());
    auto* const frame = new Frame{{}, std::vector<std::byte>(4 + rows.size())};
    std::memcpy(frame->bytes.data(), &size, 4);
    std::ranges::copy(rows, frame->bytes.begin() + 4);
    const uv_buf_t all = uv_buf_init(reinterpret_cast<char*>(frame->bytes.data()), size + 4);
    uv_write(frame, reinterpret_cast<uv_stream_t*>(&tcp), &all, 1,
             [](uv_write_t* done, int) { delete static_cast<Frame*>(done); });
  }
};

// One request; every co_await continues on the loop.
Task<void> answer(std::shared_ptr<Connection> client, std::vector<float> values,
                  Future<void> before) {
  const auto kept = std::make_shared<std::vector<float>>(std::move(values));
  const Shape shape(DType::kF32, {kept->size() / 4, 4});
  const transfer::RowInput x{.name = "x",
                             .view = {.data = kept->data(), .shape = shape, .owner = kept}};
  const CallOptions call{.stop = client->gone.get_token(),
                         .deadline = steady_clock().now() + std::chrono::seconds(1)};
  const auto rows = co_await client->server.batcher->run("double", x, {.call = call});
  static_cast<void>(co_await before);
  client->write(rows ? rows->front().array.bytes() : std::span<const std::byte>());
}

void on_bytes(Connection& client) {
  for (;;) {
    std::uint32_t size = 0;
    if (client.bytes.size() < 4) return;
    std::memcpy(&size, client.bytes.data(), 4);
    if (size == 0 || size % 16 != 0 || size > kMostBytes) return client.close();
    if (client.bytes.size() < 4 + size) return;
    std::vector<float> values(size / 4);
    std::memcpy(values.data(), client.bytes.data() + 4, size);
    client.bytes.erase(client.bytes.begin(), client.bytes.begin() + 4 + size);
    client.last = spawn(*client.server.bridge,
                        answer(client.shared_from_this(), std::move(values), client.last));
  }
}

void on_connection(uv_stream_t* listener, int status) {
  if (status < 0) return;
  auto client = std::make_shared<Connection>(*static_cast<Server*>(listener->data));
  client->self = client;
  auto* const stream = reinterpret_cast<uv_stream_t*>(&client->tcp);
  if (uv_accept(listener, stream) != 0) return client->close();
  uv_read_start(
      stream,
      [](uv_handle_t*, std::size_t, uv_buf_t* buffer) {
        static char memory[65536];  // one loop, one reader at a time
        *buffer = uv_buf_init(memory, sizeof memory);
      },
      [](uv_stream_t* from, ssize_t count, const uv_buf_t* buffer) {
        auto* const reader = static_cast<Connection*>(from->data);
        if (count < 0) return reader->close();
        reader->bytes.insert(reader->bytes.end(), buffer->base, buffer->base + count);
        on_bytes(*reader);
      });
}

// Answers what was accepted, then ends the loop.
void stop(Server& server) {
  uv_close(reinterpret_cast<uv_handle_t*>(&server.listener), nullptr);
  uv_close(reinterpret_cast<uv_handle_t*>(&server.other), nullptr);
  uv_close(reinterpret_cast<uv_handle_t*>(&server.stopped), nullptr);
  server.batcher->close(steady_clock().now() + std::chrono::seconds(5))
      .then(*server.bridge,
            [&server](const Status&) {
              for (const Connection* client : server.open) {
                const auto close = [kept = client->self](const Status&) { kept->close(); };
                client->last.then(*server.bridge, close).ignore();
              }
            })
      .ignore();
}

}  // namespace

int main() {
  const Runtime runtime = need(Runtime::create(RuntimeOptions::from_env()));
  const auto model = make_model(runtime);  // compiled before there is a loop to stop
  Server server;
  uv_loop_init(&server.loop);
  server.bridge = std::make_unique<UvBridge>(need(UvBridge::create(&server.loop)));
  server.batcher = std::make_unique<transfer::Batcher>(
      need(transfer::Batcher::create(runtime.actors(), {.devices = {runtime.device(0)}})));
  need(server.batcher->add(model));
  sockaddr_in address{};
  uv_ip4_addr("127.0.0.1", 0, &address);
  uv_tcp_init(&server.loop, &server.listener);
  server.listener.data = &server;
  uv_tcp_bind(&server.listener, reinterpret_cast<const sockaddr*>(&address), 0);
  uv_listen(reinterpret_cast<uv_stream_t*>(&server.listener), 64, on_connection);
  int size = sizeof address;
  uv_tcp_getsockname(&server.listener, reinterpret_cast<sockaddr*>(&address), &size);
  std::printf("port %d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  uv_timer_init(&server.loop, &server.other);
  uv_timer_start(&server.other, [](uv_timer_t*) {}, 1, 1);
  uv_signal_init(&server.loop, &server.stopped);
  server.stopped.data = &server;
  uv_signal_start(
      &server.stopped, [](uv_signal_t* signal, int) { stop(*static_cast<Server*>(signal->data)); },
      SIGTERM);
  uv_run(&server.loop, UV_RUN_DEFAULT);
  server.bridge.reset();
  uv_run(&server.loop, UV_RUN_DEFAULT);  // what the bridge has closed
  return uv_loop_close(&server.loop) == 0 && server.open.empty() ? 0 : 1;
}
