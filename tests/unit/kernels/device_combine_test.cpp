// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/device/combine.hpp"
#include "kernels/device/launcher.hpp"

#include <random>
#include <tutti/error.hpp>

#include "device_memory.hpp"
#include "kernels/combine.hpp"

// Every datatype and operation on device memory against the host's bits: few and many inputs, aligned and not, in
// place.
namespace {

using namespace device_test;

class DeviceCombine : public Device {};

std::vector<std::byte> random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<std::byte> bytes(count);
  for (auto& byte : bytes) byte = static_cast<std::byte>(generator());
  return bytes;
}

/// Elements of a type; of floats, such that no sum or product is a NaN, whose payload a compiler may choose.
std::vector<std::byte> random_elements(DatatypeKind type, std::size_t count, unsigned seed) {
  const std::size_t size = Datatype(type).size();
  auto bytes = random_bytes(count * size, seed);
  const auto fill = [&]<typename F>(F*) {
    std::mt19937 generator(seed);
    for (std::size_t at = 0; at + sizeof(F) <= bytes.size(); at += sizeof(F)) {
      const F value = static_cast<F>((static_cast<float>(generator() % 2000) - 999.5F) / 999.0F);
      std::memcpy(bytes.data() + at, &value, sizeof value);
    }
  };
  switch (type) {
    case DatatypeKind::float8_e4m3:
      fill(static_cast<float8_e4m3_t*>(nullptr));
      break;
    case DatatypeKind::float8_e5m2:
      fill(static_cast<float8_e5m2_t*>(nullptr));
      break;
    case DatatypeKind::float16:
      fill(static_cast<float16_t*>(nullptr));
      break;
    case DatatypeKind::bfloat16:
      fill(static_cast<bfloat16_t*>(nullptr));
      break;
    case DatatypeKind::float32:
    case DatatypeKind::complex64:
    case DatatypeKind::float32_float32:
      fill(static_cast<float*>(nullptr));
      break;
    case DatatypeKind::float64:
    case DatatypeKind::complex128:
    case DatatypeKind::float64_float64:
      fill(static_cast<double*>(nullptr));
      break;
    default:
      break;
  }
  return bytes;
}

TEST_F(DeviceCombine, EveryTypeAndOperationHasTheHostsBits) {
  int checked = 0;
  for (int t = 1; t <= static_cast<int>(DatatypeKind::logical64); ++t) {
    for (int o = 1; o <= static_cast<int>(ReduceKind::maxloc); ++o) {
      const Datatype type(static_cast<DatatypeKind>(t));
      const ReduceOp op(static_cast<ReduceKind>(o));
      if (!is_defined(op.kind(), type.kind())) continue;
      for (const std::size_t n : {1U, 2U, 5U, 9U, 17U, 40U, 67U}) {
        for (const std::size_t count : {1U, 33U, 260U}) {
          // One array, so that more inputs than fit into a kernel's arguments lie at equal distances.
          const auto all = random_elements(type.kind(), n * count, static_cast<unsigned>(n));
          const auto there = upload(all);
          std::vector<const void*> host;
          std::vector<const void*> device;
          for (std::size_t k = 0; k < n; ++k) {
            host.push_back(all.data() + k * count * type.size());
            device.push_back(there.data() + k * count * type.size());
          }
          std::vector<std::byte> expected(count * type.size());
          const auto output = make<std::byte>(expected.size());
          kernels::combine(type, op, host, expected.data(), count);
          kernels::device::combine(type, op, device, output.data(), count, handle);
          runtime.run_all();
          const std::string what = std::string(datatype_name(type.kind())) + " " + reduce_op_name(op.kind()) + " of " +
                                   std::to_string(n) + " x " + std::to_string(count);
          expect_same_bits(output.values(), expected, what);
          if (testing::Test::HasFatalFailure()) return;
          ++checked;
        }
      }
    }
  }
  EXPECT_GT(checked, 2000);
}

TEST_F(DeviceCombine, WorksInPlaceAndOnUnalignedAddresses) {
  constexpr std::size_t count = 1001;
  for (const std::size_t shift : {0U, 1U, 3U}) {
    for (const std::size_t target : {0U, 4U, 8U}) {
      std::vector<std::vector<float>> inputs;
      std::vector<Array<float>> there;
      std::vector<const void*> host;
      std::vector<const void*> device;
      for (unsigned k = 0; k < 9; ++k) {
        std::vector<float> values(count + shift);
        std::mt19937 generator(k);
        for (auto& value : values) value = static_cast<float>(generator() % 1000) / 7.0F;
        there.push_back(upload(values));
        inputs.push_back(std::move(values));
      }
      for (unsigned k = 0; k < 9; ++k) {
        host.push_back(inputs[k].data() + shift);
        device.push_back(there[k].data() + shift);
      }
      kernels::combine(DatatypeKind::float32, ReduceKind::sum, host, inputs[target].data() + shift, count);
      kernels::device::combine(DatatypeKind::float32, ReduceKind::sum, device, there[target].data() + shift, count,
                               handle);
      runtime.run_all();
      expect_same_bits(there[target].values(), inputs[target], "shift " + std::to_string(shift));
    }
  }
}

