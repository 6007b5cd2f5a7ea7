// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/values.hpp"

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace tutti::fuzz {
namespace {

/// A Fortran logical of any size.
template <typename Integer>
struct Logical {
  Integer value;
};

template <typename T>
inline constexpr bool is_pair = false;
template <typename V, typename I>
inline constexpr bool is_pair<ValueIndex<V, I>> = true;
template <typename T>
inline constexpr bool is_complex = false;
template <typename T>
inline constexpr bool is_complex<std::complex<T>> = true;
template <typename T>
inline constexpr bool is_logical = false;
template <typename T>
inline constexpr bool is_logical<Logical<T>> = true;
template <typename T>
inline constexpr bool is_byte_float = std::is_same_v<T, float8_e4m3_t> || std::is_same_v<T, float8_e5m2_t>;
template <typename T>
inline constexpr bool is_narrow = is_byte_float<T> || std::is_same_v<T, float16_t> || std::is_same_v<T, bfloat16_t>;

/// x -> factor * x + offset, modulo 2^32: its composition is associative and does not commute.
struct Affine {
  std::uint32_t factor;
  std::uint32_t offset;
};

Affine after(Affine first, Affine second) {
  return {first.factor * second.factor, first.offset * second.factor + second.offset};
}

void compose(const void* in, void* inout, std::size_t count, Datatype /*type*/, void* /*context*/) {
  for (std::size_t i = 0; i < count; ++i) {
    Affine lower{}, upper{};
    std::memcpy(&lower, static_cast<const std::byte*>(in) + i * sizeof(Affine), sizeof(Affine));
    std::memcpy(&upper, static_cast<std::byte*>(inout) + i * sizeof(Affine), sizeof(Affine));
    upper = after(lower, upper);
    std::memcpy(static_cast<std::byte*>(inout) + i * sizeof(Affine), &upper, sizeof(Affine));
  }
}

void add_words(const void* in, void* inout, std::size_t count, Datatype /*type*/, void* /*context*/) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t a = 0, b = 0;
    std::memcpy(&a, static_cast<const std::byte*>(in) + i * sizeof(a), sizeof(a));
    std::memcpy(&b, static_cast<std::byte*>(inout) + i * sizeof(b), sizeof(b));
    b += a;
    std::memcpy(static_cast<std::byte*>(inout) + i * sizeof(b), &b, sizeof(b));
  }
}

double factor_of(std::size_t rank) {
  const double factors[] = {1, 2, 0.5, -1};
  return factors[rank % 4];
}

template <typename F>
decltype(auto) with_type(Datatype type, const F& f) {
  switch (type.kind()) {
    case DatatypeKind::int8:
      return f(std::int8_t{});
    case DatatypeKind::int16:
      return f(std::int16_t{});
    case DatatypeKind::int32:
      return f(std::int32_t{});
    case DatatypeKind::int64:
      return f(std::int64_t{});
    case DatatypeKind::uint8:
      return f(std::uint8_t{});
    case DatatypeKind::uint16:
      return f(std::uint16_t{});
    case DatatypeKind::uint32:
      return f(std::uint32_t{});
    case DatatypeKind::uint64:
      return f(std::uint64_t{});
    case DatatypeKind::float8_e4m3:
      return f(float8_e4m3_t{});
    case DatatypeKind::float8_e5m2:
      return f(float8_e5m2_t{});
    case DatatypeKind::float16:
      return f(float16_t{});
    case DatatypeKind::bfloat16:
      return f(bfloat16_t{});
    case DatatypeKind::float32:
      return f(float{});
    case DatatypeKind::float64:
      return f(double{});
    case DatatypeKind::complex64:
      return f(std::complex<float>{});
    case DatatypeKind::complex128:
      return f(std::complex<double>{});
    case DatatypeKind::float32_int32:
      return f(Float32Int32{});
    case DatatypeKind::float64_int32:
      return f(Float64Int32{});
    case DatatypeKind::int32_int32:
      return f(Int32Int32{});
    case DatatypeKind::int64_int32:
      return f(Int64Int32{});
    case DatatypeKind::int64_int64:
      return f(Int64Int64{});
    case DatatypeKind::float64_int64:
      return f(Float64Int64{});
    case DatatypeKind::float32_float32:
      return f(Float32Float32{});
    case DatatypeKind::float64_float64:
      return f(Float64Float64{});
    case DatatypeKind::logical8:
      return f(Logical<std::uint8_t>{});
    case DatatypeKind::logical16:
      return f(Logical<std::uint16_t>{});
    case DatatypeKind::logical32:
      return f(Logical<std::uint32_t>{});
    case DatatypeKind::logical64:
      return f(Logical<std::uint64_t>{});
    case DatatypeKind::bytes:
      return f(Affine{});
  }
  throw std::logic_error("a datatype without a C++ type");
}

