// SPDX-License-Identifier: BSD-3-Clause
#include "player.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <vector>

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

void exchange(const Round& round, const Buffers& buffers) {
  std::vector<MPI_Request> requests;
  const auto post = [&](Transfer::Kind kind) {
    for (const Transfer& t : round.transfers) {
      if (t.kind != kind) continue;
      const int count = static_cast<int>(t.slice.count);
      requests.push_back(MPI_REQUEST_NULL);
      if (kind == Transfer::Kind::recv)
        MPI_Irecv(written(t.slice, buffers), count, MPI_FLOAT, t.peer, 1, MPI_COMM_WORLD, &requests.back());
      else
        MPI_Isend(at(t.slice, buffers), count, MPI_FLOAT, t.peer, 1, MPI_COMM_WORLD, &requests.back());
    }
  };
  post(Transfer::Kind::recv);
  post(Transfer::Kind::send);
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
  const schedules::Algorithm* algorithm = schedules::find_algorithm(call.operation, call.way);
  if (algorithm == nullptr) throw std::runtime_error("no algorithm " + call.way);
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
  if (call.operation == schedules::Operation::alltoallv) {
    problem.send_counts = problem.recv_counts = counts;
    problem.send_displs = problem.recv_displs = displacements;
  }
  return algorithm->generate(problem);
}

void play(const schedules::Schedule& schedule, const Buffers& buffers) {
  for (const Round& round : schedule.rounds) {
    if (!round.transfers.empty()) exchange(round, buffers);
    if (buffers.has_data) work(round, buffers);
  }
}

}  // namespace tutti::scale
