// `millrace train`: options in, news and a report out; the training itself is ../train/training.h.
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "millrace/collectives/process_group.h"
#include "millrace/core/async/blocking.h"
#include "millrace/core/async/coroutine.h"
#include "millrace/core/base/json_text.h"
#include "millrace/core/net/job.h"
#include "millrace/core/net/job_member.h"
#include "millrace/core/net/mesh.h"
#include "millrace/core/net/world.h"
#include "millrace/tools/commands/command.h"
#include "millrace/tools/commands/train_view.h"
#include "millrace/tools/train/awaiting.h"
#include "millrace/tools/train/model.h"
#include "millrace/tools/train/recovery.h"
#include "millrace/transfer/array_source.h"
#include "millrace/transfer/fake_source.h"
#include "millrace/transfer/formats/idx_dataset.h"

namespace millrace::commands {

namespace {

using train::Model;
using train::TrainingReport;
using transfer::FakeSource;
using transfer::IdxDataset;
using transfer::ItemSource;

constexpr std::uint64_t kFakeTrainItems = 60'000;
constexpr std::uint64_t kFakeTestItems = 10'000;

struct Data {
  std::shared_ptr<ItemSource> train;
  std::shared_ptr<ItemSource> test;
};

// Images of the size and labels of the range that the model takes; test items come after the
// others.
Result<Data> fake_data(const Model& model, std::uint64_t seed) {
  const std::vector<std::int64_t>& shape = model.image_shape();
  if (shape.size() != 2) {
    return fail(ErrorCode::kUnimplemented,
                "--fake-data makes images of height x width; those of model '" + model.name() +
                    "' have " + std::to_string(shape.size()) + " dimensions");
  }
  if (shape[0] < 1 || shape[1] < 1) {
    return fail(ErrorCode::kInvalidArgument,
                "--fake-data makes images of a pixel or more; those of model '" + model.name() +
                    "' are " + std::to_string(shape[0]) + "x" + std::to_string(shape[1]));
  }
  if (model.classes() < 1 || model.classes() > FakeSource::kMostClasses) {
    return fail(ErrorCode::kInvalidArgument, "--fake-data makes labels of 1 to " +
                                                 std::to_string(FakeSource::kMostClasses) +
                                                 " classes; model '" + model.name() + "' has " +
                                                 std::to_string(model.classes()));
  }
  transfer::FakeSourceOptions options{.items = kFakeTrainItems,
                                      .height = shape[0],
                                      .width = shape[1],
                                      .classes = static_cast<int>(model.classes()),
                                      .seed = seed};
  Data data;
  data.train = std::make_shared<FakeSource>(options);
  options.first_item = kFakeTrainItems;
  options.items = kFakeTestItems;
  data.test = std::make_shared<FakeSource>(options);
  return data;
}

// Nothing is trained on that the model's programs would misread.
Status check_fits(const IdxDataset& dataset, const Model& model) {
  const auto dims = dataset.row_shape().dims();
  if (!std::equal(dims.begin(), dims.end(), model.image_shape().begin(),
                  model.image_shape().end())) {
    const devices::Shape wanted(devices::DType::kU8, model.image_shape());
    return fail(ErrorCode::kInvalidArgument, dataset.images_file() + " has images of " +
                                                 dataset.row_shape().to_string() + ", but model '" +
                                                 model.name() + "' takes " + wanted.to_string());
  }
  if (dataset.classes() > model.classes()) {
    return fail(ErrorCode::kInvalidArgument,
                "the labels beside " + dataset.images_file() + " go up to " +
                    std::to_string(dataset.classes() - 1) + ", but model '" + model.name() +
                    "' has " + std::to_string(model.classes()) + " classes, counted from 0");
  }
  return {};
}

Result<std::shared_ptr<ItemSource>> idx_source(const std::string& folder, transfer::Split split,
                                               const Model& model, const std::stop_token& stop) {
  MILLRACE_TRY(const IdxDataset dataset, IdxDataset::open(folder, split, {.stop = stop}));
  MILLRACE_TRY_STATUS(check_fits(dataset, model));
  return transfer::ArraySource::create(
      {{"images", dataset.images()}, {"labels", dataset.labels()}});
}

// Blocking: reads whole files, unless it is stopped before.
Result<Data> open_data(const TrainFlags& flags, const std::stop_token& stop) {
  MILLRACE_TRY(const Model model, Model::load(flags.training.model));
  if (flags.fake_data) return fake_data(model, flags.training.seed);
  Data data;
  MILLRACE_TRY(data.train, idx_source(flags.data, transfer::Split::kTrain, model, stop));
  MILLRACE_TRY(data.test, idx_source(flags.data, transfer::Split::kTest, model, stop));
  return data;
}

// open_data on a thread that may block, ended by the call's stop and by its deadline.
Result<Data> open_data_until(const TrainFlags& flags, const Environment& environment,
                             const CallOptions& call) {
  std::stop_source give_up;
  const std::stop_callback forward(call.stop, [&give_up] { give_up.request_stop(); });
  const Future<Data> opened =
      train::on_blocking(environment, [&flags, stop = give_up.get_token()] {  // flags: see the end
        return open_data(flags, stop);
      });
  Result<Data> data = wait_blocking(with_options(opened, call, *environment.timers));
  if (!data) {
    give_up.request_stop();
    static_cast<void>(wait_blocking(opened));  // nothing reads flags any more
  }
  return data;
}

Status check_batch(const TrainFlags& flags, std::int64_t devices) {
  const std::int64_t rows = flags.training.batch_size;
  if (rows % devices == 0) return {};
  return usage_error("--batch-size " + std::to_string(rows) + " does not divide evenly over " +
                     std::to_string(devices) + " devices");
}

// All processes of the job train together.
bool is_one_of_several(const RuntimeOptions& options) {
  return options.job && options.process.count > 1;
}

Result<std::vector<devices::Device>> choose_devices(const TrainFlags& flags,
                                                    const Runtime& runtime) {
  const std::span<const devices::Device> all = runtime.devices();
  const std::size_t count = flags.devices ? static_cast<std::size_t>(*flags.devices) : all.size();
  if (count > all.size()) {
    return std::unexpected(Error(ErrorCode::kInvalidArgument,
                                 "--devices asks for " + std::to_string(count) + " devices, but '" +
                                     runtime.device_kind() + "' has " + std::to_string(all.size()))
                               .with_detail(ExitWith{ExitCode::kDevice}));
  }
  if (!is_one_of_several(runtime.options()))
    MILLRACE_TRY_STATUS(check_batch(flags, static_cast<std::int64_t>(count)));
  return std::vector<devices::Device>(all.begin(),
                                      all.begin() + static_cast<std::ptrdiff_t>(count));
}

// The devices of all processes of the job, or of those that are left of it. Its lowest rank speaks
// for all. Thread-safety: as TrainingWorld says.
class JobWorld final : public train::TrainingWorld {
 public:
  JobWorld(const Runtime& runtime, const TrainFlags& flags, CallOptions call, Console& console,
           std::vector<devices::Device> devices)
      : runtime_(runtime),
        flags_(flags),
        call_(std::move(call)),
        console_(console),
        devices_(std::move(devices)) {}