template <typename T>
T from_double(double x) {
  if constexpr (is_narrow<T>)
    return T(static_cast<float>(x));
  else
    return static_cast<T>(x);
}

int small(std::uint64_t bits, int magnitude) {
  return static_cast<int>(bits % static_cast<std::uint64_t>(2 * magnitude + 1)) - magnitude;
}

/// Sums in rank order round at each step; all others are exact, in whatever order they are made.
template <typename T>
T draw_float(const Call& call, const Turn& turn, std::uint64_t bits) {
  const bool adds = call.op == ReduceKind::sum || call.op == ReduceKind::avg;
  if (adds && turn.in_rank_order && !is_byte_float<T>)
    return from_double<T>(std::ldexp(static_cast<double>(bits >> 11U) - 0x1p52, -52 - static_cast<int>(bits % 7)));
  if (adds) {
    const int magnitude = is_byte_float<T> ? (call.op == ReduceKind::avg ? 1 : 2) : is_narrow<T> ? 8 : 100;
    return from_double<T>(small(bits, magnitude));
  }
  if (call.op == ReduceKind::premul_sum) return from_double<T>(2 * small(bits, 1));
  if (call.op == ReduceKind::prod) {
    const double factors[] = {1, -1, 2, 0.5};
    return from_double<T>(factors[bits % 4]);
  }
  const double special[] = {0.0, -0.0, 1.0, -1.0, std::nan("")};  // of min and max
  if (bits % 8 == 0) return from_double<T>(special[(bits >> 8U) % 5]);
  return from_double<T>(small(bits >> 8U, 400) * 0.75);
}

template <typename T>
T draw(const Call& call, const Turn& turn, std::uint64_t bits) {
  if constexpr (std::is_same_v<T, Affine>) {
    return {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32U)};
  } else if constexpr (is_pair<T>) {
    T pair{};
    pair.value = static_cast<decltype(T::value)>(small(bits, 3));
    pair.index = static_cast<decltype(T::index)>((bits >> 16U) % 20);
    return pair;
  } else if constexpr (is_complex<T>) {
    using Real = typename T::value_type;
    const int magnitude = call.op == ReduceKind::prod ? 1 : 50;
    return {static_cast<Real>(2 * small(bits, magnitude)), static_cast<Real>(2 * small(bits >> 32U, magnitude))};
  } else if constexpr (is_logical<T>) {
    return {static_cast<decltype(T::value)>(bits % 2 == 0 ? 0 : (bits | 2U))};
  } else if constexpr (std::is_integral_v<T>) {
    const bool is_truth = call.op == ReduceKind::land || call.op == ReduceKind::lor || call.op == ReduceKind::lxor;
    if (is_truth && bits % 2 == 0) return 0;
    if (call.op == ReduceKind::avg) return static_cast<T>(bits % 15);
    return static_cast<T>(std::rotr(bits, 3));  // the top bit set in every second one
  } else {
    return draw_float<T>(call, turn, bits);
  }
}

/// What joins elements, in rank order.
template <typename T>
struct Accumulator {
  using Sum = std::conditional_t<is_narrow<T>, float, T>;
  Sum sum{};
  bool is_nan = false;

  explicit Accumulator(const T& x) : sum(static_cast<Sum>(x)), is_nan(has_nan(x)) {}