TEST_F(DeviceCombine, OneInputMayLieElsewhere) {
  constexpr std::size_t n = 50;
  constexpr std::size_t count = 70;
  for (const std::size_t own : {std::size_t{0}, std::size_t{1}, n / 2, n - 1}) {
    const auto all = random_elements(DatatypeKind::bfloat16, n * count, 3);
    const auto other = random_elements(DatatypeKind::bfloat16, count, 5);
    const auto there = upload(all);
    const auto other_there = upload(other);
    std::vector<const void*> host;
    std::vector<const void*> device;
    for (std::size_t k = 0; k < n; ++k) {
      host.push_back(k == own ? other.data() : all.data() + k * count * 2);
      device.push_back(k == own ? other_there.data() : there.data() + k * count * 2);
    }
    std::vector<std::byte> expected(count * 2);
    const auto output = make<std::byte>(expected.size());
    kernels::combine(DatatypeKind::bfloat16, ReduceKind::sum, host, expected.data(), count);
    kernels::device::combine(DatatypeKind::bfloat16, ReduceKind::sum, device, output.data(), count, handle);
    runtime.run_all();
    expect_same_bits(output.values(), expected, "input " + std::to_string(own) + " elsewhere");
    std::swap(device[n / 3], device[n / 3 + 1]);
    EXPECT_THROW(
        kernels::device::combine(DatatypeKind::bfloat16, ReduceKind::sum, device, output.data(), count, handle), Error);
  }
}

TEST_F(DeviceCombine, AveragesScalesAndDivides) {
  for (int t = 1; t <= static_cast<int>(DatatypeKind::complex128); ++t) {
    const Datatype type(static_cast<DatatypeKind>(t));
    constexpr std::size_t count = 517;
    const auto a = random_elements(type.kind(), count, 1);
    const auto b = random_elements(type.kind(), count, 2);
    const auto device_a = upload(a);
    const auto device_b = upload(b);
    auto expected = a;
    const auto output = make<std::byte>(a.size());
    const std::vector<const void*> host{a.data(), b.data()};
    const std::vector<const void*> device{device_a.data(), device_b.data()};
    const std::string what = datatype_name(type.kind());
    combine_avg(type, host, expected.data(), count, 3);
    kernels::device::combine_avg(type, device, output.data(), count, 3, handle);
    runtime.run_all();
    expect_same_bits(output.values(), expected, what + " avg");
    divide(type, expected.data(), count, 7);
    kernels::device::divide(type, output.data(), count, 7, handle);
    runtime.run_all();
    expect_same_bits(output.values(), expected, what + " divide");
    if (type.kind() < DatatypeKind::float8_e4m3) {
      EXPECT_THROW(kernels::device::scale_copy(type, device_a.data(), output.data(), count, 0.3, handle), Error);
      continue;
    }
    scale_copy(type, a.data(), expected.data(), count, 0.3);
    kernels::device::scale_copy(type, device_a.data(), output.data(), count, 0.3, handle);
    runtime.run_all();
    expect_same_bits(output.values(), expected, what + " scale");
  }
}

TEST_F(DeviceCombine, RunsInStreamOrderAndRefusesWhatIsUndefined) {
  const auto a = upload(std::vector<float>{1, 2, 3});
  const auto output = upload(std::vector<float>{9, 9, 9});
  const std::vector<const void*> inputs{a.data(), a.data()};
  kernels::device::combine(DatatypeKind::float32, ReduceKind::sum, inputs, output.data(), 3, handle);
  EXPECT_EQ(output.values(), (std::vector<float>{9, 9, 9})) << "nothing runs at the call";
  runtime.run_all();
  EXPECT_EQ(output.values(), (std::vector<float>{2, 4, 6}));
  kernels::device::combine(DatatypeKind::float32, ReduceKind::sum, inputs, nullptr, 0, handle);
  runtime.run_all();
  EXPECT_TRUE(kernels::device::has_kernels());
  EXPECT_THROW(kernels::device::combine(DatatypeKind::float32, ReduceKind::band, inputs, output.data(), 3, handle),
               Error);
  EXPECT_THROW(kernels::device::combine(DatatypeKind::logical32, ReduceKind::sum, inputs, output.data(), 3, handle),
               Error);
  EXPECT_THROW(kernels::device::combine(DatatypeKind::float32, ReduceKind::sum, {}, output.data(), 3, handle), Error);
  const auto user = ReduceOp::user([](const void*, void*, std::size_t, Datatype, void*) {});
  EXPECT_THROW(kernels::device::combine(DatatypeKind::float32, user, inputs, output.data(), 3, handle), Error);
}

TEST(DeviceCombineWithoutRuntime, IsNotBuilt) {
  if (detail::device::runtime() != nullptr) GTEST_SKIP() << "this build has a CUDA runtime";
  const float a = 1;
  float b = 0;
  const std::vector<const void*> inputs{&a};
  try {
    kernels::device::combine(DatatypeKind::float32, ReduceKind::sum, inputs, &b, 1, nullptr);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::not_built);
  }
}

}  // namespace
