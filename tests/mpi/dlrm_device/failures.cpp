// SPDX-License-Identifier: BSD-3-Clause
// What cannot be done is told, on all ranks, with the remedy.
#include "common/agree.hpp"
#include "device/device_engine.hpp"
#include "support.hpp"

namespace tutti::test {
namespace {

using Failures = DlrmDevice;

std::string failure_of(const Communicator& comm, const std::string& flags) {
  try {
    dlrm::run_application(comm, options_of(flags));
  } catch (const miniapps::AgreedError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST_F(Failures, WithoutCudaTheFlagAndTheRemedyAreNamed) {
  auto* runtime = detail::device::replace_runtime(nullptr);
  const std::string text = failure_of(comm(), small_model + std::string(" --device"));
  detail::device::replace_runtime(runtime);
  if (detail::device::runtime() == nullptr) return;
  EXPECT_NE(text.find("--device"), std::string::npos) << text;
  EXPECT_NE(text.find("omit --device"), std::string::npos) << text;
}

TEST_F(Failures, OptionsThatDoNotGoTogether) {
  EXPECT_THROW((void)options_of("--device --pipeline"), std::runtime_error);
  EXPECT_THROW((void)options_of("--tf32"), std::runtime_error);
  EXPECT_THROW((void)options_of("--bench-batches=8-16"), std::runtime_error);
}

TEST_F(Failures, AfterAFailureOfTheDeviceItSaysSo) {
  machine().runtime.fail_next("create_stream");
  const std::string text = failure_of(comm(), small_model + std::string(" --device"));
  EXPECT_NE(text, "nothing was thrown");
}

}  // namespace
}  // namespace tutti::test
