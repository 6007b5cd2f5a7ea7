// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <tutti/checkpoint.hpp>
#include <tutti/collectives/allreduce.hpp>

#include "embedding_handles.hpp"

using namespace tutti::c;
using tutti::Error;
using tutti::ErrorCode;

namespace {

/// Runs this rank's share. If it fails on any rank, all ranks throw.
template <typename Share>
void all_or_none(const tutti::Communicator& comm, const Share& share) {
  std::string problem;
  try {
    share();
  } catch (const Error& error) {
    problem = error.what();
  }
  std::vector<std::int32_t> failed{problem.empty() ? comm.size() : comm.rank()};
  std::vector<std::int32_t> first(1);
  tutti::allreduce(comm, failed, first, tutti::min);
  if (first[0] == comm.size()) return;
  throw Error(ErrorCode::io, problem.empty() ? fmt::format("rank {} failed; see its message", first[0]) : problem);
}

}  // namespace

int tutti_embedding_save(tutti_embedding_t collection, const char* folder) {
  return guard([&] {
    const EmbeddingRecord& handle = whole(collection, "collection");
    if (folder == nullptr) throw_null("folder", "pass a path");
    all_or_none(*handle.comm, [&] {
      tutti::CheckpointPart part(folder, handle.comm->rank());
      handle.collection.add_to(part);
      part.write();
    });
    all_or_none(*handle.comm, [&] {
      if (handle.comm->rank() == 0) tutti::commit_checkpoint(folder, handle.comm->size());
    });
  });
}

int tutti_embedding_load(tutti_embedding_t collection, const char* folder) {
  return guard([&] {
    EmbeddingRecord& handle = whole(collection, "collection");
    if (folder == nullptr) throw_null("folder", "pass a path");
    all_or_none(*handle.comm, [&] { handle.collection.load(tutti::CheckpointReader(folder)); });
  });
}
