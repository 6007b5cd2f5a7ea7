// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/mpi/types.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace tutti::fuzz::mpi {
namespace {

Type make_record() {
  const int lengths[] = {1, 1, 3};
  const MPI_Aint places[] = {0, 8, 16};
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
  MPI_Datatype parts = MPI_DATATYPE_NULL;
  MPI_Datatype record = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(3, lengths, places, types, &parts);
  MPI_Type_create_resized(parts, 0, 24, &record);
  MPI_Type_free(&parts);
  return committed(record);
}

/// A divisor of a number.
int draw_divisor(Random& random, int number) {
  int divisor = 1 + random.below(number);
  while (number % divisor != 0) --divisor;
  return divisor;
}

/// Blocks of `number` items in all, one after the other with gaps, in any order.
struct Blocks {
  Blocks(Random& random, int number, bool equal) {
    const int each = equal ? draw_divisor(random, number) : 0;
    int place = random.below(4) - 2;
    for (int left = number; left > 0; left -= lengths.back()) {
      lengths.push_back(equal ? each : 1 + random.below(left));
      places.push_back(place);
      place += lengths.back() + random.below(3);
    }
    if (random.once_in(2)) return;
    for (std::size_t i = lengths.size() - 1; i > 0; --i) {
      const std::size_t other = random.below(i + 1);
      std::swap(lengths[i], lengths[other]);
      std::swap(places[i], places[other]);
    }
  }
  [[nodiscard]] int size() const { return static_cast<int>(lengths.size()); }
  [[nodiscard]] std::vector<MPI_Aint> bytes(MPI_Aint extent) const {
    std::vector<MPI_Aint> all(places.begin(), places.end());
    for (MPI_Aint& place : all) place *= extent;
    return all;
  }
  std::vector<int> lengths{}, places{};
};

/// Large counts are made of those of int.
#if MPI_VERSION >= 4
std::vector<MPI_Count> large(const std::vector<int>& numbers) { return {numbers.begin(), numbers.end()}; }
std::vector<MPI_Count> large(const std::vector<MPI_Aint>& numbers) { return {numbers.begin(), numbers.end()}; }
#endif

MPI_Datatype make_indexed(Random& random, MPI_Datatype item, int number) {
  const int way = random.below(5);
  const Blocks blocks(random, number, way == 1 || way == 3);
  const std::vector<MPI_Aint> bytes = blocks.bytes(Facts(item).extent);
  const std::vector<MPI_Datatype> items(blocks.lengths.size(), item);
  const int n = blocks.size();
  const int* lengths = blocks.lengths.data();
  MPI_Datatype made = MPI_DATATYPE_NULL;
  if (way == 0) MPI_Type_indexed(n, lengths, blocks.places.data(), item, &made);
  if (way == 1) MPI_Type_create_indexed_block(n, lengths[0], blocks.places.data(), item, &made);
  if (way == 2) MPI_Type_create_hindexed(n, lengths, bytes.data(), item, &made);
  if (way == 3) MPI_Type_create_hindexed_block(n, lengths[0], bytes.data(), item, &made);
  if (way == 4) MPI_Type_create_struct(n, lengths, bytes.data(), items.data(), &made);
  return made;
}

MPI_Datatype make_vector(Random& random, MPI_Datatype item, int number) {
  const int length = draw_divisor(random, number);
  int stride = length + random.below(3);
  if (random.once_in(4)) stride = -stride;
  const int n = number / length;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  if (random.once_in(2))
    MPI_Type_vector(n, length, stride, item, &made);
  else
    MPI_Type_create_hvector(n, length, stride * Facts(item).extent, item, &made);
  return made;
}

/// A part of an array of two dimensions.
MPI_Datatype make_subarray(Random& random, MPI_Datatype item, int number) {
  std::array<int, 2> part{};
  part[0] = draw_divisor(random, number);
  part[1] = number / part[0];
  std::array<int, 2> all{};
  std::array<int, 2> start{};
  for (std::size_t d = 0; d < 2; ++d) {
    start[d] = random.below(3);
    all[d] = start[d] + part[d] + random.below(3);
  }
  MPI_Datatype made = MPI_DATATYPE_NULL;
  const int order = random.once_in(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  MPI_Type_create_subarray(2, all.data(), part.data(), start.data(), order, item, &made);
  return made;
}

#if MPI_VERSION >= 4
MPI_Datatype make_by_large_counts(Random& random, MPI_Datatype item, int number) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  const Blocks blocks(random, number, false);
  const std::vector<MPI_Datatype> items(blocks.lengths.size(), item);
  const auto lengths = large(blocks.lengths);
  const auto bytes = large(blocks.bytes(Facts(item).extent));
  const int n = blocks.size();
  const int way = random.below(5);
  if (way == 0) MPI_Type_contiguous_c(number, item, &made);
  if (way == 1) MPI_Type_vector_c(number, 1, 2, item, &made);
  if (way == 2) MPI_Type_indexed_c(n, lengths.data(), large(blocks.places).data(), item, &made);
  if (way == 3) MPI_Type_create_hindexed_c(n, lengths.data(), bytes.data(), item, &made);
  if (way == 4) MPI_Type_create_struct_c(n, lengths.data(), bytes.data(), items.data(), &made);
  return made;
}
#endif

/// is_last: no type is made of this one. MPICH 4.0.2 places a block of items of a negative extent outside its buffer.
MPI_Datatype make_resized(Random& random, MPI_Datatype item, bool is_last) {
  const Facts facts(item);
  const MPI_Aint lower = facts.true_lower + 4 * (random.below(5) - 2);
  MPI_Aint extent = facts.true_extent + 4 * random.below(4);
  if (random.once_in(4)) extent = facts.size;  // items between those of their neighbours, where they fit
  if (is_last && random.once_in(6)) extent = -extent;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(item, lower, extent, &made);
  return made;
}

MPI_Datatype make_contiguous(MPI_Datatype item, int number) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(number, item, &made);
  return made;
}