  bool elastic() const override { return runtime_.job()->elastic(); }
  bool has_newcomers() const override { return runtime_.job()->has_newcomers(); }

  Future<train::WorldGroup> meet() override {
    met_ = runtime_.next_world(call_).then(
        inline_executor(), [this](const Result<net::World>& world) -> Future<train::WorldGroup> {
          if (!world) return world.error();
          return meet_in(*world);
        });
    return met_;
  }
  Future<void> leave() override {
    if (!met_.valid()) return make_ready();
    return met_.then(inline_executor(), [](const Result<train::WorldGroup>& met) {
      return met ? met->ranks.front().close() : make_ready();
    });
  }

 private:
  Future<train::WorldGroup> meet_in(const net::World& world) {
    const auto self = static_cast<std::uint32_t>(runtime_.options().process.index);
    console_.set_speaks(world.ranks.front() == self);
    return collectives::ProcessGroup::meet(
               runtime_.actors(), Ref<net::Mesh>::share(runtime_.mesh()), {"train"}, devices_,
               {.call = call_,
                .trace = runtime_.trace(),
                .progress = runtime_.job()->progress("train"),
                .processes = world.ranks})
        .then(inline_executor(),
              [this, world](Result<std::vector<collectives::ProcessGroup>> ranks)
                  -> Result<train::WorldGroup> {
                if (!ranks) return std::unexpected(ranks.error());
                const auto here = static_cast<std::size_t>(ranks->front().size());
                const auto processes = static_cast<std::size_t>(runtime_.options().process.count);
                if (here * processes % world.ranks.size() != 0) {
                  ranks->front().close().ignore();
                  return fail(ErrorCode::kUnimplemented,
                              "the processes of a job that goes on with fewer have equally many "
                              "devices each; these " +
                                  std::to_string(world.ranks.size()) + " have " +
                                  std::to_string(here) + " together");
                }
                train::WorldGroup group{.ranks = *std::move(ranks),
                                        .full = here * processes / world.ranks.size(),
                                        .changed = world.changed};
                // Only now is it known how many there are.
                const Status fits = check_batch(flags_, static_cast<std::int64_t>(group.full));
                if (fits) return group;
                group.ranks.front().close().ignore();
                return std::unexpected(fits.error());
              });
  }

