// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/collectives/bcast.hpp>
#include <tutti/error.hpp>

/// Work that all ranks do, or none.
namespace tutti::training {

template <typename Share>
std::optional<Error> failure_of(const Share& share) {
  try {
    share();
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::out_of_memory, "out of memory");
  } catch (const std::exception& error) {
    return Error(ErrorCode::io, error.what());
  }
  return std::nullopt;
}

/// Runs this rank's share. The error of the first rank whose share fails, on all ranks.
template <typename Share>
std::optional<Error> agreed_failure(const Communicator& comm, const Share& share) {
  const std::optional<Error> own = failure_of(share);
  std::int32_t first = own ? comm.rank() : comm.size();
  allreduce(comm, &first, 1, min);
  if (first == comm.size()) return std::nullopt;
  std::string text = own ? own->what() : "";
  std::array<std::int32_t, 2> facts{own ? static_cast<std::int32_t>(own->code()) : 0,
                                    static_cast<std::int32_t>(text.size())};
  bcast(comm, facts, first);
  text.resize(static_cast<std::size_t>(facts[1]));
  bcast(comm, Buffer(text.data(), text.size(), DatatypeKind::uint8), first);
  return Error(static_cast<ErrorCode>(facts[0]), fmt::format("rank {}: {}", first, text));
}

/// Runs this rank's share. If it fails on any rank, all ranks throw the error of the first such rank.
template <typename Share>
void all_or_none(const Communicator& comm, const Share& share) {
  if (const auto failure = agreed_failure(comm, share)) throw *failure;
}

}  // namespace tutti::training
