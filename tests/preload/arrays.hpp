// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace tutti::test {

/// The ways in which ranks describe the same sequence of int.
enum class Shape { plain, spread, swapped };

/// A sequence of int in memory, as one of the shapes says: one after the other, every second one, or each pair turned
/// round. Its datatype stands for `step` elements.
class Array {
 public:
  Array(Shape shape, std::size_t elements) : shape_(shape), data_(elements * 2 + 2, untouched) {
    if (shape == Shape::spread) MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type_);
    if (shape == Shape::swapped) {
      const int lengths[] = {1, 1};
      const int places[] = {1, 0};
      MPI_Type_indexed(2, lengths, places, MPI_INT, &type_);
    }
    if (shape != Shape::plain) MPI_Type_commit(&type_);
  }
  ~Array() { free_type(); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  static constexpr int untouched = -77;
  [[nodiscard]] int step() const { return shape_ == Shape::swapped ? 2 : 1; }
  [[nodiscard]] MPI_Datatype type() const { return type_; }
  [[nodiscard]] int* data() { return data_.data(); }
  int& operator[](std::size_t i) {
    return data_[shape_ == Shape::plain ? i : shape_ == Shape::spread ? 2 * i : i ^ 1U];
  }
  /// Whether the places between and behind the elements are as they were.
  [[nodiscard]] bool has_clean_gaps(std::size_t elements) const {
    for (std::size_t i = 0; i < data_.size(); ++i) {
      const bool is_gap = shape_ == Shape::spread ? i % 2 == 1 || i >= 2 * elements : i >= elements;
      if (is_gap && data_[i] != untouched) return false;
    }
    return true;
  }
  void free_type() {
    if (type_ != MPI_INT && type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
    type_ = MPI_DATATYPE_NULL;
  }

 private:
  Shape shape_;
  MPI_Datatype type_ = MPI_INT;
  std::vector<int> data_;
};

/// Element i of what rank `from` has for rank `to` in a round; all differ.
inline int value(int from, int to, std::size_t i, int round) {
  return from * 1000003 + to * 10007 + static_cast<int>(i) * 13 + round * 101;
}

/// Counts and displacements of blocks that lie in reverse order, in units of a datatype. The address points behind
/// the last block, so that displacements are negative.
struct Backwards {
  Backwards(int ranks, int elements, Array& array) : address(array.data()) {
    const int units = elements / array.step();
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    MPI_Type_get_extent(array.type(), &lower, &extent);
    address += ranks * units * static_cast<int>(extent / static_cast<MPI_Aint>(sizeof(int)));
    for (int r = 0; r < ranks; ++r) {
      counts.push_back(units);
      displs.push_back(-(r + 1) * units);
      bytes.push_back(static_cast<int>(-(r + 1) * units * extent));
      types.push_back(array.type());
    }
  }
  static int block(int r, int ranks) { return ranks - 1 - r; }
  int* address;
  std::vector<int> counts{};
  std::vector<int> displs{};
  std::vector<int> bytes{};
  std::vector<MPI_Datatype> types{};
};

}  // namespace tutti::test