  static bool has_nan(const T& x) {
    if constexpr (is_narrow<T> || std::is_floating_point_v<T>) return std::isnan(static_cast<Sum>(x));
    return false;
  }
  static bool is_less(Sum a, Sum b) {
    if constexpr (std::is_floating_point_v<Sum>) return a < b || (a == b && std::signbit(a) && !std::signbit(b));
    return a < b;
  }

  void join(ReduceKind op, const T& element) {
    const Sum x = static_cast<Sum>(element);
    is_nan = is_nan || has_nan(element);
    if constexpr (std::is_integral_v<T>) {
      using Word = std::uint64_t;
      switch (op) {
        case ReduceKind::sum:
        case ReduceKind::avg:
          sum = static_cast<T>(static_cast<Word>(sum) + static_cast<Word>(x));
          return;
        case ReduceKind::prod:
          sum = static_cast<T>(static_cast<Word>(sum) * static_cast<Word>(x));
          return;
        case ReduceKind::band:
          sum = static_cast<T>(sum & x);
          return;
        case ReduceKind::bor:
          sum = static_cast<T>(sum | x);
          return;
        case ReduceKind::bxor:
          sum = static_cast<T>(sum ^ x);
          return;
        case ReduceKind::land:
          sum = static_cast<T>(sum != 0 && x != 0);
          return;
        case ReduceKind::lor:
          sum = static_cast<T>(sum != 0 || x != 0);
          return;
        case ReduceKind::lxor:
          sum = static_cast<T>((sum != 0) != (x != 0));
          return;
        default:
          break;
      }
    }
    switch (op) {
      case ReduceKind::prod:
        sum = sum * x;
        return;
      case ReduceKind::min:
        if (is_less(x, sum)) sum = x;
        return;
      case ReduceKind::max:
        if (is_less(sum, x)) sum = x;
        return;
      default:
        sum = sum + x;
    }
  }

  [[nodiscard]] T finish(ReduceKind op, std::size_t ranks) const {
    if (op == ReduceKind::min || op == ReduceKind::max) {
      if constexpr (std::is_floating_point_v<Sum>)
        if (is_nan) return T(std::numeric_limits<Sum>::quiet_NaN());
    }
    const bool is_truth = op == ReduceKind::land || op == ReduceKind::lor || op == ReduceKind::lxor;
    if constexpr (std::is_integral_v<T>)
      if (is_truth) return static_cast<T>(sum != 0);
    if (op == ReduceKind::avg) return T(sum / static_cast<Sum>(ranks));
    return T(sum);
  }
};

template <typename T>
T join_all(const Call& call, const Turn& turn, std::span<const T> inputs) {
  if (inputs.size() == 1) return inputs[0];  // also what is neither 0 nor 1, or any NaN
  if constexpr (std::is_same_v<T, Affine>) {
    Affine all = inputs[0];
    for (std::size_t i = 1; i < inputs.size(); ++i) all = after(all, inputs[i]);
    return all;
  } else if constexpr (is_pair<T>) {
    T best = inputs[0];
    for (const T& x : inputs) {
      const bool wins = call.op == ReduceKind::minloc ? x.value < best.value : x.value > best.value;
      if (wins || (x.value == best.value && x.index < best.index)) best = x;
    }
    return best;
  } else if constexpr (is_logical<T>) {
    Accumulator<decltype(T::value)> all(inputs[0].value);
    for (std::size_t i = 1; i < inputs.size(); ++i) all.join(call.op, inputs[i].value);
    return {all.finish(call.op, turn.ranks)};
  } else if constexpr (is_complex<T>) {
    T all = inputs[0];
    for (std::size_t i = 1; i < inputs.size(); ++i)
      all = call.op == ReduceKind::prod ? all * inputs[i] : all + inputs[i];
    return call.op == ReduceKind::avg ? all / static_cast<typename T::value_type>(turn.ranks) : all;
  } else {
    Accumulator<T> all(inputs[0]);
    for (std::size_t i = 1; i < inputs.size(); ++i) all.join(call.op, inputs[i]);
    return all.finish(call.op, turn.ranks);
  }
}

