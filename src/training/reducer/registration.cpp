// SPDX-License-Identifier: BSD-3-Clause
#include "training/reducer/registration.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/collectives/bcast.hpp>
#include <tutti/error.hpp>

#include "collectives/services.hpp"
#include "training/reducer/bucket_set.hpp"

namespace tutti::detail::reducer {
namespace {

void append_text(std::string& packed, const std::string& text) {
  const std::uint64_t length = text.size();
  packed.append(reinterpret_cast<const char*>(&length), sizeof length).append(text);
}

std::string take_text(std::string_view& packed) {
  std::uint64_t length = 0;
  std::memcpy(&length, packed.data(), sizeof length);
  std::string text(packed.substr(sizeof length, length));
  packed.remove_prefix(sizeof length + length);
  return text;
}

/// From `root` to all.
std::string broadcast_text(const Communicator& comm, std::string text, int root) {
  std::uint64_t length = text.size();
  bcast(comm, Buffer(&length, 1), root);
  text.resize(length);
  if (length > 0) bcast(comm, Buffer(text.data(), length), root);
  return text;
}

std::int64_t agreed(const Communicator& comm, std::int64_t value, ReduceOp op) {
  allreduce(comm, &value, 1, op);
  return value;
}

}  // namespace

std::vector<Fact> facts_of(const ReducerOptions& options, std::span<const Parameter> parameters) {
  const auto size = [](std::size_t bytes) {
    return bytes == ReducerOptions::automatic ? std::string("automatic") : fmt::format("{}", bytes);
  };
  std::vector<Fact> facts = {
      {"option bucket_bytes", size(options.bucket_bytes)},
      {"option first_bucket_bytes", fmt::format("{}", options.first_bucket_bytes)},
      {"option op", reduce_op_name(options.op)},
      {"option rebuild", fmt::format("{}", options.rebuild)},
      {"option find_unused", fmt::format("{}", options.find_unused)},
      {"option uneven", fmt::format("{}", options.uneven)},
      {"option average_active", fmt::format("{}", options.average_active)},
      {"option memory", memory_kind_name(options.memory)},
      {"option check", fmt::format("{}", options.check)},
      {"option communicators", fmt::format("{}", options.communicators)},
      {"option blocks", fmt::format("{}", options.blocks)},
      {"option hook", options.hook ? options.hook->name() : "allreduce"},
  };
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& p = parameters[i];
    facts.push_back(
        {fmt::format("parameter {}", i), fmt::format("'{}' {} {}{}", p.name, datatype_name(p.type), shape_text(p.shape),
                                                     p.value == nullptr ? " without a value" : "")});
  }
  return facts;
}

std::size_t first_difference(std::span<const Fact> a, std::span<const Fact> b) {
  const std::size_t both = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < both; ++i)
    if (a[i] != b[i]) return i;
  return both;
}

std::string difference_text(std::span<const Fact> on_root, std::span<const Fact> here, int rank) {
  const std::size_t at = first_difference(on_root, here);
  const std::string subject = at < on_root.size() ? on_root[at].subject : here[at].subject;
  const auto value = [at](std::span<const Fact> facts) {
    return at < facts.size() ? facts[at].value : std::string("not registered");
  };
  return fmt::format(
      "gradient reducer: {} is {} on rank 0, but {} on rank {}; register the same parameters in the same order, with "
      "the same options, on all ranks",
      subject, value(on_root), value(here), rank);
}

std::string pack(std::span<const Fact> facts) {
  std::string packed;
  for (const Fact& fact : facts) {
    append_text(packed, fact.subject);
    append_text(packed, fact.value);
  }
  return packed;
}

std::vector<Fact> unpack(std::string_view packed) {
  std::vector<Fact> facts;
  while (!packed.empty()) {
    std::string subject = take_text(packed);
    facts.push_back({std::move(subject), take_text(packed)});
  }
  return facts;
}

void compare(const Communicator& comm, std::span<const Fact> facts) {
  const std::string mine = pack(facts);
  const std::uint64_t mark = hash(mine);
  std::uint64_t on_root = mark;
  bcast(comm, Buffer(&on_root, 1), 0);
  if (agreed(comm, mark == on_root ? 0 : 1, max) == 0) return;
  const std::vector<Fact> expected = unpack(broadcast_text(comm, comm.rank() == 0 ? mine : "", 0));
  // All ranks report the first difference of any rank, as the lowest rank that has it sees it.
  constexpr unsigned rank_bits = 24;
  constexpr std::int64_t nowhere = std::numeric_limits<std::int64_t>::max();
  std::int64_t place = nowhere;
  if (mark != on_root) place = static_cast<std::int64_t>(first_difference(expected, facts)) << rank_bits | comm.rank();
  place = agreed(comm, place, min);
  const int speaker = static_cast<int>(place & ((std::int64_t{1} << rank_bits) - 1));
  const bool speaks = speaker == comm.rank();
  throw Error(ErrorCode::mismatch,
              broadcast_text(comm, speaks ? difference_text(expected, facts, speaker) : "", speaker));
}

void check_threads(const Communicator& comm, bool wants_thread) {
  int level = MPI_THREAD_SINGLE;
  check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
  const bool lacks = wants_thread && level < MPI_THREAD_MULTIPLE;
  const std::int64_t first = agreed(comm, lacks ? comm.rank() : comm.size(), min);
  if (first < comm.size())
    throw Error(ErrorCode::not_supported,
                fmt::format("gradient reducer: the option progress_thread needs MPI_THREAD_MULTIPLE, which rank {} "
                            "lacks; initialise MPI with it (EnvironmentOptions::threads), or leave the option unset",
                            first));
}

void broadcast_values(const Communicator& comm, std::span<const Parameter> parameters, MemoryKind memory) {
  for (const Parameter& p : parameters) {
    const std::size_t count = std::accumulate(p.shape.begin(), p.shape.end(), std::size_t{1}, std::multiplies<>());
    if (p.value != nullptr && count > 0) bcast(comm, Buffer(p.value, count, p.type, memory), 0);
  }
}

}  // namespace tutti::detail::reducer
