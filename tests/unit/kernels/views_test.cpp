// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cstdlib>
#include <tutti/error.hpp>
#include <tutti/exact.hpp>
#include <tutti/kernels/launch.hpp>
#include <tutti/kokkos.hpp>
#include <vector>

// Kernels on views, by the default execution space: on the host, or on the device of a Kokkos that has one.
namespace {

using namespace tutti;
using Space = Kokkos::DefaultExecutionSpace;

class Views : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (Kokkos::is_initialized()) return;
    Kokkos::initialize();
    std::atexit([] { Kokkos::finalize(); });
  }
  template <typename T>
  static Kokkos::View<T*, Space> view_of(const std::vector<T>& values) {
    Kokkos::View<T*, Space> there("values", values.size());
    const auto here = Kokkos::create_mirror_view(there);
    for (std::size_t i = 0; i < values.size(); ++i) here(i) = values[i];
    Kokkos::deep_copy(there, here);
    return there;
  }
  template <typename View>
  static auto values_of(const View& there) {
    const auto here = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), there);
    return std::vector<std::remove_cv_t<typename View::value_type>>(here.data(), here.data() + here.size());
  }
  Space space;
};

TEST_F(Views, Combine) {
  const auto a = view_of<float>({1, 2, 3, 4, 5});
  const auto b = view_of<float>({5, 4, 3, 2, 1});
  const auto c = view_of<float>({1, 1, 1, 1, 2});
  kernels::combine(space, sum, a, a, b, c);
  kernels::combine(space, max, b, b, c);
  space.fence();
  EXPECT_EQ(values_of(a), (std::vector<float>{7, 7, 7, 7, 8}));
  EXPECT_EQ(values_of(b), (std::vector<float>{5, 4, 3, 2, 2}));
  EXPECT_THROW(kernels::combine(space, sum, a, b, view_of<float>({1})), Error);
}

#if TUTTI_HAS_TRAINING
TEST_F(Views, SegmentedSum) {
  const Kokkos::View<double**, Kokkos::LayoutRight, Space> values("values", 5, 3);
  const Kokkos::View<double**, Kokkos::LayoutRight, Space> output("output", 3, 3);
  Kokkos::deep_copy(values, 1.5);
  const auto offsets = view_of<std::int64_t>({0, 2, 2, 5});
  kernels::segmented_sum(space, values, offsets, output);
  space.fence();
  EXPECT_EQ(values_of(output), (std::vector<double>{3, 3, 3, 0, 0, 0, 4.5, 4.5, 4.5}));
  EXPECT_THROW(kernels::segmented_sum(space, values, view_of<std::int64_t>({0, 5}), output), Error);
}

TEST_F(Views, NormParts) {
  const auto values = view_of<float>({3, -4});
  const Kokkos::View<double, Space> result("result");
  kernels::device::Workspace workspace;
  kernels::norm_part(space, kernels::Norm::l2, values, result, workspace);
  space.fence();
  EXPECT_EQ(values_of(result), std::vector<double>{25});
  kernels::norm_part(space, kernels::Norm::linf, values, result, workspace);
  space.fence();
  EXPECT_EQ(values_of(result), std::vector<double>{4});
}
#endif

TEST_F(Views, ThatAreNotContiguousAreRefused) {
  const Kokkos::View<float**, Kokkos::LayoutRight, Space> values("matrix", 4, 4);
  const auto column = Kokkos::subview(values, Kokkos::ALL(), 1);
  try {
    kernels::combine(space, sum, column, column);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("'matrix' is not contiguous"), std::string::npos) << error.what();
  }
}

TEST_F(Views, AStreamIsThatOfTheInstance) {
#if defined(TUTTI_KOKKOS_DEVICE)
  EXPECT_EQ(stream_of(space).handle, static_cast<void*>(space.cuda_stream()));
#else
  EXPECT_EQ(stream_of(space).kind, StreamKind::none);
#endif
}

TEST_F(Views, AreTermsOfExactSums) {
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> matrix("matrix", 40, 3);
  for (std::size_t i = 0; i < 40; ++i) matrix(i, 1) = i % 2 == 0 ? 0x1p80 : -0x1p80;
  matrix(8, 1) = 1;
  matrix(9, 1) = 2;
  const auto column = Kokkos::subview(matrix, Kokkos::ALL, 1);
  ExactSum sum;
  sum.add(as_buffer(column));
  EXPECT_EQ(sum.rounded(), 3);
}

TEST(Kokkos, HostSpaceIsAsTheBuildSays) {
  EXPECT_STREQ(Kokkos::DefaultHostExecutionSpace::name(), TUTTI_KOKKOS_HOST_SPACE);
}

#if TUTTI_HAS_TRAINING
/// In a process of its own, because Kokkos is initialised once in a process.
TEST(KokkosDeathTest, LoopsOfTheHostNeedItNoLongerOnceTheProgramHasEndedIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::vector<float> values(100003, 1.0F);
  EXPECT_EXIT(
      {
        Kokkos::initialize();
        Kokkos::finalize();
        const double sum = kernels::norm(kernels::Norm::l1, DatatypeKind::float32, values.data(), values.size(), 4);
        std::exit(sum == static_cast<double>(values.size()) ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
