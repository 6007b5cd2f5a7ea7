// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <exception>
#include <optional>
#include <tutti/checkpoint.hpp>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/collectives/bcast.hpp>
#include <tutti/error.hpp>

namespace tutti {
namespace {

template <typename Share>
std::optional<Error> failure_of(const Share& share) {
  try {
    share();
  } catch (const Error& error) {
    return error;
  } catch (const std::exception& error) {
    return Error(ErrorCode::io, error.what());
  }
  return std::nullopt;
}

/// Runs this rank's share. If it fails on any rank, all ranks throw the error of the first such rank.
template <typename Share>
void all_or_none(const Communicator& comm, const Share& share) {
  const std::optional<Error> own = failure_of(share);
  std::int32_t first = own ? comm.rank() : comm.size();
  allreduce(comm, &first, 1, min);
  if (first == comm.size()) return;
  std::string text = own ? own->what() : "";
  std::array<std::int32_t, 2> facts{own ? static_cast<std::int32_t>(own->code()) : 0,
                                    static_cast<std::int32_t>(text.size())};
  bcast(comm, facts, first);
  text.resize(static_cast<std::size_t>(facts[1]));
  bcast(comm, Buffer(text.data(), text.size(), DatatypeKind::uint8), first);
  throw Error(static_cast<ErrorCode>(facts[0]), fmt::format("rank {}: {}", first, text));
}

}  // namespace

void save_checkpoint(const Communicator& comm, const std::filesystem::path& folder,
                     const std::function<void(CheckpointPart&)>& add) {
  all_or_none(comm, [&] {
    CheckpointPart part(folder, comm.rank());
    add(part);
    part.write();
  });
  all_or_none(comm, [&] {
    if (comm.rank() == 0) commit_checkpoint(folder, comm.size());
  });
}

void load_checkpoint(const Communicator& comm, const std::filesystem::path& folder,
                     const std::function<void(const CheckpointReader&)>& read) {
  all_or_none(comm, [&] { read(CheckpointReader(folder)); });
}

}  // namespace tutti
