// A peer of `millrace serve` (serve_peers.cc): a plain synchronous server in C++, as one writes it
// without a batcher or an event loop. Each connection has a thread, which reads a request by
// blocking calls, runs the same program by a Runtime, alone, and writes the answer. Bodies are read
// and written by the same code as those of `millrace serve`.
//
//   plain_server FOLDER WEIGHTS THREADS     threads: of the device
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "bench/figure.h"
#include "millrace/core/async/blocking.h"
#include "millrace/tools/api/execute.h"
#include "millrace/tools/api/model.h"
#include "millrace/tools/api/runtime.h"
#include "millrace/tools/serve/infer_body.h"
#include "millrace/tools/serve/model_json.h"

namespace millrace::bench {
namespace {

constexpr const char* kHeaderLength = "Inference-Header-Content-Length";

struct Request {
  std::string head;  // up to the empty line
  std::string body;

  std::optional<std::size_t> number(const std::string& name) const {
    const char* const at = ::strcasestr(head.c_str(), ("\r\n" + name + ":").c_str());
    if (at == nullptr) return std::nullopt;
    return std::strtoul(at + name.size() + 3, nullptr, 10);
  }
};

class Connection {
 public:
  explicit Connection(int socket) : socket_(socket) {
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  ~Connection() { ::close(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  std::optional<Request> read() {
    Request request;
    std::size_t end = 0;
    while ((end = come_.find("\r\n\r\n")) == std::string::npos) {
      if (!read_more()) return std::nullopt;
    }
    request.head = come_.substr(0, end + 2);
    come_.erase(0, end + 4);
    const std::size_t size = request.number("Content-Length").value_or(0);
    while (come_.size() < size) {
      if (!read_more()) return std::nullopt;
    }
    request.body = come_.substr(0, size);
    come_.erase(0, size);
    return request;
  }
  bool write(int status, const serve::InferAnswer& answer) const {
    std::size_t size = answer.head.size();
    for (const devices::HostArray& array : answer.tail) size += array.bytes().size();
    std::string all =
        "HTTP/1.1 " + std::to_string(status) +
        " -\r\nContent-Type: application/octet-stream\r\nContent-Length: " + std::to_string(size) +
        "\r\n";
    if (answer.header_bytes)
      all += std::string(kHeaderLength) + ": " + std::to_string(*answer.header_bytes) + "\r\n";
    all += "\r\n" + answer.head;
    for (const devices::HostArray& array : answer.tail)
      all.append(reinterpret_cast<const char*>(array.bytes().data()), array.bytes().size());
    for (std::string_view rest = all; !rest.empty();) {
      const ssize_t sent = ::send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      rest.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

 private:
  bool read_more() {
    char bytes[16384];
    const ssize_t got = ::recv(socket_, bytes, sizeof bytes, 0);
    if (got > 0) come_.append(bytes, static_cast<std::size_t>(got));
    return got > 0;
  }
  const int socket_;
  std::string come_;
};

class PlainServer {
 public:
  PlainServer(const Runtime& runtime, const Model& model)
      : device_(runtime.device(0)), batches_(*model.batches()) {}

  void serve(Connection& connection) const {
    while (std::optional<Request> request = connection.read()) {
      if (request->head.starts_with("GET ")) {
        if (!connection.write(200, {.head = serve::model_json(batches_)})) return;
        continue;
      }
      const Result<serve::InferAnswer> answer = infer(*std::move(request));
      const bool written =
          answer ? connection.write(200, *answer)
                 : connection.write(400, {.head = serve::error_body(answer.error().message())});
      if (!written) return;
    }
  }

 private:
  Result<serve::InferAnswer> infer(Request came) const {
    const std::optional<std::size_t> json_bytes = came.number(kHeaderLength);
    const auto body = std::make_shared<const std::string>(std::move(came.body));
    MILLRACE_TRY(const serve::InferRequest request,
                 serve::parse_infer_request(
                     {.bytes = std::as_bytes(std::span(*body)), .owner = body}, json_bytes));
    MILLRACE_TRY(const transfer::BatchModel::Request facts, batches_.check(request.inputs));
    const devices::Executable& program = batches_.program(facts.bucket, facts.rows).executable;
    ListOf<devices::Argument> arguments;
    arguments.resize(program.input_shapes().size());
    for (const transfer::BatchConstant& constant : batches_.constants(0))
      arguments[constant.position] = constant.buffer;
    for (std::size_t i = 0; i < request.inputs.size(); ++i)
      arguments[batches_.inputs()[i].position] = device_.put(request.inputs[i].view);
    MILLRACE_TRY(const devices::Buffers outputs,
                 wait_blocking(device_.execute(program, arguments, {.awaited = true})));
    transfer::RowOutputs rows;
    for (const transfer::BatchTensor& output : batches_.outputs()) {
      MILLRACE_TRY(devices::HostArray array,
                   wait_blocking(device_.fetch(outputs[output.position])));
      rows.push_back({.name = output.name, .array = std::move(array)});
    }
    return serve::make_infer_answer(batches_.name(), request, rows);
  }

  const devices::Device device_;
  const transfer::BatchModel& batches_;
};

int listen_on_loopback(int& port) {
  const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  auto* const address = reinterpret_cast<sockaddr*>(&at);
  if (::bind(made, address, size) != 0 || ::listen(made, 1024) != 0 ||
      ::getsockname(made, address, &size) != 0)
    give_up("a plain server", "it cannot listen");
  port = ntohs(at.sin_port);
  return made;
}

// Until it is ended by a signal.
int run(const std::string& folder, const std::string& weights, int threads) {
  RuntimeOptions options;
  options.device = "cpu";
  options.devices = 1;
  options.threads = threads;
  const Result<Runtime> runtime = Runtime::create(options);
  if (!runtime) give_up("a plain server", runtime.error().to_string());
  const Result<Model> model =
      wait_blocking(Model::load(*runtime, {.folder = folder, .name = "demo", .weights = weights}));
  if (!model) give_up("a plain server", model.error().to_string());
  if (const Status warm = wait_blocking(model->warm_up()); !warm)
    give_up("a plain server", warm.error().to_string());
  const PlainServer server(*runtime, *model);
  int port = 0;
  const int listener = listen_on_loopback(port);
  std::printf("{\"event\":\"listening\",\"port\":%d}\n{\"event\":\"ready\"}\n", port);
  std::fflush(stdout);
  for (int socket = 0; (socket = ::accept(listener, nullptr, nullptr)) >= 0;) {
    std::thread([&server, socket] {
      Connection connection(socket);
      server.serve(connection);
    }).detach();
  }
  return 1;
}

}  // namespace
}  // namespace millrace::bench

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s FOLDER WEIGHTS THREADS\n", argv[0]);
    return 2;
  }
  return millrace::bench::run(argv[1], argv[2], std::atoi(argv[3]));
}