/// premul_sum is a sum of scaled elements.
template <typename T>
T scaled(const T& x, double factor) {
  if constexpr (is_narrow<T>)
    return T(static_cast<float>(x) * static_cast<float>(factor));
  else if constexpr (std::is_floating_point_v<T>)
    return x * static_cast<T>(factor);
  else if constexpr (is_complex<T>)
    return x * static_cast<typename T::value_type>(factor);
  else
    return x;
}

/// A user's sum is of words of 8 bytes, whatever the type is called.
bool adds_words(const Call& call) { return call.op == ReduceKind::user && call.commutes; }

/// The i-th element of a rank has the bits mix(first_key() + i).
std::uint64_t first_key(const Call& call, const Turn& turn, std::size_t rank, const Piece& piece) {
  return mix({call.seed, static_cast<std::uint64_t>(turn.round), rank, piece.block}) + piece.index;
}

template <typename F>
void with_elements_of(const Call& call, const F& f) {
  if (adds_words(call))
    f(std::uint64_t{});
  else
    with_type(call.type, f);
}

}  // namespace

void contribute(const Call& call, const Turn& turn, const Piece& piece, std::byte* buffer) {
  std::byte* at = buffer + piece.at * call.type.size();
  const std::uint64_t key = first_key(call, turn, piece.first, piece);
  if (!combines(call.operation)) {  // any bits
    for (std::size_t i = 0; i < piece.count; ++i, at += call.type.size()) {
      const std::uint64_t low = mix(key + i);
      const std::uint64_t words[] = {low, mix(low)};
      std::memcpy(at, words, call.type.size());
    }
    return;
  }
  with_elements_of(call, [&](auto sample) {
    using T = decltype(sample);
    for (std::size_t i = 0; i < piece.count; ++i, at += sizeof(T)) {
      const T value = draw<T>(call, turn, mix(key + i));
      std::memcpy(at, &value, sizeof(T));
    }
  });
}

void combine_exactly(const Call& call, const Turn& turn, const Piece& piece, std::byte* buffer) {
  std::byte* at = buffer + piece.at * call.type.size();
  Call terms = call;
  if (adds_words(call)) terms.op = ReduceKind::sum;
  std::vector<std::uint64_t> keys;
  for (std::size_t rank = piece.first; rank <= piece.last; ++rank) keys.push_back(first_key(call, turn, rank, piece));
  with_elements_of(call, [&](auto sample) {
    using T = decltype(sample);
    std::vector<T> inputs(keys.size());
    for (std::size_t i = 0; i < piece.count; ++i, at += sizeof(T)) {
      for (std::size_t rank = piece.first; rank <= piece.last; ++rank) {
        T& input = inputs[rank - piece.first];
        input = draw<T>(call, turn, mix(keys[rank - piece.first] + i));
        if (call.op == ReduceKind::premul_sum) input = scaled(input, factor_of(rank));
      }
      const T value = join_all<T>(terms, turn, inputs);
      std::memcpy(at, &value, sizeof(T));
    }
  });
}

bool is_same(Datatype type, const std::byte* a, const std::byte* b) {
  if (type.kind() == DatatypeKind::float64_int32 || type.kind() == DatatypeKind::int64_int32)
    return std::memcmp(a, b, 12) == 0;
  if (std::memcmp(a, b, type.size()) == 0) return true;
  return with_type(type, [&](auto sample) {
    using T = decltype(sample);
    if constexpr (is_complex<T>) {
      T x{}, y{};
      std::memcpy(&x, a, sizeof(T));
      std::memcpy(&y, b, sizeof(T));
      return x == y;
    }
    return false;
  });
}

ReduceOp reduce_op(const Call& call, std::size_t rank) {
  if (call.op == ReduceKind::premul_sum) return ReduceOp::premul_sum(factor_of(rank));
  if (call.op == ReduceKind::user) return ReduceOp::user(call.commutes ? add_words : compose, nullptr, call.commutes);
  return call.op;
}

}  // namespace tutti::fuzz
