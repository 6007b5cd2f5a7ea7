// SPDX-License-Identifier: BSD-3-Clause
#include "tools/doctor/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tutti::tools::doctor {
namespace {

/// What rank `from` gives rank `to` at a place. For all: `to` is 0.
std::byte byte_at(int from, int to, std::size_t place) {
  return static_cast<std::byte>(
      (place * 7 + place / 251 + static_cast<std::size_t>(from) * 31 + static_cast<std::size_t>(to) * 17 + 1) % 251);
}

/// A whole number below 128, so that the sum over many ranks is exact in float32.
float number_at(int rank, std::size_t place) {
  return static_cast<float>((place * 5 + static_cast<std::size_t>(rank) * 3 + 1) % 127);
}

std::vector<std::byte> bytes_of(std::size_t bytes, int from, int to) {
  std::vector<std::byte> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = byte_at(from, to, i);
  return made;
}

void append(std::vector<std::byte>& all, const std::vector<std::byte>& part) {
  all.insert(all.end(), part.begin(), part.end());
}

template <typename Number>
std::vector<std::byte> floats_of(std::size_t bytes, const Number& number) {
  std::vector<std::byte> made(bytes);
  for (std::size_t i = 0; i < bytes / sizeof(float); ++i) {
    const float value = number(i);
    std::memcpy(made.data() + i * sizeof value, &value, sizeof value);
  }
  return made;
}

float sum_at(int ranks, std::size_t place) {
  float sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += number_at(rank, place);
  return sum;
}

bool gives_blocks(Call call) { return call == Call::alltoall; }
bool takes_blocks(Call call) { return call == Call::alltoall || call == Call::allgather; }

}  // namespace

std::size_t input_bytes(const Trial& trial) {
  return trial.bytes * (gives_blocks(trial.call) ? static_cast<std::size_t>(trial.ranks) : 1);
}

std::size_t output_bytes(const Trial& trial) {
  return trial.bytes * (takes_blocks(trial.call) ? static_cast<std::size_t>(trial.ranks) : 1);
}

std::vector<std::byte> input_of(const Trial& trial) {
  if (trial.call == Call::allreduce)
    return floats_of(trial.bytes, [&](std::size_t i) { return number_at(trial.rank, i); });
  if (trial.call != Call::alltoall) return bytes_of(trial.bytes, trial.rank, 0);
  std::vector<std::byte> all;
  for (int to = 0; to < trial.ranks; ++to) append(all, bytes_of(trial.bytes, trial.rank, to));
  return all;
}

std::vector<std::byte> output_before(const Trial& trial) {
  if (trial.call == Call::bcast && trial.rank == 0) return input_of(trial);
  return std::vector<std::byte>(output_bytes(trial), std::byte{0xff});
}

std::vector<std::byte> output_after(const Trial& trial) {
  std::vector<std::byte> all;
  switch (trial.call) {
    case Call::allreduce:
      return floats_of(trial.bytes, [&](std::size_t i) { return sum_at(trial.ranks, i); });
    case Call::bcast:
      return bytes_of(trial.bytes, 0, 0);
    case Call::sendrecv:
      return bytes_of(trial.bytes, (trial.rank + trial.ranks - 1) % trial.ranks, 0);
    case Call::alltoall:
      for (int from = 0; from < trial.ranks; ++from) append(all, bytes_of(trial.bytes, from, trial.rank));
      return all;
    default:  // allgather
      for (int from = 0; from < trial.ranks; ++from) append(all, bytes_of(trial.bytes, from, 0));
      return all;
  }
}

std::string difference(std::span<const std::byte> found, std::span<const std::byte> expected) {
  const auto [at, wanted] = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
  if (at == found.end() && wanted == expected.end()) return {};
  if (at == found.end() || wanted == expected.end())
    return fmt::format("{} bytes instead of {}", found.size(), expected.size());
  return fmt::format("byte {} of {} is {} instead of {}", at - found.begin(), found.size(), std::to_integer<int>(*at),
                     std::to_integer<int>(*wanted));
}

}  // namespace tutti::tools::doctor
