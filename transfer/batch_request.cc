#include "millrace/transfer/batch_request.h"

#include <algorithm>

namespace millrace::transfer {
namespace {

struct BatcherClosed {};

bool was_cancelled(const Error& error) {
  return error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kDeadlineExceeded ||
         error.detail<BatcherClosed>() != nullptr;
}

}  // namespace

Error batcher_closed(const std::string& which) {
  return Error(ErrorCode::kUnavailable, which + " is closed").with_detail(BatcherClosed());
}

BatchQueue::BatchQueue(std::shared_ptr<const BatchModel> of, const BatchQueueOptions& given,
                       std::size_t number_of, Metrics* metrics)
    : name(of->name()),
      options(given),
      number(number_of),
      limit({.requests = given.most_requests, .bytes = given.most_bytes}),
      version_(std::make_shared<BatchVersion>(std::move(of))) {
  if (metrics == nullptr) return;
  const auto requests = [&](const char* code) {
    return &metrics->counter("millrace_requests_total", {{"code", code}, {"model", name}});
  };
  succeeded_.there = requests("ok");
  failed_.there = requests("failed");
  cancelled_.there = requests("cancelled");
  refused_.there = requests("refused");
  metrics->help("millrace_requests_total", "Requests that have ended, by model and how.");
  const Labels labels = {{"model", name}};
  rows_.there = &metrics->counter("millrace_batch_rows_total", labels);
  metrics->help("millrace_batch_rows_total", "Rows that were launched.");
  padding_.there = &metrics->counter("millrace_batch_padding_rows_total", labels);
  metrics->help("millrace_batch_padding_rows_total",
                "Rows that were launched to fill batches up to an exported size.");
  batch_rows_.there = &metrics->histogram("millrace_batch_size", labels);
  metrics->help("millrace_batch_size", "Rows of each batch, without padding.");
  queue_time_.there = &metrics->histogram("millrace_queue_nanoseconds", labels);
  metrics->help("millrace_queue_nanoseconds", "From a request to the launch of its batch.");
  batch_time_.there = &metrics->histogram("millrace_batch_nanoseconds", labels);
  metrics->help("millrace_batch_nanoseconds", "From the launch of a batch to its outputs.");
  request_time_.there = &metrics->histogram("millrace_request_nanoseconds", labels);
  metrics->help("millrace_request_nanoseconds", "From a request to its rows.");
}

void BatchQueue::record(ShownTimes& times, Duration time) {
  const auto value = static_cast<std::uint64_t>(std::max<Duration::rep>(time.count(), 0));
  times.here.record(value);
  if (times.there != nullptr) times.there->record(value);
}

void BatchQueue::count(const Error* error, Duration took) {
  if (error == nullptr) {
    succeeded_.add();
    record(request_time_, took);
  } else if (was_cancelled(*error)) {
    cancelled_.add();
  } else {
    failed_.add();
  }
}

void BatchQueue::count_refused() { refused_.add(); }

void BatchQueue::count_batch(const BatchSchedule::Batch& batch) {
  rows_.add(static_cast<std::uint64_t>(batch.rows));
  padding_.add(static_cast<std::uint64_t>(batch.size - batch.rows));
  record(batch_rows_, Duration(batch.rows));
  for (const BatchSchedule::Place& place : batch.places)
    record(queue_time_, batch.begun - place->arrived);
}

BatchQueueStats BatchQueue::stats() const {
  const QueueLimit::Amount used = limit.used();
  return {.queued = used.requests,
          .queued_bytes = used.bytes,
          .most_requests = options.most_requests,
          .most_bytes = options.most_bytes,
          .succeeded = succeeded_.here.value(),
          .failed = failed_.here.value(),
          .cancelled = cancelled_.here.value(),
          .refused = refused_.here.value(),
          .rows = rows_.here.value(),
          .padding = padding_.here.value(),
          .batch_rows = batch_rows_.here.snapshot(),
          .queue_time = queue_time_.here.snapshot(),
          .batch_time = batch_time_.here.snapshot(),
          .request_time = request_time_.here.snapshot()};
}

}  // namespace millrace::transfer
