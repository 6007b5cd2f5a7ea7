// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/text.hpp"

#include "cases.hpp"

namespace tutti::schedules {
namespace {

TEST(Text, ListsASchedule) {
  const Problem p{.rank = 1, .size = 2, .root = 0, .count = 4};
  EXPECT_EQ(to_text(find_algorithm(Operation::allreduce, "recursive_doubling")->generate(p)),
            "scratch of 4 elements, right in place\n"
            "round 0\n"
            "  send input[0, 4) to 0\n"
            "  recv scratch[0, 4) from 0\n"
            "  output[0, 4) = scratch[0, 4) op input[0, 4)\n");
}

}  // namespace
}  // namespace tutti::schedules
