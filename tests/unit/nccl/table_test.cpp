// SPDX-License-Identifier: BSD-3-Clause
// Which functions a version has, and why a library cannot be used.
#include "backends/nccl/table.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <tuple>
#include <tutti/error.hpp>

#include "support/standin/nccl.hpp"

namespace tutti::detail::nccl {
namespace {

std::string failure_of(const std::string& path) {
  try {
    (void)load_table(path);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_supported);
    return error.what();
  }
  ADD_FAILURE() << path << " was loaded";
  return {};
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class Environment {
 public:
  explicit Environment(const char* value) { setenv("TUTTI_NCCL_LIBRARY", value, 1); }
  ~Environment() { unsetenv("TUTTI_NCCL_LIBRARY"); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
};

class Versions : public ::testing::TestWithParam<int> {};

TEST_P(Versions, HaveTheFunctionsOfTheirTime) {
  standin::Runtime runtime;
  standin::Nccl nccl(runtime, GetParam());
  nccl.install();
  std::string why;
  const Table* found = table(why);
  ASSERT_EQ(found, &nccl.table());
  int version = 0;
  EXPECT_EQ(found->get_version(&version), Result::success);
  EXPECT_EQ(version, GetParam());
#define TUTTI_NCCL_FUNCTION(member, symbol, since, result, arguments) \
  EXPECT_EQ(found->member != nullptr, GetParam() >= (since)) << #symbol;
#include "backends/nccl/symbols.def"
#undef TUTTI_NCCL_FUNCTION
}

INSTANTIATE_TEST_SUITE_P(Table, Versions, ::testing::Values(21800, 21903, 22703, 22809, 23007, 23102, 23203));

TEST(Table, TheVariableOfLaunchOrderIsTheUsers) {
  unsetenv("NCCL_LAUNCH_ORDER_IMPLICIT");
  (void)failure_of("/no/such/library.so");
  EXPECT_EQ(std::getenv("NCCL_LAUNCH_ORDER_IMPLICIT"), nullptr) << "NCCL may have read it before";
}

TEST(Table, SaysWhetherNcclOrdersLaunches) {
  const std::tuple<int, const char*, bool> cases[] = {{22809, "1", true}, {22600, "2", true},    {22809, "0", false},
                                                      {22809, "", false}, {22809, "yes", false}, {21903, "1", false}};
  for (const auto& [version, told, orders] : cases) {
    setenv("NCCL_LAUNCH_ORDER_IMPLICIT", told, 1);
    EXPECT_EQ(orders_launches(version), orders) << version << " '" << told << "'";
  }
  unsetenv("NCCL_LAUNCH_ORDER_IMPLICIT");
  EXPECT_FALSE(orders_launches(22809)) << "NCCL's own default";
}

TEST(Table, VersionsAreWritten) {
  EXPECT_EQ(version_text(21800), "2.18.0");
  EXPECT_EQ(version_text(22809), "2.28.9");
  EXPECT_EQ(version_text(23003), "2.30.3");
  EXPECT_EQ(version_text(2804), "2.8.4");
}

TEST(Table, ALibraryThatIsNotThereIsNamed) {
  const std::string text = failure_of("/nowhere/libnccl.so.2");
  EXPECT_TRUE(contains(text, "/nowhere/libnccl.so.2")) << text;
  EXPECT_TRUE(contains(text, "TUTTI_NCCL_LIBRARY")) << text;
}

TEST(Table, TheVariableNamesTheLibrary) {
  const Environment variable("/elsewhere/libnccl.so.2");
  const std::string text = failure_of({});
  EXPECT_TRUE(contains(text, "/elsewhere/libnccl.so.2")) << text;
}

TEST(Table, ALibraryOfSomethingElseIsRefused) {
  const std::string text = failure_of("libm.so.6");
  EXPECT_TRUE(contains(text, "lacks ncclGetVersion")) << text;
}

TEST(Table, AnOldLibraryIsRefused) {
  const std::string text = failure_of(TUTTI_TEST_OLD_NCCL);
  EXPECT_TRUE(contains(text, "2.17.1")) << text;
  EXPECT_TRUE(contains(text, "too old")) << text;
}

TEST(Table, AMissingFunctionIsNamed) {
  const std::string text = failure_of(TUTTI_TEST_EMPTY_NCCL);
  EXPECT_TRUE(contains(text, "lacks ncclGetUniqueId, which version 2.18.5 should have")) << text;
}

/// Needs a build with NCCL, and its library; no device.
TEST(Table, TheInstalledLibraryHasAll) {
  std::string why;
  const Table* found = table(why);
  if (found == nullptr && contains(why, "built without NCCL")) GTEST_SKIP() << why;
  ASSERT_NE(found, nullptr) << why;
  EXPECT_GE(found->version, oldest_version);
  RecordProperty("version", version_text(found->version));
#define TUTTI_NCCL_FUNCTION(member, symbol, since, result, arguments) \
  EXPECT_EQ(found->member != nullptr, found->version >= (since)) << #symbol;
#include "backends/nccl/symbols.def"
#undef TUTTI_NCCL_FUNCTION
  EXPECT_EQ(found->orders_launches, orders_launches(found->version));
  EXPECT_STREQ(found->get_error_string(Result::success), "no error");
}

}  // namespace
}  // namespace tutti::detail::nccl
