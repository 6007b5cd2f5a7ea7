// SPDX-License-Identifier: BSD-3-Clause
#include "buffers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

namespace tutti::commbench {
namespace {

std::string hexadecimal(const std::byte* bytes, std::size_t count) {
  std::string text = "0x";
  for (std::size_t i = std::min<std::size_t>(count, 16); i > 0; --i)
    text += fmt::format("{:02x}", static_cast<unsigned>(bytes[i - 1]));
  return text;
}

}  // namespace

Buffers::Buffers(const Point& point, const Shape& shape, const World& world, const Pattern& pattern, Reuse reuse,
                 std::size_t slots, const Communicator* comm)
    : point_(point),
      shape_(shape),
      world_(world),
      pattern_(pattern),
      comm_(comm),
      reuse_(reuse),
      slots_(slots),
      memory_(comm, point.memory, slots * slot_bytes(point, shape)) {
  if (!memory_.is_visible()) stage_.resize(std::max(send_bytes(), recv_bytes()) + guard);
}

std::size_t Buffers::slot_bytes(const Point& point, const Shape& shape) {
  return pitch(shape.send * point.type.size()) + pitch(shape.recv * point.type.size());
}

std::byte* Buffers::send(std::size_t slot) const { return memory_.data() + slot * slot_bytes(point_, shape_); }

std::byte* Buffers::recv(std::size_t slot) const { return send(slot) + pitch(send_bytes()); }

/// Bytes that no result has, and zeros where pages are to stay untouched.
void Buffers::write_recv(std::byte* to, std::uint64_t iteration) const {
  const auto poison = static_cast<int>(0xA5U + iteration % 2 * 0x11U);
  if (reuse_ != Reuse::fresh) std::memset(to, poison, recv_bytes() + guard);
  for (const GivenSlice& slice : shape_.given)
    pattern_.fill(to + slice.at * point_.type.size(), slice.length, world_.rank, iteration);
}

void Buffers::fill(std::size_t slot, std::uint64_t iteration) {
  if (memory_.is_visible()) {
    pattern_.fill(send(slot), shape_.send, world_.rank, iteration);
    write_recv(recv(slot), iteration);
    return;
  }
  pattern_.fill(stage_.data(), shape_.send, world_.rank, iteration);
  copy_bytes(send(slot), stage_.data(), send_bytes());
  write_recv(stage_.data(), iteration);
  copy_bytes(recv(slot), stage_.data(), recv_bytes() + guard);
}

void Buffers::renew() {
  const std::size_t bytes = memory_.size();
  memory_ = Memory{};
  memory_ = Memory(comm_, point_.memory, bytes);
}

std::optional<std::string> Buffers::fault_in(const std::byte* got, std::uint64_t iteration) const {
  const std::size_t size = point_.type.size();
  for (const ResultSlice& slice : shape_.result) {
    const auto wrong = pattern_.first_wrong(got, slice, iteration);
    if (!wrong) continue;
    const auto want = pattern_.expected(slice, *wrong - slice.at, iteration);
    return fmt::format("element {} of {} is {} instead of {} (from ranks {} to {})", *wrong, shape_.recv,
                       hexadecimal(got + *wrong * size, size), hexadecimal(want.data(), size), slice.first, slice.last);
  }
  const auto poison = reuse_ == Reuse::fresh ? std::byte{0} : static_cast<std::byte>(0xA5U + iteration % 2 * 0x11U);
  const std::size_t begin = shape_.result.empty() && shape_.given.empty() ? 0 : recv_bytes();
  for (std::size_t i = begin; i < recv_bytes() + guard; ++i)
    if (got[i] != poison) return fmt::format("byte {} of a buffer of {} bytes was written", i, recv_bytes());
  return std::nullopt;
}

std::optional<std::string> Buffers::find_fault(std::size_t slot, std::uint64_t iteration) const {
  if (memory_.is_visible()) return fault_in(recv(slot), iteration);
  std::vector<std::byte> got(recv_bytes() + guard);
  copy_bytes(got.data(), recv(slot), got.size());
  return fault_in(got.data(), iteration);
}

void Evictor::run() {
  constexpr std::size_t line = 64;
  for (std::size_t i = 0; i < memory_.size(); i += line) {
    std::uint64_t word = 0;
    std::memcpy(&word, memory_.data() + i, std::min(sizeof(word), memory_.size() - i));
    sum_ += word + 1;
    std::memcpy(memory_.data() + i, &sum_, std::min(sizeof(sum_), memory_.size() - i));
  }
}

}  // namespace tutti::commbench
