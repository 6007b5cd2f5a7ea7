// SPDX-License-Identifier: BSD-3-Clause
#include "core/checksum.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tutti::detail {
namespace {

// Words are polynomials over GF(2) whose highest bit is the coefficient of 1: bits in the order in which they are sent.
constexpr std::uint64_t polynomial = 0xc96c5795d7870f42U;
constexpr std::uint64_t unity = std::uint64_t{1} << 63U;

constexpr std::uint64_t times_x(std::uint64_t a) { return (a >> 1U) ^ ((a & 1U) != 0 ? polynomial : 0); }

constexpr std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  for (; a != 0; a <<= 1U, b = times_x(b)) sum ^= (a & unity) != 0 ? b : 0;
  return sum;
}

constexpr std::uint64_t power_of_x(std::uint64_t exponent) {
  std::uint64_t power = unity;
  for (std::uint64_t square = times_x(unity); exponent != 0; exponent >>= 1U, square = product(square, square))
    if ((exponent & 1U) != 0) power = product(power, square);
  return power;
}

constexpr std::size_t word_bytes = sizeof(std::uint64_t);
/// What a byte adds that is followed by 0, 1, ... 7 others.
using Tables = std::array<std::array<std::uint64_t, 256>, word_bytes>;

constexpr Tables make_tables() {
  Tables made{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    std::uint64_t sum = byte;
    for (std::size_t bit = 0; bit < 8 * word_bytes; ++bit) {
      sum = times_x(sum);
      if (bit % 8 == 7) made[bit / 8][byte] = sum;
    }
  }
  return made;
}
constexpr Tables lookups = make_tables();

std::uint64_t by_bytes(std::uint64_t state, Bytes bytes) noexcept {
  for (const std::byte byte : bytes)
    state = lookups[0][(state ^ static_cast<std::uint8_t>(byte)) & 0xffU] ^ (state >> 8U);
  return state;
}

/// Eight table lookups a word: Kounavis and Berry, "Novel table lookup-based algorithms for high-performance CRC
/// generation", IEEE Transactions on Computers 57 (2008).
std::uint64_t by_tables(std::uint64_t state, Bytes bytes) noexcept {
  while (std::endian::native == std::endian::little && bytes.size() >= word_bytes) {
    std::uint64_t next = 0;
    std::memcpy(&next, bytes.data(), word_bytes);
    next ^= state;
    state = 0;
    for (std::size_t i = 0; i < word_bytes; ++i) state ^= lookups[word_bytes - 1 - i][(next >> (8U * i)) & 0xffU];
    bytes = bytes.subspan(word_bytes);
  }
  return by_bytes(state, bytes);
}

#if defined(__x86_64__)
constexpr std::size_t folded_lanes = 4;
constexpr std::size_t lane_bytes = sizeof(__m128i);
constexpr std::size_t step_bytes = folded_lanes * lane_bytes;

/// What the two words of a lane are multiplied by to stand so many bits further ahead. A product of words has x too
/// many.
struct Factors {
  std::uint64_t first;
  std::uint64_t second;
};
constexpr Factors ahead(std::uint64_t bits) { return {power_of_x(bits + 63), power_of_x(bits - 1)}; }

[[gnu::target("pclmul")]] inline __m128i loaded(const std::byte* bytes) noexcept {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
}

[[gnu::target("pclmul")]] inline __m128i folded(__m128i lane, __m128i factors, __m128i next) noexcept {
  const __m128i first = _mm_clmulepi64_si128(lane, factors, 0x00);
  const __m128i second = _mm_clmulepi64_si128(lane, factors, 0x11);
  return _mm_xor_si128(_mm_xor_si128(first, second), next);
}

/// Whole steps: Gopal et al., "Fast CRC computation for generic polynomials using PCLMULQDQ instruction", Intel (2009).
[[gnu::target("pclmul")]] std::uint64_t by_products(std::uint64_t state, Bytes bytes) noexcept {
  static constexpr Factors step = ahead(8 * step_bytes);
  static constexpr Factors lane = ahead(8 * lane_bytes);
  const __m128i by_step = _mm_set_epi64x(static_cast<long long>(step.second), static_cast<long long>(step.first));
  const __m128i by_lane = _mm_set_epi64x(static_cast<long long>(lane.second), static_cast<long long>(lane.first));
  const std::byte* at = bytes.data();
  __m128i a = _mm_xor_si128(loaded(at), _mm_set_epi64x(0, static_cast<long long>(state)));
  __m128i b = loaded(at + lane_bytes);
  __m128i c = loaded(at + 2 * lane_bytes);
  __m128i d = loaded(at + 3 * lane_bytes);
  for (std::size_t left = bytes.size() / step_bytes - 1; left > 0; --left) {
    at += step_bytes;
    a = folded(a, by_step, loaded(at));
    b = folded(b, by_step, loaded(at + lane_bytes));
    c = folded(c, by_step, loaded(at + 2 * lane_bytes));
    d = folded(d, by_step, loaded(at + 3 * lane_bytes));
  }
  a = folded(folded(folded(a, by_lane, b), by_lane, c), by_lane, d);
  std::array<std::byte, lane_bytes> rest{};
  std::memcpy(rest.data(), &a, rest.size());
  return by_tables(0, rest);
}