  const Runtime& runtime_;
  const TrainFlags& flags_;
  const CallOptions call_;
  Console& console_;
  const std::vector<devices::Device> devices_;
  Future<train::WorldGroup> met_;
};

std::unique_ptr<TrainingView> make_view(const TrainFlags& flags, Console& console) {
  const Sink words = [&console](std::string_view text) { console.words(text); };
  if (flags.json) {
    // A reader that is gone ends the process by SIGPIPE; a full disk is reported at the end.
    return make_json_view(
        [&console](std::string_view text) { static_cast<void>(console.data(text)); });
  }
  if (flags.quiet) return std::make_unique<TrainingView>();
  if (console.traits().bar) return make_bar_view(flags.training.epochs, &Console::columns, words);
  return make_line_view(flags.training.epochs, words);
}

// Prints what the training reports until it has ended. The printing is on this thread, so a slow
// terminal holds up no executor.
Result<TrainingReport> follow(const Future<TrainingReport>& training, TrainingFeed& feed,
                              TrainingView& view, const Console& console) {
  const Future<void> fed =
      training.then(inline_executor(), [&feed](const Result<TrainingReport>&) { feed.end(); });
  for (bool ended = false; !ended;) {
    const TrainingFeed::News news = feed.wait_blocking();
    for (const TrainingEvent& event : news.events) {
      if (console.speaks()) view.show(event, steady_clock().now());
    }
    ended = news.ended;
  }
  view.finish();
  static_cast<void>(wait_blocking(fed));  // feed.end() has returned
  return training.take();
}

train::TrainingOptions training_options(const TrainFlags& flags, Data data,
                                        const CallOptions& call) {
  train::TrainingOptions options = flags.training;
  options.train_data = std::move(data.train);
  options.test_data = std::move(data.test);
  options.shuffle = !flags.no_shuffle;
  if (!flags.checkpoint.folder.empty()) options.checkpoint = flags.checkpoint;
  options.call = call;
  return options;
}

Result<TrainingReport> train_on(const Runtime& runtime, const TrainFlags& flags,
                                const CallOptions& call, TrainingFeed& feed, Console& console) {
  train::TrainingParts parts;
  parts.environment = runtime.environment();
  parts.system = &runtime.actors();
  MILLRACE_TRY(parts.devices, choose_devices(flags, runtime));
  parts.compile = [&runtime, call](const devices::Program& program,
                                   const devices::CompileOptions& options) {
    return compile_program(runtime, program, options, call);
  };
  parts.trace = runtime.trace();
  parts.cpu_meter = train::process_cpu_usage;
  JobWorld world(runtime, flags, call, console, parts.devices);
  if (is_one_of_several(runtime.options())) parts.world = &world;
  net::Job* const job = runtime.job();
  if (job != nullptr && job->elastic()) parts.job_store = &job->store();
  MILLRACE_TRY(Data data, open_data_until(flags, parts.environment, call));
  const std::unique_ptr<TrainingView> view = make_view(flags, console);
  const Future<TrainingReport> training =
      spawn(runtime.compute(),
            train::train(std::move(parts), training_options(flags, std::move(data), call), &feed));
  return follow(training, feed, *view, console);
}

// What the job has failed with, if that is why it was stopped.
std::optional<Error> failure_of_job(const Runtime& runtime) {
  if (runtime.job() == nullptr) return std::nullopt;
  const Future<void> failure = runtime.job()->failure();
  if (!failure.ready() || failure.result()) return std::nullopt;
  return failure.result().error();
}

Result<ExitCode> report_stopped(const TrainFlags& flags, int signal, std::uint64_t steps,
                                Console& console) {
  const std::string name = signal_name(signal);
  if (flags.json) {
    const nlohmann::ordered_json event = {{"event", "stopped"}, {"step", steps}, {"signal", name}};
    MILLRACE_TRY_STATUS(console.data(json_text(event) + "\n"));
  }
  console.words("stopped after step " + std::to_string(steps) + " on " + name + "\n");
  return exit_code_of_signal(signal);
}

}  // namespace

Result<ExitCode> train_command(const TrainFlags& flags, Console& console) {
  TrainingFeed feed;
  MILLRACE_TRY(const std::unique_ptr<Limits> limits,
               Limits::create(console, {.deadline_seconds = flags.deadline_seconds,
                                        .grace = Limits::kTraining,
                                        .progress = [&feed] { return feed.progress(); },
                                        .json = flags.json}));
  MILLRACE_TRY(RuntimeOptions options, runtime_options(flags));
  if (is_one_of_several(options)) {
    const net::JobMember self{.rank = static_cast<std::uint32_t>(options.process.index),
                              .host = net::host_name(),
                              .pid = ::getpid()};
    console.be_one_of(net::to_string(self), options.process.index == 0);
  }
  options.trace = true;  // the report's times of the stages come from it
  return with_runtime(options, *limits, console, [&](const Runtime& runtime) -> Result<ExitCode> {
    const Result<TrainingReport> report = train_on(runtime, flags, limits->call(), feed, console);
    if (report) {
      MILLRACE_TRY_STATUS(console.data(flags.json ? report->to_json() + "\n" : report->to_text()));
      return ExitCode::kOk;
    }
    if (limits->signal() != 0 && report.error().code() == ErrorCode::kCancelled) {
      if (const std::optional<Error> failure = failure_of_job(runtime)) {
        return report_error(failure->with_context(feed.progress()), console, flags.json,
                            exit_code_of_signal(limits->signal()));
      }
      return report_stopped(flags, limits->signal(), feed.steps_done(), console);
    }
    if (report.error().detail<net::WorkDone>() != nullptr) {
      console.warning(report.error().message());
      return ExitCode::kOk;
    }
    return std::unexpected(limits->at_end(report.error()));
  });
}

}  // namespace millrace::commands
