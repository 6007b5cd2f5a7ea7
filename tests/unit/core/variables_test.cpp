// SPDX-License-Identifier: BSD-3-Clause
#include "core/variables.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

using namespace tutti::detail;

TEST(Variables, UnknownOnesAreNamedWithTheNearest) {
  ::setenv("TUTTI_TIMOUT", "3", 1);
  ::setenv("TUTTI_SINGLECOPY", "0", 1);
  ::setenv("TUTTI_TEST_SOMETHING", "1", 1);
  const auto lines = unknown_variables();
  const auto has = [&lines](const std::string& line) {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
  };
  EXPECT_TRUE(has("TUTTI_TIMOUT is no variable of this library; did you mean TUTTI_TIMEOUT?"));
  EXPECT_TRUE(has("TUTTI_SINGLECOPY is no variable of this library; did you mean TUTTI_SINGLE_COPY?"));
  EXPECT_EQ(lines.size(), 2U);
  ::unsetenv("TUTTI_TIMOUT");
  ::unsetenv("TUTTI_SINGLECOPY");
  EXPECT_TRUE(unknown_variables().empty());
}

TEST(Variables, AFolderOfDataMustBeThere) {
  ::setenv("TUTTI_DATA_DIR", "/nowhere/at/all", 1);
  EXPECT_EQ(doubtful_variables(),
            std::vector<std::string>{"TUTTI_DATA_DIR=/nowhere/at/all is no folder; name one, or leave it unset"});
  ::setenv("TUTTI_DATA_DIR", "/", 1);
  EXPECT_TRUE(doubtful_variables().empty());
  ::unsetenv("TUTTI_DATA_DIR");
}

/// Every variable that a source reads is in the list: one that is missing would be called unknown.
TEST(Variables, AllThatSourcesReadAreListed) {
  namespace fs = std::filesystem;
  std::size_t found = 0;
  for (const char* top : {"src", "miniapps"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(TUTTI_SOURCE_DIR) / top)) {
      if (entry.path().extension() != ".cpp") continue;
      std::ifstream file(entry.path());
      std::stringstream content;
      content << file.rdbuf();
      const std::string text = content.str();
      for (std::size_t at = text.find("(\"TUTTI_"); at != std::string::npos; at = text.find("(\"TUTTI_", at + 1)) {
        const std::string name = text.substr(at + 2, text.find('"', at + 2) - at - 2);
        const bool is_name = name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == std::string::npos;
        if (!is_name || name.ends_with('_')) continue;  // a message, a prefix
        ++found;
        EXPECT_TRUE(
            std::any_of(variables().begin(), variables().end(), [&](const Variable& v) { return v.name == name; }))
            << name << " in " << entry.path();
      }
    }
  EXPECT_GT(found, 15U);
}

}  // namespace
