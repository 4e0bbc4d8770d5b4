// AsioBridge: futures on an io_context (standalone Asio 1.22 or later) that belongs to you. This
// header is all of it: our libraries know nothing of Asio.
//
//   AsioBridge bridge(context);                                        // your asio::io_context
//   result.then(bridge, [](Result<HostArray> r) { ... }).ignore();     // inside context.run()
//   Result<HostArray> r = co_await bridge.async_wait(result, asio::use_awaitable);
//   bridge.async_wait(result, asio::bind_cancellation_slot(slot, f));  // or any other token
//
// An io_context that several threads run serves a bridge on any of them, one at a time; such a
// bridge is destroyed once close() has completed. Common to all bridges: completion_queue.h.
#pragma once

#include <asio.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "millrace/core/async/combinators.h"
#include "millrace/core/base/mutex.h"
#include "millrace/core/loop/completion_queue.h"

namespace millrace {

// Thread-safety: as LoopBridge. Closed or destroyed before its io_context; what futures stand for
// may run on after both. But a value that another thread just sets while the bridge is
// destroyed without close() is released, with its handler, by that thread: where handlers of
// async_wait wait, close() first.
class AsioBridge final : public LoopBridge {
 public:
  explicit AsioBridge(asio::io_context& context, const BridgeOptions& options = {})
      : AsioBridge(new Port(context.get_executor()), options) {}

  // An asynchronous operation of Asio: the handler is called with a Result<T> on its associated
  // executor (by default that of the io_context), never inside this call. Its cancellation slot
  // gives kCancelled; the work behind future runs on, and keeps a small record of every
  // wait on it, cancelled ones too, until it completes. A handler that throws makes run() throw, as
  // with every other operation. If the bridge is destroyed first, the handler is too, uncalled.
  template <class T, class Token>
  auto async_wait(Future<T> future, Token&& token) const {
    return asio::async_initiate<Token, void(Result<T>)>(
        [queue = queue(), context = context_]<class Handler>(Handler&& handler, Future<T> awaited) {
          initiate(*queue, context, std::forward<Handler>(handler), std::move(awaited));
        },
        token, std::move(future));
  }

 private:
  using Context = asio::io_context::executor_type;

  // The strand keeps drains apart where several threads run the io_context.
  class Port final : public LoopPort {
   public:
    explicit Port(const Context& context)
        : context_(context), alive_(asio::make_work_guard(context)), strand_(context) {}

    void watch(CompletionQueue& queue) {
      queue_ = &queue;
      wake();
    }
    const Context& context() const { return context_; }

    // A thread that pushed may be here long after the bridge and the io_context are gone.
    void wake() noexcept override {
      MutexLock lock(mutex_);
      if (!strand_) return;
      asio::post(*strand_, [queue = Ref<CompletionQueue>::share(queue_)] { queue->drain(); });
    }
    void keep_alive(bool on) noexcept override {
      if (on) {
        alive_.emplace(context_);
      } else {
        alive_.reset();
      }
    }
    void detach(Ref<CompletionQueue> queue) noexcept override {
      {
        MutexLock lock(mutex_);
        strand_.reset();
      }
      queue->detached();
    }
    // Releasing the work may wake the io_context, whose descriptors the parent shares: it is kept,
    // and so is the strand, which the child's io_context may not outlive. Another thread of the
    // parent may have held the mutex.
    MILLRACE_THREAD_ANNOTATION(no_thread_safety_analysis)
    void leave_in_child() noexcept override {
      static_cast<void>(new std::optional<Guard>(std::move(alive_)));
      alive_.reset();
      static_cast<void>(new std::optional<Strand>(std::move(strand_)));
      strand_.reset();
    }
    bool one_thread() const override { return false; }
    bool made_on_loop() const override { return context_.running_in_this_thread(); }

   private:
    using Guard = asio::executor_work_guard<Context>;
    using Strand = asio::strand<Context>;
    const Context context_;
    std::optional<Guard> alive_;
    CompletionQueue* queue_ = nullptr;
    Mutex mutex_;
    std::optional<Strand> strand_ MILLRACE_GUARDED_BY(mutex_);  // until detached
  };

  AsioBridge(Port* port, const BridgeOptions& options)
      : LoopBridge(make_ref<CompletionQueue>(std::unique_ptr<Port>(port), options)),
        context_(port->context()) {
    port->watch(*queue());
  }

  template <class Handler, class T>
  static void initiate(Executor& executor, const Context& context, Handler&& handler,
                       Future<T> future) {
    const auto home = asio::get_associated_executor(handler, context);
    auto slot = asio::get_associated_cancellation_slot(handler);
    if (slot.is_connected()) {
      std::stop_source stop;
      future = with_stop(future, stop.get_token());
      slot.assign([stop](asio::cancellation_type type) mutable {
        if (type != asio::cancellation_type::none) stop.request_stop();
      });
    }
    future
        .then(executor,
              [handler = std::forward<Handler>(handler), slot, home, context,
               work = asio::make_work_guard(home)](Result<T> result) mutable {
                try {
                  asio::dispatch(home, [handler = std::move(handler), slot,
                                        result = std::move(result)]() mutable {
                    if (slot.is_connected()) slot.clear();  // its signal is emitted here too
                    std::move(handler)(std::move(result));
                  });
                } catch (...) {  // belongs to the caller of run()
                  asio::post(context, [thrown = std::current_exception()] {
                    std::rethrow_exception(thrown);
                  });
                }
              })
        .ignore();
  }

  Context context_;
};

}  // namespace millrace
