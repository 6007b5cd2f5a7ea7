// SPDX-License-Identifier: BSD-3-Clause
// A call that is made twice: in host memory, and on a device with kernels before and after it. Its results must be
// equal in every byte.
#pragma once

#include <functional>

#include "mpi/nccl/machine.hpp"
#include "support/pattern.hpp"

namespace tutti::test {

enum class Form { blocking, nonblocking, persistent };

/// How a call on a device is made and waited for.
enum class Way {
  on_stream,       ///< blocking, on the caller's stream
  without_stream,  ///< blocking, done when it returns
  joined,          ///< nonblocking, the stream waits for it
  waited,          ///< nonblocking, the host waits for it
  persistent_joined,
  persistent_waited,
};
inline constexpr Way ways[] = {Way::on_stream, Way::without_stream,    Way::joined,
                               Way::waited,    Way::persistent_joined, Way::persistent_waited};

struct Twin {
  std::string name{};
  Datatype type{};
  std::size_t send = 0;  ///< elements of the buffers here; in place there is no send buffer
  std::size_t recv = 0;
  std::size_t compared = 0;  ///< elements from the begin of recv that the call defines, or leaves alone
  bool in_place = false;
  bool is_inexact = false;     ///< the device may round an average once more
  bool has_fractions = false;  ///< data whose sum depends on the order and the roundings: float32 and both of 16 bits
  std::function<Request(Form, ConstBuffer, Buffer, const Options&)> call{};
};

template <typename T>
void put_pattern(std::vector<std::byte>& bytes, int rank, std::size_t salt, int iteration) {
  for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
    const T value = pattern<T>(rank, i * 3 + salt, iteration);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
}

/// Small whole numbers, with which sums and products are exact in every type.
inline std::vector<std::byte> pattern_bytes(Datatype type, std::size_t count, int rank, std::size_t salt,
                                            int iteration) {
  std::vector<std::byte> bytes(count * type.size());
  switch (type.kind()) {
#define TUTTI_CASE(kind, T)                       \
  case DatatypeKind::kind:                        \
    put_pattern<T>(bytes, rank, salt, iteration); \
    break;
    TUTTI_CASE(int8, std::int8_t)
    TUTTI_CASE(int16, std::int16_t)
    TUTTI_CASE(int32, std::int32_t)
    TUTTI_CASE(logical32, std::int32_t)
    TUTTI_CASE(uint64, std::uint64_t)
    TUTTI_CASE(float8_e5m2, float8_e5m2_t)
    TUTTI_CASE(float16, float16_t)
    TUTTI_CASE(bfloat16, bfloat16_t)
    TUTTI_CASE(float32, float)
    TUTTI_CASE(float64, double)
    TUTTI_CASE(complex64, std::complex<float>)
    TUTTI_CASE(complex128, std::complex<double>)
    TUTTI_CASE(float32_int32, Float32Int32)
    TUTTI_CASE(int64_int64, Int64Int64)
#undef TUTTI_CASE
    default:
      for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>(
            (i * 7 + static_cast<std::size_t>(rank) * 31 + salt + static_cast<std::size_t>(iteration) * 3) % 251);
  }
  return bytes;
}

template <typename T>
void put_fractions(std::vector<std::byte>& bytes, std::size_t salt) {
  for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
    const T value(1.0F / static_cast<float>(1 + (i * 31 + salt) % 1013));
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
}

/// The two runs of a call by one rank.
class TwinRun {
 public:
  TwinRun(const Twin& twin, const Communicator& comm, const Options& options)
      : twin_(twin), rank_(comm.rank()), options_(options), send_(bytes(twin.send)), recv_(bytes(twin.recv)) {}

  /// Throws what the call throws.
  void run(Way way);

 private:
  [[nodiscard]] std::size_t bytes(std::size_t count) const { return count * twin_.type.size(); }
  [[nodiscard]] std::vector<std::byte> content(std::size_t count, std::size_t salt, int i) const;
  [[nodiscard]] std::vector<std::byte> sent(int i) const { return content(twin_.send, 0, i); }
  [[nodiscard]] std::vector<std::byte> before(int i) const { return content(twin_.recv, 5, i); }
  [[nodiscard]] std::vector<std::byte> on_host(int i) const;
  [[nodiscard]] Request start(Form form, const Options& options) const;
  void run_on_stream(Way way);
  void run_without_stream();
  void read_on_stream(std::vector<std::byte>& result) const;
  void compare(const std::vector<std::byte>& got, int iteration, Way way) const;

