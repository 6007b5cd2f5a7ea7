// SPDX-License-Identifier: BSD-3-Clause
// Runs of tutti-dlrm in this program, on the stand-ins of CUDA, NCCL and cuBLAS.
#pragma once

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "application.hpp"
#include "common/device/array.hpp"
#include "mpi/nccl/machine.hpp"
#include "support/standin/cublas.hpp"
#include "support/temporary_folder.hpp"

namespace tutti::test {

inline std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

inline dlrm::Options options_of(const std::string& flags) {
  const auto all = words(flags);
  std::vector<const char*> arguments{"tutti-dlrm"};
  for (const auto& word : all) arguments.push_back(word.c_str());
  const auto parsed = dlrm::parse_options(static_cast<int>(arguments.size()), arguments.data());
  if (parsed.stop) throw std::runtime_error(parsed.text);
  return parsed.options;
}

/// A folder that all ranks name alike.
class SharedFolder {
 public:
  explicit SharedFolder(const Communicator& comm) : comm_(&comm) {
    std::array<char, 512> text{};
    if (comm.rank() == 0) {
      own_.emplace();
      own_->path().string().copy(text.data(), text.size() - 1);
    }
    bcast(comm, Buffer(text.data(), text.size()), 0);
    path_ = text.data();
  }
  ~SharedFolder() { barrier(*comm_); }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
  [[nodiscard]] std::string path(const std::string& name) const { return path_ + "/" + name; }

 private:
  const Communicator* comm_;
  std::optional<TemporaryFolder> own_;
  std::string path_;
};

/// What rank 0 writes; the other ranks get an empty object.
inline nlohmann::json results_of(const Communicator& comm, const std::string& flags,
                                 const standin::CublasOptions& options = {}) {
  const standin::Cublas cublas(machine().runtime, options);
  const SharedFolder folder(comm);
  const std::string file = folder.path("results.json");
  dlrm::run_application(comm, options_of(flags + " --json-file=" + file));
  machine().drain();
  EXPECT_EQ(standin::Cublas::live_handles(), 0);
  auto products = static_cast<std::int64_t>(standin::Cublas::products());
  allreduce(comm, &products, 1, sum);
  EXPECT_EQ(products > 0, flags.find("--device") != std::string::npos) << flags;
  if (comm.rank() != 0) return nlohmann::json::object();
  std::ifstream stream(file);
  return nlohmann::json::parse(stream);
}

inline std::vector<double> losses_of(const nlohmann::json& results) {
  std::vector<double> losses;
  if (results.contains("losses")) {
    for (const auto& entry : results["losses"]) losses.push_back(entry["loss"]);
  }
  return losses;
}

inline std::vector<double> train(const Communicator& comm, const std::string& flags,
                                 const standin::CublasOptions& options = {}) {
  return losses_of(results_of(comm, flags + " --print-freq=1", options));
}

inline void expect_close(const std::vector<double>& got, const std::vector<double>& want, double tolerance,
                         const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], tolerance) << what << ", loss " << i;
}

template <typename T>
std::vector<T> read(const miniapps::device::Array<T>& from) {
  machine().drain();
  const standin::HostAccess access;
  return {from.data(), from.data() + from.size()};
}

template <typename T>
miniapps::device::Array<T> written(std::size_t size, const std::function<float(std::size_t)>& value) {
  miniapps::device::Array<T> made(size);
  const standin::HostAccess access;
  for (std::size_t i = 0; i < size; ++i) made.data()[i] = T(value(i));
  return made;
}

/// A communicator that ends, and its NCCL with it, before the next test.
class DlrmDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    machine().drain();
    comm_.emplace(Communicator::duplicate(MPI_COMM_WORLD));
  }
  void TearDown() override { comm_.reset(); }
  [[nodiscard]] const Communicator& comm() const { return *comm_; }

 private:
  std::optional<Communicator> comm_;
};

/// A small model with tables of several sizes, whose bags all have the same number of indices.
inline const char* const small_model =
    " --arch-embedding-size=60-7-30-90-12 --arch-sparse-feature-size=8 --arch-mlp-bot=5-16-8 --arch-mlp-top=16-8-1"
    " --loss-function=bce --round-targets --learning-rate=0.1 --mini-batch-size=24 --num-indices-per-lookup=4"
    " --num-indices-per-lookup-fixed --data-size=192 --no-test-at-end";

}  // namespace tutti::test
