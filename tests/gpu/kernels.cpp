// SPDX-License-Identifier: BSD-3-Clause
// The arithmetic of reductions on the device gives the bits of that on the host.
#include "kernels/combine.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <tutti/tutti.hpp>

#include "commbench/names.hpp"
#include "gpu/arrays.hpp"
#include "gpu/trial.hpp"
#include "kernels/device/combine.hpp"
#include "kernels/device/launcher.hpp"

namespace tutti::test::gpu {
namespace {

using Bytes = std::vector<std::byte>;

class Kernels : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped()) return;
    if (!kernels::device::has_kernels()) GTEST_SKIP() << "skipped: no device kernels: this build had no nvcc";
  }
};

/// Bytes of the real number that an element begins with, and that a pair or a complex number repeats; 0: no such.
std::size_t real_bytes(DatatypeKind kind) {
  switch (kind) {
    case DatatypeKind::float8_e4m3:
    case DatatypeKind::float8_e5m2:
      return 1;
    case DatatypeKind::float16:
    case DatatypeKind::bfloat16:
      return 2;
    case DatatypeKind::float32:
    case DatatypeKind::complex64:
    case DatatypeKind::float32_int32:
    case DatatypeKind::float32_float32:
      return 4;
    case DatatypeKind::float64:
    case DatatypeKind::complex128:
    case DatatypeKind::float64_int32:
    case DatatypeKind::float64_int64:
    case DatatypeKind::float64_float64:
      return 8;
    default:
      return 0;
  }
}

/// Any bits, of numbers below 2 where they are real: the bits of NaN are not promised. The padding of pairs is zero.
Bytes random_elements(Datatype type, std::size_t count, unsigned seed) {
  Bytes data(count * type.size());
  commbench::Pattern(type, std::nullopt, 1).fill(data.data(), count, static_cast<int>(seed), seed);
  const std::size_t real = real_bytes(type.kind());
  const std::byte below_2{0xBF};
  for (std::size_t i = real; real > 0 && i <= data.size(); i += real) data[i - 1] &= below_2;
  const bool is_padded = type.kind() == DatatypeKind::float64_int32 || type.kind() == DatatypeKind::int64_int32;
  for (std::size_t i = 0; is_padded && i < count; ++i) std::memset(data.data() + i * 16 + 12, 0, 4);
  return data;
}

std::string name_of(Datatype type, ReduceKind op) {
  return std::string(reduce_op_name(op)) + " of " + datatype_name(type.kind());
}

bool is_complex(Datatype type) {
  return type.kind() == DatatypeKind::complex64 || type.kind() == DatatypeKind::complex128;
}

template <typename Real>
double largest_difference(const Bytes& a, const Bytes& b) {
  double worst = 0;
  for (std::size_t i = 0; i + sizeof(Real) <= a.size(); i += sizeof(Real)) {
    Real x = 0;
    Real y = 0;
    std::memcpy(&x, a.data() + i, sizeof x);
    std::memcpy(&y, b.data() + i, sizeof y);
    worst = std::max(worst, static_cast<double>(std::abs(x - y)));
  }
  return worst;
}

/// GCC 12 fuses the products of complex numbers in some loops, whatever -ffp-contract says, so their bits may differ.
void expect_near(Datatype type, const Bytes& got, const Bytes& expected) {
  const bool is_double = type.kind() == DatatypeKind::complex128;
  const double worst = is_double ? largest_difference<double>(got, expected) : largest_difference<float>(got, expected);
  EXPECT_LT(worst, is_double ? 1e-12 : 1e-3) << "products of " << datatype_name(type.kind());
}

void expect_bits_of_the_host(Datatype type, ReduceKind op, std::size_t inputs, std::size_t count) {
  std::vector<Bytes> host;
  std::vector<DeviceArray<std::byte>> device;
  std::vector<const void*> host_inputs;
  std::vector<const void*> device_inputs;
  for (std::size_t i = 0; i < inputs; ++i) host.push_back(random_elements(type, count, static_cast<unsigned>(i + 1)));
  for (const Bytes& data : host) device.emplace_back(data);
  for (const Bytes& data : host) host_inputs.push_back(data.data());
  for (const auto& data : device) device_inputs.push_back(data.data());
  Bytes expected(count * type.size());
  const DeviceArray<std::byte> result(expected);
  const DeviceStream stream;
  if (op == ReduceKind::avg) {
    kernels::combine_avg(type, host_inputs, expected.data(), count, inputs);
    kernels::device::combine_avg(type, device_inputs, result.data(), count, inputs, stream.handle());
  } else {
    kernels::combine(type, op, host_inputs, expected.data(), count);
    kernels::device::combine(type, op, device_inputs, result.data(), count, stream.handle());
  }
  stream.wait();
  const Bytes got = result.read();
  if (is_complex(type) && op == ReduceKind::prod) return expect_near(type, got, expected);
  for (std::size_t i = 0; i < count; ++i) {
    if (std::memcmp(got.data() + i * type.size(), expected.data() + i * type.size(), type.size()) == 0) continue;
    ADD_FAILURE() << name_of(type, op) << ", " << inputs << " inputs: element " << i << " of " << count << " differs";
    return;
  }
}

TEST_F(Kernels, CombineEveryDatatypeAndOperation) {
  for (const Datatype type : commbench::parse_types({"all"}))
    for (const ReduceKind op : commbench::parse_ops({"all"})) {
      if (op == ReduceKind::user || !is_defined(op, type.kind())) continue;
      for (const std::size_t inputs : {1, 2, 5}) expect_bits_of_the_host(type, op, inputs, 1023);
    }
}

TEST_F(Kernels, CombineManyElements) {
  const std::size_t count = is_standin() ? 100'003 : 10'000'019;
  for (const DatatypeKind type : {DatatypeKind::float32, DatatypeKind::bfloat16, DatatypeKind::float64})
    expect_bits_of_the_host(type, ReduceKind::sum, 2, count);
}

TEST_F(Kernels, ScaleAndDivide) {
  constexpr std::size_t count = 4099;
  for (const DatatypeKind kind : {DatatypeKind::float32, DatatypeKind::bfloat16, DatatypeKind::complex128}) {
    const Datatype type(kind);
    const Bytes data = random_elements(type, count, 3);
    Bytes expected(data.size());
    kernels::scale_copy(type, data.data(), expected.data(), count, 1.0 / 3);
    kernels::divide(type, expected.data(), count, 7);
    const DeviceArray<std::byte> from(data);
    const DeviceArray<std::byte> to(data);
    const DeviceStream stream;
    kernels::device::scale_copy(type, from.data(), to.data(), count, 1.0 / 3, stream.handle());
    kernels::device::divide(type, to.data(), count, 7, stream.handle());
    stream.wait();
    EXPECT_EQ(to.read(), expected) << datatype_name(kind);
  }
}

}  // namespace
}  // namespace tutti::test::gpu
