// ServeModels: the models that the figures of serve ask for, in a folder that is gone with it:
//   demo     the demo's network, exported for 1, 4, 16 and 64 rows, with the weights of its golden
//            training
//   dense    two dense layers, 784 x 512 x 10, for the same images and sizes: one row alone waits
//            for the weights to be read
//   nothing  takes and gives the same arrays, and computes nothing
//   large    16 matrix products of 1024 x 1024 for each row, exported for 1, 4 and 16 rows
#pragma once

#include <string>

#include "bench/serve_job.h"

namespace millrace::bench {

inline constexpr int kLargeBatch = 16;

// Thread-safety: immutable.
class ServeModels {
 public:
  ServeModels();  // gives up (figure.h) where the folder cannot be made
  ~ServeModels();
  ServeModels(const ServeModels&) = delete;
  ServeModels& operator=(const ServeModels&) = delete;

  // Each as words of `millrace serve`.
  Words demo() const;
  Words dense() const { return {"dense=" + file("dense")}; }
  Words nothing() const { return {"nothing=" + file("nothing")}; }
  Words large() const { return {"large=" + file("large")}; }

  static std::string demo_folder();
  std::string demo_weights() const { return file("demo.safetensors"); }
  void write_demo_weights() const;  // again: a server takes it for a change
  std::string file(const std::string& name) const { return folder_ + "/" + name; }

 private:
  std::string folder_;
};

}  // namespace millrace::bench
