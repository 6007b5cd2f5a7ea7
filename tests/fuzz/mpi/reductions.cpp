// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/mpi/reductions.hpp"

#include <array>
#include <atomic>
#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tutti::fuzz::mpi {
namespace {

std::atomic<bool> wrong_type{false};

/// Matrices of two rows modulo 2^32: their product depends on the order of the factors.
using Matrix = std::array<std::uint32_t, 4>;

/// The attribute of all types of matrices.
int matrix_key() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &made, nullptr);
    return made;
  }();
  return key;
}

void note_type(bool is_right) {
  if (!is_right) wrong_type = true;
}

void multiply(const void* in, void* inout, std::ptrdiff_t count, MPI_Datatype type) {
  void* value = nullptr;
  int found = 0;
  PMPI_Type_get_attr(type, matrix_key(), static_cast<void*>(&value), &found);
  note_type(found != 0);
  const MPI_Aint extent = Facts(type).extent;
  const auto* from = static_cast<const std::byte*>(in);
  auto* to = static_cast<std::byte*>(inout);
  for (std::ptrdiff_t i = 0; i < count; ++i, from += extent, to += extent) {
    Matrix a{}, b{};
    std::memcpy(a.data(), from, sizeof a);
    std::memcpy(b.data(), to, sizeof b);
    const Matrix c{a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
                   a[2] * b[1] + a[3] * b[3]};
    std::memcpy(to, c.data(), sizeof c);
  }
}

void add(const void* in, void* inout, std::ptrdiff_t count, MPI_Datatype type) {
  note_type(type == MPI_UINT64_T);
  const auto* from = static_cast<const std::byte*>(in);
  auto* to = static_cast<std::byte*>(inout);
  for (std::ptrdiff_t i = 0; i < count; ++i, from += 8, to += 8) {
    std::uint64_t a = 0, b = 0;
    std::memcpy(&a, from, 8);
    std::memcpy(&b, to, 8);
    b += a;
    std::memcpy(to, &b, 8);
  }
}

template <typename N, auto combine>
void combine_all(void* in, void* inout, N* count, MPI_Datatype* type) {
  combine(in, inout, static_cast<std::ptrdiff_t>(*count), *type);
}

template <typename T>
struct Pair {
  T value;
  int index;
};

template <typename T>
constexpr std::size_t value_bytes = sizeof(T);
template <>
constexpr std::size_t value_bytes<long double> = 10;  // the rest is padding

template <typename T>
std::vector<char> whole() {
  std::vector<char> bytes(sizeof(T));
  std::fill_n(bytes.begin(), value_bytes<T>, char{1});
  return bytes;
}
template <typename T>
std::vector<char> parts_of_pair() {
  std::vector<char> bytes(sizeof(Pair<T>));
  std::fill_n(bytes.begin(), value_bytes<T>, char{1});
  std::fill_n(bytes.begin() + offsetof(Pair<T>, index), sizeof(int), char{1});
  return bytes;
}

template <typename T>
void put(std::byte* element, const T& value) {
  std::memcpy(element, &value, sizeof(T));
}
template <typename T>
void draw_small(Random& random, std::byte* element) {
  put(element, static_cast<T>(random.below(30) + 1));
}
template <typename T>
void draw_factor(Random& random, std::byte* element) {
  put(element, static_cast<T>(random.below(3) + 1));
}
template <typename T>
void draw_truth(Random& random, std::byte* element) {
  put(element, static_cast<T>(random.below(2)));
}
template <typename T>
void draw_bits(Random& random, std::byte* element) {
  put(element, static_cast<T>(random.bits()));
}
template <typename T>
void draw_real(Random& random, std::byte* element) {
  put(element, static_cast<T>(random.below(2001)) - static_cast<T>(1000.5));
}
template <typename T>
void draw_pair(Random& random, std::byte* element) {
  put(element, Pair<T>{static_cast<T>(random.below(4)), random.below(1000)});
}
void draw_complex(Random& random, std::byte* element) {
  put(element, std::complex<double>(random.below(100) + 1, random.below(100) + 1));
}
void draw_matrix(Random& random, std::byte* element) {
  Matrix matrix{};
  for (std::uint32_t& number : matrix) number = static_cast<std::uint32_t>(random.bits());
  put(element, matrix);
}

struct Named {
  const char* name;
  MPI_Op op;
};

