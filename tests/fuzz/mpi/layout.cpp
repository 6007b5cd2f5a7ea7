// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/mpi/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace tutti::fuzz::mpi {
namespace {

int draw_divisor(Random& random, int number) {
  int divisor = 1 + random.below(number);
  while (number % divisor != 0) --divisor;
  return divisor;
}

std::vector<std::size_t> draw_order(Random& random, std::size_t number) {
  std::vector<std::size_t> order(number);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (random.once_in(2)) random.shuffle(std::span(order));
  return order;
}

/// With the address, and with as many bytes behind it. MPICH 4.0.2 looks there for a rank's block, whatever the extent
/// of its items is, and refuses the call if the other buffer begins there.
Span with_address(Span span) {
  const std::ptrdiff_t bytes = span.high - span.low;
  span.low = std::min<std::ptrdiff_t>(span.low, 0);
  span.high = std::max(span.high, bytes);
  return span;
}

}  // namespace

Storage::Storage(const Span& data, std::size_t shift) {
  const Span span = with_address(data);
  size_ = static_cast<std::size_t>(span.high - span.low + 2 * margin);
  bytes_.resize(size_ + 64);
  // The address is where the program's array would be: a place that the language aligns, or not.
  const auto base = reinterpret_cast<std::uintptr_t>(bytes_.data());  // NOLINT(*-reinterpret-cast)
  const auto unaligned = base + static_cast<std::uintptr_t>(margin - span.low);
  begin_ = static_cast<std::ptrdiff_t>((64 + shift - unaligned % 64) % 64);
  first_ = begin_ + margin - span.low;
}

void Storage::fill(std::uint64_t seed) {
  for (std::size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = static_cast<std::byte>((seed + i * 131) >> (8 * (i % 4)));
}

void Storage::copy_from(const Storage& other) {
  std::copy_n(other.bytes_.begin() + other.begin_, size_, bytes_.begin() + begin_);
}

std::string Storage::described(const Storage& other, const std::vector<std::ptrdiff_t>& places) const {
  if (places.empty()) return "";
  std::string text = fmt::format("{} bytes from {} to {}:", places.size(), places.front(), places.back());
  for (std::size_t i = 0; i < std::min<std::size_t>(places.size(), 8); ++i) {
    const auto at_place = static_cast<std::size_t>(places[i] + first_ - begin_);
    text += fmt::format(" {}: {:02x} instead of {:02x};", places[i], static_cast<unsigned>(at(at_place)),
                        static_cast<unsigned>(other.at(at_place)));
  }
  return text;
}

Layout::Layout(Shape shape, const std::vector<std::size_t>& numbers, MPI_Datatype element, int unit, Random random,
               bool may_overlap)
    : shape_(shape), blocks_(shape == Shape::none ? 0 : numbers.size()) {
  if (shape_ == Shape::none) return;
  const std::size_t types = shape_ == Shape::of_types ? std::max<std::size_t>(numbers.size(), 1) : 1;
  std::vector<int> held;
  for (std::size_t t = 0; t < types; ++t) {
    held.push_back(draw_divisor(random, unit));
    types_.push_back(draw_type(random, element, held.back()));
  }
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    blocks_[b].type = types == 1 ? 0 : b;
    blocks_[b].count = static_cast<MPI_Aint>(numbers[b]) / held[blocks_[b].type];
  }
  if (shape_ == Shape::varying)
    place_apart(random, may_overlap);
  else if (shape_ == Shape::of_types)
    place_each(random, may_overlap);
  else
    place_in_row();
  for (const Block& block : blocks_) span_.add(block.place, block.count, Facts(type(block.type)));
}

void Layout::place_in_row() {
  const MPI_Aint extent = Facts(type(0)).extent;
  MPI_Aint items = 0;
  for (Block& block : blocks_) {
    block.place = items * extent;
    items += block.count;
  }
}

void Layout::place_apart(Random& random, bool may_overlap) {
  const MPI_Aint extent = Facts(type(0)).extent;
  const bool has_gaps = random.once_in(2);
  MPI_Aint items = random.once_in(2) ? 0 : -random.below(40);
  for (const std::size_t b : draw_order(random, blocks_.size())) {
    if (has_gaps) items += random.below(4);
    blocks_[b].unit_place = items;
    blocks_[b].place = items * extent;
    if (!may_overlap) items += blocks_[b].count;
  }
}

void Layout::place_each(Random& random, bool may_overlap) {
  std::ptrdiff_t next = random.once_in(2) ? 0 : -8 * random.below(40);
  for (const std::size_t b : draw_order(random, blocks_.size())) {
    Block& block = blocks_[b];
    Span own;
    own.add(0, block.count, Facts(type(block.type)));
    block.place = next - own.low;
    block.unit_place = block.place;
    if (!may_overlap) next += own.high - own.low + 4 * random.below(3);
  }
}

void Layout::put_block(Random& random, std::byte* address, std::size_t b) const {
  const Block& block = blocks_[b];
  const Facts facts(type(block.type));
  std::vector<std::byte> data(static_cast<std::size_t>(block.count * facts.size));
  for (std::byte& byte : data) byte = static_cast<std::byte>(random.bits());
  place_data(data, address + block.place, block.count, type(block.type));
}

void Layout::put_data(Random& random, std::byte* address) const {
  for (std::size_t b = 0; b < blocks_.size(); ++b) put_block(random, address, b);
}

Side Layout::side(std::byte* address) const {
  Side side;
  side.address = address;
  if (shape_ == Shape::none) return side;
  side.type = type(0);
  if (!blocks_.empty()) side.count = blocks_[0].count;
  if (shape_ == Shape::one || shape_ == Shape::equal) return side;
  for (const Block& block : blocks_) {
    side.counts.push_back(static_cast<int>(block.count));
    side.large_counts.push_back(block.count);
    side.places.push_back(static_cast<int>(block.unit_place));
    side.large_places.push_back(block.unit_place);
    side.types.push_back(type(block.type));
  }
  if (!blocks_.empty()) return side;
  // MPICH reads the first type of a rank without neighbours.
  side.counts = {0};
  side.large_counts = {0};
  side.places = {0};
  side.large_places = {0};
  side.types = {type(0)};
  return side;
}

Side Layout::other_side(std::byte* address, Random& random, Forms forms) {
  Side side = this->side(address);
  if (shape_ == Shape::none) return side;
  if (is_empty()) {
    if (random.once_in(2)) side.address = nullptr;
    if (forms.of_no_data && random.once_in(3)) {
      absolute_.push_back(empty_type());
      side.type = absolute_[0].get();
      side.count = 3;
    }
    return side;
  }
  if (shape_ == Shape::of_types && random.once_in(2))
    for (std::size_t b = 0; b < blocks_.size(); ++b)
      if (blocks_[b].count == 0 || !blocks_[b].is_used) {
        side.types[b] = MPI_DATATYPE_NULL;
        side.counts[b] = 0;
        side.large_counts[b] = 0;
      }
  if (!forms.at_bottom || !random.once_in(5)) return side;
  for (Type& type : types_) absolute_.push_back(at_address(type.get(), address));
  side.address = MPI_BOTTOM;
  side.type = absolute_[0].get();
  for (std::size_t b = 0; b < side.types.size(); ++b)
    if (side.types[b] != MPI_DATATYPE_NULL) side.types[b] = absolute_[blocks_[b].type].get();
  return side;
}

void Layout::replace_types() {
  for (Type& type : types_) type = type.copy();
  absolute_.clear();
}

}  // namespace tutti::fuzz::mpi