constexpr std::size_t wide_bytes = folded_lanes * sizeof(__m512i);

[[gnu::target("avx512f,vpclmulqdq")]] inline __m512i loaded_wide(const std::byte* bytes) noexcept {
  return _mm512_loadu_si512(bytes);
}

[[gnu::target("avx512f,vpclmulqdq")]] inline __m512i folded_wide(__m512i lane, __m512i factors, __m512i next) noexcept {
  const __m512i first = _mm512_clmulepi64_epi128(lane, factors, 0x00);
  const __m512i second = _mm512_clmulepi64_epi128(lane, factors, 0x11);
  return _mm512_xor_si512(_mm512_xor_si512(first, second), next);
}

/// The same, four lanes in each register: whole steps of as many registers.
[[gnu::target("avx512f,vpclmulqdq")]] std::uint64_t by_wide_products(std::uint64_t state, Bytes bytes) noexcept {
  static constexpr Factors step = ahead(8 * wide_bytes);
  static constexpr Factors lane = ahead(8 * sizeof(__m512i));
  static constexpr std::array<Factors, folded_lanes> steps{step, step, step, step};
  static constexpr std::array<Factors, folded_lanes> lanes{lane, lane, lane, lane};
  const std::array<std::uint64_t, sizeof(__m512i) / word_bytes> before{state};
  const __m512i by_step = _mm512_loadu_si512(steps.data());
  const __m512i by_lane = _mm512_loadu_si512(lanes.data());
  const std::byte* at = bytes.data();
  __m512i a = _mm512_xor_si512(loaded_wide(at), _mm512_loadu_si512(before.data()));
  __m512i b = loaded_wide(at + sizeof a);
  __m512i c = loaded_wide(at + 2 * sizeof a);
  __m512i d = loaded_wide(at + 3 * sizeof a);
  for (std::size_t left = bytes.size() / wide_bytes - 1; left > 0; --left) {
    at += wide_bytes;
    a = folded_wide(a, by_step, loaded_wide(at));
    b = folded_wide(b, by_step, loaded_wide(at + sizeof a));
    c = folded_wide(c, by_step, loaded_wide(at + 2 * sizeof a));
    d = folded_wide(d, by_step, loaded_wide(at + 3 * sizeof a));
  }
  a = folded_wide(folded_wide(folded_wide(a, by_lane, b), by_lane, c), by_lane, d);
  std::array<std::byte, sizeof a> rest{};
  std::memcpy(rest.data(), &a, rest.size());
  return by_products(0, rest);
}

/// The bytes of which the widest products that the processor has take whole steps; 0: it has none.
std::size_t most_step_bytes() noexcept {
  static const std::size_t bytes = __builtin_cpu_supports("pclmul") == 0 ? 0
                                   : __builtin_cpu_supports("vpclmulqdq") != 0 && __builtin_cpu_supports("avx512f") != 0
                                       ? wide_bytes
                                       : step_bytes;
  return bytes;
}

/// Takes the whole steps of some bytes from them, if it is worth to begin.
template <typename Fold>
void take_steps(std::uint64_t& state, Bytes& bytes, std::size_t step, const Fold& fold) noexcept {
  if (bytes.size() < 2 * step) return;
  const std::size_t whole = bytes.size() / step * step;
  state = fold(state, bytes.first(whole));
  bytes = bytes.subspan(whole);
}
#endif

}  // namespace

void Checksum::add(Bytes bytes) noexcept {
#if defined(__x86_64__)
  if (most_step_bytes() >= wide_bytes) take_steps(state_, bytes, wide_bytes, by_wide_products);
  if (most_step_bytes() >= step_bytes) take_steps(state_, bytes, step_bytes, by_products);
#endif
  state_ = by_tables(state_, bytes);
}

std::uint64_t joined(std::uint64_t first, std::uint64_t second, std::uint64_t bytes_of_second) noexcept {
  return product(first, power_of_x(8 * bytes_of_second)) ^ second;
}

}  // namespace tutti::detail
