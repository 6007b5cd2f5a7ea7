// SPDX-License-Identifier: BSD-3-Clause
// One side of a call on one rank: its blocks, where they lie, and the arguments that say so.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fuzz/mpi/calls.hpp"
#include "fuzz/mpi/types.hpp"

namespace tutti::fuzz::mpi {

/// How a side names its blocks: not at all, as one, as equal ones in a row, or with counts and places, of one type or
/// of one each.
enum class Shape { none, one, equal, varying, of_types };

/// Bytes between guards. Copies of one layout have their data at the same places.
class Storage {
 public:
  Storage() = default;
  Storage(const Span& data, std::size_t shift);
  void fill(std::uint64_t seed);
  [[nodiscard]] std::byte* address() { return bytes_.data() + first_; }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }
  void copy_from(const Storage& other);
  /// The places, from the address on, where the other one differs and `counts(place)` is true; "" if there are none.
  template <typename Counts>
  [[nodiscard]] std::string difference(const Storage& other, const Counts& counts) const {
    std::vector<std::ptrdiff_t> places;
    for (std::size_t i = 0; i < size_; ++i) {
      const std::ptrdiff_t place = static_cast<std::ptrdiff_t>(i) - (first_ - begin_);
      if (at(i) != other.at(i) && counts(place)) places.push_back(place);
    }
    return described(other, places);
  }

 private:
  [[nodiscard]] std::string described(const Storage& other, const std::vector<std::ptrdiff_t>& places) const;
  [[nodiscard]] std::byte at(std::size_t i) const { return bytes_[static_cast<std::size_t>(begin_) + i]; }
  static constexpr std::ptrdiff_t margin = 64;
  std::vector<std::byte> bytes_{};
  std::size_t size_ = 0;      ///< with the guards
  std::ptrdiff_t begin_ = 0;  ///< of the first guard
  std::ptrdiff_t first_ = 0;  ///< of the address
};

/// A block: `count` items of type `type`, that many bytes behind the address.
struct Block {
  MPI_Aint count = 0;
  std::size_t type = 0;
  MPI_Aint unit_place = 0;  ///< as the call gives it: in extents or bytes
  MPI_Aint place = 0;
  bool is_used = true;  ///< false for that of a neighbour that does not exist
};

/// Rare forms that arguments may have.
struct Forms {
  bool at_bottom = false;   ///< addresses in the types
  bool of_no_data = false;  ///< items without data in the place of no items
};

class Layout {
 public:
  Layout() = default;
  /// numbers: elements of each block. may_overlap: blocks that are read alone may lie at one place.
  Layout(Shape shape, const std::vector<std::size_t>& numbers, MPI_Datatype element, int unit, Random random,
         bool may_overlap);

  [[nodiscard]] Shape shape() const { return shape_; }
  [[nodiscard]] const Span& span() const { return span_; }
  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }
  [[nodiscard]] MPI_Datatype type(std::size_t i) const { return types_[i].get(); }
  [[nodiscard]] bool is_empty() const { return span_.is_empty; }
  void leave_out(std::size_t block) { blocks_[block].is_used = false; }
  void put_data(Random& random, std::byte* address) const;
  void put_block(Random& random, std::byte* address, std::size_t block) const;
  /// The arguments for data at an address.
  [[nodiscard]] Side side(std::byte* address) const;
  /// The same in one of the other ways in which a program may say it: no address and no types where nothing is, types
  /// with addresses of their own behind MPI_BOTTOM.
  [[nodiscard]] Side other_side(std::byte* address, Random& random, Forms forms);
  /// Frees the types, but for copies.
  void replace_types();

 private:
  void place_in_row();
  void place_apart(Random& random, bool may_overlap);
  void place_each(Random& random, bool may_overlap);

  Shape shape_ = Shape::none;
  std::vector<Type> types_{}, absolute_{};
  std::vector<Block> blocks_{};
  Span span_{};
};

}  // namespace tutti::fuzz::mpi