class List {
 public:
  template <typename T>
  void add_numbers(const char* type_name, MPI_Datatype type) {
    constexpr bool is_real = std::is_floating_point_v<T>;
    for (const Named& op : {Named{"MPI_SUM", MPI_SUM}, {"MPI_MAX", MPI_MAX}, {"MPI_MIN", MPI_MIN}})
      add(op, type_name, type, whole<T>(), is_real ? draw_real<T> : draw_small<T>);
    add({"MPI_PROD", MPI_PROD}, type_name, type, whole<T>(), draw_factor<T>);
    if constexpr (std::is_integral_v<T>) {
      for (const Named& op : {Named{"MPI_LAND", MPI_LAND}, {"MPI_LOR", MPI_LOR}, {"MPI_LXOR", MPI_LXOR}})
        add(op, type_name, type, whole<T>(), draw_truth<T>);
      add_bits<T>(type_name, type);
    }
  }
  template <typename T>
  void add_bits(const char* type_name, MPI_Datatype type) {
    for (const Named& op : {Named{"MPI_BAND", MPI_BAND}, {"MPI_BOR", MPI_BOR}, {"MPI_BXOR", MPI_BXOR}})
      add(op, type_name, type, whole<T>(), draw_bits<T>);
  }
  template <typename T>
  void add_pair(const char* type_name, MPI_Datatype type) {
    for (const Named& op : {Named{"MPI_MAXLOC", MPI_MAXLOC}, {"MPI_MINLOC", MPI_MINLOC}})
      add(op, type_name, type, parts_of_pair<T>(), draw_pair<T>);
  }
  void add(const Named& op, const char* type_name, MPI_Datatype type, std::vector<char> has_value,
           void (*draw)(Random&, std::byte*)) {
    all_.push_back(
        {std::string(op.name) + " of " + type_name, Combination::of_mpi, op.op, type, std::move(has_value), draw});
  }
  /// Users' ones stand for a quarter of all.
  std::vector<Reduction> finish() {
    for (std::size_t i = all_.size() / 6; i > 0; --i) {
      all_.push_back({"a user's sum of MPI_UINT64_T", Combination::sum_of_words, MPI_OP_NULL, MPI_UINT64_T,
                      whole<std::uint64_t>(), draw_bits<std::uint64_t>});
      all_.push_back({"a user's product of matrices", Combination::product_of_matrices, MPI_OP_NULL, MPI_DATATYPE_NULL,
                      whole<Matrix>(), draw_matrix});
    }
    return std::move(all_);
  }

 private:
  std::vector<Reduction> all_{};
};

std::vector<Reduction> make_all() {
  List list;
  list.add_numbers<signed char>("MPI_SIGNED_CHAR", MPI_SIGNED_CHAR);
  list.add_numbers<unsigned char>("MPI_UNSIGNED_CHAR", MPI_UNSIGNED_CHAR);
  list.add_numbers<short>("MPI_SHORT", MPI_SHORT);
  list.add_numbers<unsigned short>("MPI_UNSIGNED_SHORT", MPI_UNSIGNED_SHORT);
  list.add_numbers<int>("MPI_INT", MPI_INT);
  list.add_numbers<unsigned>("MPI_UNSIGNED", MPI_UNSIGNED);
  list.add_numbers<long>("MPI_LONG", MPI_LONG);
  list.add_numbers<std::int64_t>("MPI_INT64_T", MPI_INT64_T);
  list.add_numbers<MPI_Aint>("MPI_AINT", MPI_AINT);
  list.add_numbers<float>("MPI_FLOAT", MPI_FLOAT);
  list.add_numbers<double>("MPI_DOUBLE", MPI_DOUBLE);
  list.add_numbers<long double>("MPI_LONG_DOUBLE", MPI_LONG_DOUBLE);
  list.add_bits<unsigned char>("MPI_BYTE", MPI_BYTE);
  list.add_pair<float>("MPI_FLOAT_INT", MPI_FLOAT_INT);
  list.add_pair<double>("MPI_DOUBLE_INT", MPI_DOUBLE_INT);
  list.add_pair<long>("MPI_LONG_INT", MPI_LONG_INT);
  list.add_pair<int>("MPI_2INT", MPI_2INT);
  list.add_pair<short>("MPI_SHORT_INT", MPI_SHORT_INT);
  list.add_pair<long double>("MPI_LONG_DOUBLE_INT", MPI_LONG_DOUBLE_INT);
  list.add({"MPI_SUM", MPI_SUM}, "MPI_C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX, whole<std::complex<double>>(),
           draw_complex);
  list.add({"MPI_LOR", MPI_LOR}, "MPI_C_BOOL", MPI_C_BOOL, whole<bool>(), draw_truth<bool>);
  return list.finish();
}

}  // namespace

const std::vector<Reduction>& reductions() {
  static const std::vector<Reduction> all = make_all();
  return all;
}

Type operand_type(const Reduction& reduction) {
  if (reduction.combination != Combination::product_of_matrices) return {reduction.type, false};
  MPI_Datatype matrix = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(4, MPI_UNSIGNED, &matrix);
  MPI_Type_set_attr(matrix, matrix_key(), nullptr);
  return committed(matrix);
}

Op::Op(const Reduction& reduction, [[maybe_unused]] bool has_large_counts)
    : handle_(reduction.op), is_own_(reduction.combination != Combination::of_mpi) {
  const bool commutes = reduction.combination == Combination::sum_of_words;
  if (!is_own_) return;
#if MPI_VERSION >= 4
  if (has_large_counts) {
    MPI_Op_create_c(commutes ? combine_all<MPI_Count, add> : combine_all<MPI_Count, multiply>, commutes ? 1 : 0,
                    &handle_);
    return;
  }
#endif
  MPI_Op_create(commutes ? combine_all<int, add> : combine_all<int, multiply>, commutes ? 1 : 0, &handle_);
}

Op::~Op() {
  if (is_own_) MPI_Op_free(&handle_);
}

bool had_wrong_type() { return wrong_type.exchange(false); }

}  // namespace tutti::fuzz::mpi