MPI_Datatype make_level(Random& random, MPI_Datatype item, int number) {
  switch (random.below(7)) {
    case 0:
      return make_contiguous(item, number);
    case 1:
    case 2:
      return make_indexed(random, item, number);
    case 3:
      return make_vector(random, item, number);
    case 4:
      return make_subarray(random, item, number);
#if MPI_VERSION >= 4
    case 5:
      return make_by_large_counts(random, item, number);
#endif
    default: {
      const MPI_Datatype inner = make_contiguous(item, number);
      MPI_Datatype made = MPI_DATATYPE_NULL;
      MPI_Type_dup(inner, &made);
      MPI_Datatype freed = inner;
      MPI_Type_free(&freed);
      return made;
    }
  }
}

/// Whether items that follow one another share no byte, and are not too far apart for a test.
bool is_usable(MPI_Datatype type) {
  const Facts facts(type);
  if (facts.size == 0 || facts.extent == 0 || std::abs(facts.extent) > 64 * facts.size + 256) return false;
  const int number = static_cast<int>(std::min<MPI_Aint>(facts.true_extent / std::abs(facts.extent), 64)) + 2;
  Span span;
  span.add(0, number, facts);
  std::vector<std::byte> touched(static_cast<std::size_t>(span.high - span.low));
  const std::vector<std::byte> marks(static_cast<std::size_t>(number * facts.size), std::byte{1});
  int position = 0;
  PMPI_Unpack(marks.data(), static_cast<int>(marks.size()), &position, touched.data() - span.low, number, type,
              MPI_COMM_SELF);
  return std::count(touched.begin(), touched.end(), std::byte{1}) == static_cast<std::ptrdiff_t>(marks.size());
}

Type draw_any(Random& random, MPI_Datatype element, int number) {
  const int inner_number = random.once_in(2) ? draw_divisor(random, number) : number;
  MPI_Datatype inner = make_level(random, element, inner_number);
  const auto replace = [&](MPI_Datatype by) {
    MPI_Type_free(&inner);
    inner = by;
  };
  if (random.once_in(3)) replace(make_resized(random, inner, false));
  if (inner_number != number) replace(make_level(random, inner, number / inner_number));
  if (random.once_in(3)) replace(make_resized(random, inner, true));
  return committed(inner);
}

}  // namespace

Type::~Type() {
  if (is_own_) MPI_Type_free(&handle_);
}

Type Type::copy() const {
  if (!is_own_) return {handle_, false};
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_dup(handle_, &made);
  return {made, true};
}

Facts::Facts(MPI_Datatype type) {
  int bytes = 0;
  PMPI_Type_size(type, &bytes);
  size = bytes;
  PMPI_Type_get_extent(type, &lower, &extent);
  PMPI_Type_get_true_extent(type, &true_lower, &true_extent);
}

void Span::add(std::ptrdiff_t place, std::ptrdiff_t count, const Facts& facts) {
  if (count == 0 || facts.size == 0) return;
  const std::ptrdiff_t last = place + (count - 1) * facts.extent;
  const std::ptrdiff_t first_byte = std::min(place, last) + facts.true_lower;
  const std::ptrdiff_t end = std::max(place, last) + facts.true_lower + facts.true_extent;
  low = is_empty ? first_byte : std::min(low, first_byte);
  high = is_empty ? end : std::max(high, end);
  is_empty = false;
}

const std::vector<Element>& elements() {
  // Never freed, because MPI ends before the statics.
  static const Type& record = *new Type(make_record());
  static const std::vector<Element> all{{"MPI_BYTE", MPI_BYTE},     {"MPI_CHAR", MPI_CHAR},
                                        {"MPI_SHORT", MPI_SHORT},   {"MPI_INT", MPI_INT},
                                        {"MPI_DOUBLE", MPI_DOUBLE}, {"MPI_C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX},
                                        {"MPI_WCHAR", MPI_WCHAR},   {"a record with gaps", record.get()}};
  return all;
}

Type draw_type(Random& random, MPI_Datatype element, int number) {
  if (number == 1 && random.once_in(2)) return {element, false};
  for (int attempt = 0; attempt < 20; ++attempt) {
    Type drawn = draw_any(random, element, number);
    if (is_usable(drawn.get())) return drawn;
  }
  return committed(make_contiguous(element, number));
}

Type empty_type() { return committed(make_contiguous(MPI_INT, 0)); }

Type at_address(MPI_Datatype type, const void* address) {
  MPI_Aint place = 0;
  MPI_Get_address(address, &place);
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed_block(1, 1, &place, type, &made);
  return committed(made);
}

Type committed(MPI_Datatype handle) {
  MPI_Type_commit(&handle);
  return {handle, true};
}

void place_data(const std::vector<std::byte>& data, std::byte* to, MPI_Aint count, MPI_Datatype type) {
  int position = 0;
  PMPI_Unpack(data.data(), static_cast<int>(data.size()), &position, to, static_cast<int>(count), type, MPI_COMM_SELF);
}

}  // namespace tutti::fuzz::mpi