  const Twin& twin_;
  int rank_;
  Options options_;
  DeviceMemory send_;
  DeviceMemory recv_;
};

inline std::vector<std::byte> TwinRun::content(std::size_t count, std::size_t salt, int i) const {
  std::vector<std::byte> made = pattern_bytes(twin_.type, count, rank_, salt, i);
  if (!twin_.has_fractions) return made;
  const std::size_t own = salt + static_cast<std::size_t>(rank_) * 7919 + static_cast<std::size_t>(i) * 13;
  if (twin_.type.kind() == DatatypeKind::bfloat16)
    put_fractions<bfloat16_t>(made, own);
  else if (twin_.type.kind() == DatatypeKind::float16)
    put_fractions<float16_t>(made, own);
  else
    put_fractions<float>(made, own);
  return made;
}

inline std::vector<std::byte> TwinRun::on_host(int i) const {
  std::vector<std::byte> send = sent(i);
  std::vector<std::byte> recv = before(i);
  Options options = options_;
  options.algorithm.clear();
  ConstBuffer from(send.data(), twin_.send, twin_.type, MemoryKind::host);
  if (twin_.in_place) from = in_place;
  (void)twin_.call(Form::blocking, from, Buffer(recv.data(), twin_.recv, twin_.type, MemoryKind::host), options);
  return recv;
}

inline Request TwinRun::start(Form form, const Options& options) const {
  ConstBuffer from(send_.data(), twin_.send, twin_.type, MemoryKind::device);
  if (twin_.in_place) from = in_place;
  return twin_.call(form, from, Buffer(recv_.data(), twin_.recv, twin_.type, MemoryKind::device), options);
}

inline void TwinRun::read_on_stream(std::vector<std::byte>& result) const {
  machine().runtime.run_host(machine().stream, [&result, this] {
    result = recv_.content();
    if (recv_.size() > 0) std::memset(recv_.data(), 0xee, recv_.size());
    if (send_.size() > 0) std::memset(send_.data(), 0xee, send_.size());
  });
}

inline void TwinRun::run_without_stream() {
  for (int i = 0; i < 2; ++i) {
    send_.fill(sent(i));
    recv_.fill(before(i));
    (void)start(Form::blocking, options_);
    compare(recv_.content(), i, Way::without_stream);
  }
}

/// The kernels before fill the buffers late, those after read and spoil them: all is only put on the streams, and done
/// at the end.
inline void TwinRun::run_on_stream(Way way) {
  constexpr int times = 2;
  Options options = options_;
  options.stream = user_stream();
  const bool persists = way == Way::persistent_joined || way == Way::persistent_waited;
  Request request = persists ? start(Form::persistent, options) : Request();
  std::vector<std::byte> results[times];
  for (int i = 0; i < times; ++i) {
    send_.fill_on(machine().stream, sent(i));
    recv_.fill_on(machine().stream, before(i));
    if (persists)
      request.start();
    else
      request = start(way == Way::on_stream ? Form::blocking : Form::nonblocking, options);
    if (way == Way::joined || way == Way::persistent_joined) request.wait(options.stream);
    if (way == Way::waited || way == Way::persistent_waited) {
      request.wait();
      results[i] = recv_.content();
    } else {
      read_on_stream(results[i]);
    }
  }
  machine().drain();
  if (persists && request.pending()) request.wait();
  for (int i = 0; i < times; ++i) compare(results[i], i, way);
}

inline void TwinRun::run(Way way) {
  if (way == Way::without_stream)
    run_without_stream();
  else
    run_on_stream(way);
  machine().drain();
}

template <typename Real>
bool is_near(const std::vector<std::byte>& a, const std::vector<std::byte>& b, std::size_t count) {
  std::vector<Real> x(count);
  std::vector<Real> y(count);
  if (count == 0) return true;
  std::memcpy(x.data(), a.data(), count * sizeof(Real));
  std::memcpy(y.data(), b.data(), count * sizeof(Real));
  for (std::size_t i = 0; i < count; ++i)
    if (!(std::abs(x[i] - y[i]) <= 4 * std::numeric_limits<Real>::epsilon() * std::abs(y[i]))) return false;
  return true;
}

inline void TwinRun::compare(const std::vector<std::byte>& got, int iteration, Way way) const {
  const std::vector<std::byte> expected = on_host(iteration);
  const std::size_t defined = bytes(twin_.compared);
  ASSERT_GE(got.size(), defined);
  bool is_equal = std::equal(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(defined), expected.begin());
  if (!is_equal && twin_.is_inexact)
    is_equal = twin_.type.kind() == DatatypeKind::float64 || twin_.type.kind() == DatatypeKind::complex128
                   ? is_near<double>(got, expected, defined / sizeof(double))
                   : is_near<float>(got, expected, defined / sizeof(float));
  EXPECT_TRUE(is_equal) << twin_.name << " by '" << options_.algorithm << "', way " << static_cast<int>(way)
                        << ", iteration " << iteration << ", rank " << rank_;
}

}  // namespace tutti::test
