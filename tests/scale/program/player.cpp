// SPDX-License-Identifier: BSD-3-Clause
#include "player.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "peers.hpp"
#include "schedules/registry.hpp"

namespace tutti::scale {
namespace {

using schedules::BufferName;
using schedules::Local;
using schedules::Round;
using schedules::Slice;
using schedules::Transfer;

const float* at(const Slice& slice, const Buffers& buffers) {
  const float* base = slice.buffer == BufferName::input    ? buffers.input
                      : slice.buffer == BufferName::output ? buffers.output
                                                           : buffers.scratch;
  return base + slice.offset;
}

float* written(const Slice& slice, const Buffers& buffers) {
  return (slice.buffer == BufferName::output ? buffers.output : buffers.scratch) + slice.offset;
}

std::vector<MPI_Request> posted(const Round& round, const Part& part) {
  std::vector<MPI_Request> requests;
  const auto post = [&](Transfer::Kind kind) {
    for (const Transfer& t : round.transfers) {
      if (t.kind != kind) continue;
      const int count = static_cast<int>(t.slice.count);
      const int peer = part.first + part.stride * t.peer;
      requests.push_back(MPI_REQUEST_NULL);
      if (kind == Transfer::Kind::recv)
        MPI_Irecv(written(t.slice, part.buffers), count, MPI_FLOAT, peer, part.tag, MPI_COMM_WORLD, &requests.back());
      else
        MPI_Isend(at(t.slice, part.buffers), count, MPI_FLOAT, peer, part.tag, MPI_COMM_WORLD, &requests.back());
    }
  };
  post(Transfer::Kind::recv);
  post(Transfer::Kind::send);
  return requests;
}

void wait_all(std::vector<MPI_Request>& requests) {
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

void combine(const Local& local, const Buffers& buffers) {
  std::vector<float> sum(at(local.inputs.front(), buffers), at(local.inputs.front(), buffers) + local.output.count);
  for (std::size_t i = 1; i < local.inputs.size(); ++i) {
    const float* next = at(local.inputs[i], buffers);
    std::transform(sum.begin(), sum.end(), next, sum.begin(), std::plus<>{});
  }
  std::copy(sum.begin(), sum.end(), written(local.output, buffers));
}

void work(const Round& round, const Buffers& buffers) {
  for (const Local& local : round.locals) {
    if (local.output.count == 0) continue;
    if (local.kind == Local::Kind::reduce)
      combine(local, buffers);
    else
      std::memmove(written(local.output, buffers), at(local.inputs.front(), buffers),
                   local.output.count * sizeof(float));
  }
}

}  // namespace

schedules::Schedule schedule_of(const Call& call, const Machine& machine, int rank) {
  schedules::Problem problem;
  problem.rank = rank;
  problem.size = machine.ranks();
  problem.count = count_of(call, machine.ranks());
  problem.element_size = sizeof(float);
  problem.node_of = &machine.node_of();
  problem.starts = machine.starts();
  const std::vector<std::size_t> counts(static_cast<std::size_t>(problem.size), problem.count);
  std::vector<std::size_t> displacements(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), displacements.begin(), std::size_t{0});
  if (call.operation == Operation::alltoallv) {
    problem.send_counts = problem.recv_counts = counts;
    problem.send_displs = problem.recv_displs = displacements;
  }
  if (std::optional<schedules::Schedule> of_peer = schedule_of_peer(call, problem)) return std::move(*of_peer);
  const schedules::Algorithm* algorithm = schedules::find_algorithm(call.operation, call.way);
  if (algorithm == nullptr) throw std::runtime_error("no algorithm " + call.way);
  return algorithm->generate(problem);
}

void play(const Part& part) {
  for (const Round& round : part.schedule.rounds) {
    std::vector<MPI_Request> requests = posted(round, part);
    if (!requests.empty()) wait_all(requests);
    if (part.buffers.has_data) work(round, part.buffers);
  }
}

void play_together(const std::vector<Part>& parts) {
  std::vector<std::size_t> rounds(parts.size(), 0);  // under way
  std::vector<std::size_t> waits(parts.size(), 0);   // messages of it
  std::vector<MPI_Request> requests;
  std::vector<std::size_t> owners;
  const auto go_on = [&](std::size_t i) {
    const std::vector<Round>& all = parts[i].schedule.rounds;
    for (; waits[i] == 0 && rounds[i] < all.size(); rounds[i] += waits[i] == 0 ? 1 : 0) {
      const std::vector<MPI_Request> more = posted(all[rounds[i]], parts[i]);
      requests.insert(requests.end(), more.begin(), more.end());
      owners.resize(requests.size(), i);
      waits[i] = more.size();
      if (more.empty() && parts[i].buffers.has_data) work(all[rounds[i]], parts[i].buffers);
    }
  };
  for (std::size_t i = 0; i < parts.size(); ++i) go_on(i);
  for (std::size_t left = requests.size(); left > 0;
       left = std::accumulate(waits.begin(), waits.end(), std::size_t{0})) {
    int done = 0;
    MPI_Waitany(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUS_IGNORE);
    const std::size_t i = owners[static_cast<std::size_t>(done)];
    if (--waits[i] > 0) continue;
    if (parts[i].buffers.has_data) work(parts[i].schedule.rounds[rounds[i]], parts[i].buffers);
    ++rounds[i];
    go_on(i);
  }
}

}  // namespace tutti::scale
