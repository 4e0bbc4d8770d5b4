#include "millrace/tools/api/installed_plugins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "tests/support/temp_folder.h"

namespace millrace {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
namespace fs = std::filesystem;

class InstalledPluginsTest : public ::testing::Test {
 protected:
  // Makes an empty file in the folder of packages of a Python below the prefix.
  void install(const std::string& prefix, const std::string& file) const {
    const fs::path path = fs::path(folder_.path()) / prefix / "lib" / file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "";
  }
  devices::Variables variables() const {
    const std::map<std::string, std::string> set = {{"VIRTUAL_ENV", folder_.path() + "/venv"},
                                                    {"HOME", folder_.path() + "/home"}};
    return [set](const std::string& name) -> std::optional<std::string> {
      const auto found = set.find(name);
      return found == set.end() ? std::nullopt : std::optional(found->second);
    };
  }
  // The path below this test's folder of the plugin of that name, or "".
  std::string path_of(const std::string& name) const {
    for (const devices::pjrt::PluginEntry& plugin : installed_plugins(variables())) {
      if (plugin.name == name && plugin.path.starts_with(folder_.path()))
        return plugin.path.substr(folder_.path().size() + 1);
    }
    return "";
  }
  std::string advice(const std::string& device) const {
    devices::ClientRegistry registry;
    static_cast<void>(registry.add("cpu", {}));
    return with_plugin_advice(Error(ErrorCode::kNotFound, "not known"), registry, device,
                              variables())
        .message();
  }

  testing::TempFolder folder_;
};

TEST_F(InstalledPluginsTest, PackagesAreFoundByTheirFilesAndNamedByTheirDevice) {
  install("venv", "python3.12/site-packages/jax_plugins/xla_cuda13/xla_cuda_plugin.so");
  install("venv", "python3.12/site-packages/jax_plugins/xla_cuda13/_versions.so");
  install("venv", "python3.12/site-packages/jax_plugins/abacus/pjrt_abacus.so");
  install("venv", "python3.12/site-packages/jax_plugins/notes.txt");
  install("home/.local", "python3.11/site-packages/libtpu/libtpu.so");
  EXPECT_EQ(path_of("cuda"),
            "venv/lib/python3.12/site-packages/jax_plugins/xla_cuda13/xla_cuda_plugin.so");
  EXPECT_EQ(path_of("abacus"),
            "venv/lib/python3.12/site-packages/jax_plugins/abacus/pjrt_abacus.so");
  EXPECT_EQ(path_of("tpu"), "home/.local/lib/python3.11/site-packages/libtpu/libtpu.so");
  EXPECT_EQ(path_of("notes.txt"), "");
}

TEST_F(InstalledPluginsTest, TheEnvironmentThatIsActiveComesFirst) {
  const std::string plugin = "/site-packages/torch_xla_cuda_plugin/lib/pjrt_c_api_gpu_plugin.so";
  install("home/.local", "python3.11" + plugin);
  EXPECT_EQ(path_of("cuda"), "home/.local/lib/python3.11" + plugin);
  install("venv", "python3.11" + plugin);
  EXPECT_EQ(path_of("cuda"), "venv/lib/python3.11" + plugin);
}

TEST_F(InstalledPluginsTest, ADeviceThatIsNotKnownComesWithHowToGetItsPlugin) {
  EXPECT_EQ(advice("cpu"), "not known");
  EXPECT_EQ(advice(""), "not known");
  EXPECT_THAT(advice("Abacus"), StartsWith("not known. It takes a PJRT plugin; one that lies"));
  EXPECT_THAT(advice("Abacus"), HasSubstr("--plugin abacus=PATH"));
  EXPECT_THAT(advice("CUDA"), HasSubstr("pip install jax-cuda13-pjrt"));
  EXPECT_THAT(advice("GPU"), HasSubstr("as PJRT_DEVICE=cuda"));
  EXPECT_THAT(advice("TPU"), HasSubstr("pip install libtpu"));
  install("venv", "python3.12/site-packages/libtpu/libtpu.so");
  EXPECT_THAT(advice("TPU"), HasSubstr("libtpu/libtpu.so: --find-plugins takes it"));
}

}  // namespace
}  // namespace millrace
