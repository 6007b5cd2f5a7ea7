// SPDX-License-Identifier: BSD-3-Clause
// The losses of the reference, through the device.
#include "support.hpp"

namespace tutti::test {
namespace {

nlohmann::json golden() {
  std::ifstream file(TUTTI_GOLDEN_LOSSES);
  return nlohmann::json::parse(file);
}

using GoldenLosses = DlrmDevice;

TEST_F(GoldenLosses, EveryCase) {
  const auto cases = golden()["cases"].get<std::vector<nlohmann::json>>();
  ASSERT_GE(cases.size(), 8U);
  for (const auto& entry : cases) {
    const std::string name = entry["name"];
    const auto got = train(comm(), entry["flags"].get<std::string>() + " --device");
    if (comm().rank() == 0) expect_close(got, entry["losses"].get<std::vector<double>>(), 1e-5, name);
  }
}

}  // namespace
}  // namespace tutti::test
