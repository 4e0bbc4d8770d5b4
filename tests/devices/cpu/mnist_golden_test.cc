// The demo's programs against what JAX computed for them (tools/models/mnist/golden): parameters
// bit for bit up to rounding, gradients, twenty losses, evaluation and prediction.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/devices/cpu/run_support.h"
#include "tests/support/paths.h"

namespace millrace::devices::cpu {
namespace {

using testing::Bytes;
using testing::bytes_of;
using testing::TestProgram;
using testing::values_of;

const std::string kFolder = millrace::testing::source_folder() + "/tools/models/mnist/";

nlohmann::json golden() {
  return nlohmann::json::parse(testing::read_whole_file(kFolder + "golden/golden.json"));
}

// An f32 array from an NPY file of version 1.
std::vector<float> npy(const std::string& name) {
  const std::string file = testing::read_whole_file(kFolder + "golden/" + name + ".npy");
  if (file.size() < 10 || file.substr(1, 5) != "NUMPY" || file.find("<f4") == std::string::npos) {
    throw std::runtime_error("not an f32 NPY file: " + name);
  }
  const std::size_t header =
      10 + static_cast<unsigned char>(file[8]) + 256u * static_cast<unsigned char>(file[9]);
  std::vector<float> values((file.size() - header) / 4);
  std::memcpy(values.data(), file.data() + header, values.size() * 4);
  return values;
}

std::uint32_t mix(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x85EBCA6Bu;
  x ^= x >> 13;
  x *= 0xC2B2AE35u;
  return x ^ (x >> 16);
}

// The images and labels of tools/models/generated_images.py.
std::pair<Bytes, Bytes> images(std::uint32_t first, std::uint32_t count) {
  std::vector<std::uint8_t> pixels, labels;
  for (std::uint32_t i = first; i < first + count; ++i) {
    const std::uint32_t h = mix(i), c = h % 10;
    labels.push_back(static_cast<std::uint8_t>((h >> 16) % 8 == 0 ? (h >> 10) % 10 : c));
    for (std::uint32_t y = 0; y < 28; ++y) {
      for (std::uint32_t x = 0; x < 28; ++x) {
        pixels.push_back(
            static_cast<std::uint8_t>(mix(0x10000000u + c * 49 + (y / 4) * 7 + x / 4) % 64 +
                                      mix(0x20000000u + i * 784 + y * 28 + x) % 192));
      }
    }
  }
  return {bytes_of(pixels), bytes_of(labels)};
}

double norm(const std::vector<float>& v) {
  double sum = 0;
  for (float x : v) sum += static_cast<double>(x) * x;
  return std::sqrt(sum);
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return INFINITY;
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
  return std::sqrt(sum);
}

// The names of a program's inputs or outputs of one role, in order.
std::vector<std::string> names(const std::string& program, const char* side,
                               const std::string& role) {
  const auto manifest = nlohmann::json::parse(testing::read_whole_file(kFolder + "manifest.json"));
  std::vector<std::string> list;
  for (const auto& p : manifest["programs"]) {
    if (p["name"] != program) continue;
    for (const auto& t : p[side]) {
      if (t["role"] == role) list.push_back(t["name"]);
    }
  }
  return list;
}

std::vector<Bytes> slice(const std::vector<Bytes>& v, std::size_t begin, std::size_t count) {
  return {v.begin() + static_cast<std::ptrdiff_t>(begin),
          v.begin() + static_cast<std::ptrdiff_t>(begin + count)};
}

std::vector<Bytes> operator+(std::vector<Bytes> a, const std::vector<Bytes>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

constexpr std::size_t kParams = 12, kState = 4;

// Parameters, momentum and state, and steps of training on one device.
struct Training {
  std::vector<Bytes> params, momentum, state;
  TestProgram grad = TestProgram::from_file(kFolder + "grad_64.mlir");
  TestProgram update = TestProgram::from_file(kFolder + "update.mlir");

  Training() {
    TestProgram init = TestProgram::from_file(kFolder + "init.mlir");
    const auto made = init.run({bytes_of(std::vector<std::uint32_t>{golden()["seed"]})});
    params = slice(made, 0, kParams);
    momentum = slice(made, kParams, kParams);
    state = slice(made, 2 * kParams, kState);
  }
  std::vector<Bytes> gradients(std::uint32_t first_image) {
    const auto [pixels, labels] = images(first_image, 64);
    return grad.run(params + state + std::vector<Bytes>{pixels, labels});
  }
  float step(std::uint32_t first_image) {
    const auto g = gradients(first_image);
    const auto next = update.run(params + momentum + slice(g, 1, kParams));
    params = slice(next, 0, kParams);
    momentum = slice(next, kParams, kParams);
    state = slice(g, 1 + kParams, kState);
    return values_of<float>(g[0])[0];
  }
};

TEST(MnistGoldenTest, InitGivesTheParametersOfJax) {
  Training t;
  const auto param_names = names("init", "outputs", "param");
  ASSERT_EQ(param_names.size(), kParams);
  for (std::size_t i = 0; i < kParams; ++i) {
    const auto want = npy("init/" + param_names[i]);
    EXPECT_LE(distance(values_of<float>(t.params[i]), want), 1e-6 * norm(want)) << param_names[i];
  }
}

TEST(MnistGoldenTest, GradientsAgreeWithJaxToTheirNorm) {
  Training t;
  const auto grads = t.gradients(0);
  const auto grad_names = names("grad_64", "outputs", "grad");
  ASSERT_EQ(grad_names.size(), kParams);
  for (std::size_t i = 0; i < kParams; ++i) {
    const auto want = npy("grad/" + grad_names[i]);
    EXPECT_LE(distance(values_of<float>(grads[1 + i]), want), 1e-4 * norm(want)) << grad_names[i];
  }
  EXPECT_NEAR(values_of<float>(grads[0])[0], static_cast<double>(golden()["first_step"][0]["loss"]),
              2.4e-4);
}

TEST(MnistGoldenTest, GradOf128RowsHasTheLossAndNormsOfJax) {
  Training t;
  TestProgram grad = TestProgram::from_file(kFolder + "grad_128.mlir");
  const auto [pixels, labels] = images(0, 128);
  const auto made = grad.run(t.params + t.state + std::vector<Bytes>{pixels, labels});
  const auto want = golden()["first_step"][1];
  const double loss = want["loss"];
  EXPECT_NEAR(values_of<float>(made[0])[0], loss, 1e-4 * loss);
  const auto grad_names = names("grad_128", "outputs", "grad");
  for (std::size_t i = 0; i < kParams; ++i) {
    const double n = want["grad_norms"][grad_names[i]];
    EXPECT_NEAR(norm(values_of<float>(made[1 + i])), n, 1e-4 * n) << grad_names[i];
  }
}

TEST(MnistGoldenTest, TwentyLossesAgreeWithJaxToOneInTenThousand) {
  Training t;
  const auto losses = golden()["training"][0]["losses"];
  ASSERT_EQ(losses.size(), 20u);
  for (std::uint32_t s = 0; s < 20; ++s) {
    const double want = losses[s];
    EXPECT_NEAR(t.step(s * 64), want, 1e-4 * want) << "step " << s;
  }
}

TEST(MnistGoldenTest, EvaluationAndPredictionAgreeWithJax) {
  const auto g = golden();
  std::vector<Bytes> tensors;
  for (const char* role : {"param", "state"}) {
    for (const std::string& name : names("eval_128", "inputs", role))
      tensors.push_back(bytes_of(npy("final/" + name)));
  }
  TestProgram eval = TestProgram::from_file(kFolder + "eval_128.mlir");
  const auto [pixels, labels] = images(g["eval"]["first_image"], 128);
  const auto e = eval.run(
      tensors + std::vector<Bytes>{pixels, labels,
                                   bytes_of(std::vector<std::int32_t>{g["eval"]["valid_rows"]})});
  EXPECT_EQ(values_of<std::int32_t>(e[0])[0], static_cast<int>(g["eval"]["correct"]));
  const double loss_sum = g["eval"]["loss_sum"];
  EXPECT_NEAR(values_of<float>(e[1])[0], loss_sum, 1e-4 * loss_sum);

  TestProgram predict = TestProgram::from_file(kFolder + "predict_4.mlir");
  const auto p =
      predict.run(tensors + std::vector<Bytes>{images(g["predict"]["first_image"], 4).first});
  const auto log_probs = values_of<float>(p[0]);
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_NEAR(log_probs[i], static_cast<double>(g["predict"]["log_probs"][i / 10][i % 10]), 1e-3)
        << i;
  }
}

TEST(MnistGoldenTest, EveryPredictProgramRuns) {
  for (const int rows : {1, 4, 16, 64}) {
    TestProgram c = TestProgram::from_file(kFolder + "predict_" + std::to_string(rows) + ".mlir");
    std::vector<Bytes> inputs;
    for (const Shape& s : c.plan().inputs()) inputs.emplace_back(s.size_bytes());
    for (float x : values_of<float>(c.run(inputs)[0])) EXPECT_NEAR(x, std::log(0.1), 1e-5);
  }
}

}  // namespace
}  // namespace millrace::devices::cpu
