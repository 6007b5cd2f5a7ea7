// SPDX-License-Identifier: BSD-3-Clause
#include "peers.hpp"

#include <string>
#include <string_view>

#include "schedules/builder.hpp"

namespace tutti::scale {
namespace {

using schedules::Builder;
using schedules::input;
using schedules::output;
using schedules::Problem;
using schedules::Schedule;
using schedules::scratch;
using schedules::wrap;

constexpr std::string_view scattered_prefix = "scattered:";

Schedule alltoall_scattered(const Problem& p, int at_once) {
  Builder b;
  const schedules::Blocks blocks = schedules::uniform_blocks(p.count, p.size);
  b.copy(input(blocks[p.rank]), output(blocks[p.rank]));
  for (int step = 1; step < p.size; ++step) {
    if (step % at_once == 0) b.end_round();
    const int source = wrap(p.rank + step, p.size);
    const int target = wrap(p.rank - step, p.size);
    b.recv(source, output(blocks[source]));
    b.send(target, input(blocks[target]));
  }
  return b.finish(0, false);
}

Schedule alltoall_exchange(const Problem& p) {
  Builder b;
  const schedules::Blocks blocks = schedules::uniform_blocks(p.count, p.size);
  b.copy(input(blocks[p.rank]), output(blocks[p.rank]));
  for (int step = 1; step < p.size; ++step) {
    b.send(p.rank ^ step, input(blocks[p.rank ^ step]));
    b.recv(p.rank ^ step, output(blocks[p.rank ^ step]));
    b.end_round();
  }
  return b.finish(0, false);
}

Schedule reduce_scatter_pairwise(const Problem& p) {
  Builder b;
  const schedules::Blocks blocks = schedules::uniform_blocks(p.count, p.size);
  const schedules::Slice sum = output(0, p.count);
  schedules::Slice mine = input(blocks[p.rank]);
  if (p.size == 1) b.copy(mine, sum);
  for (int step = 1; step < p.size; ++step) {
    b.send(wrap(p.rank + step, p.size), input(blocks[wrap(p.rank + step, p.size)]));
    b.recv(wrap(p.rank - step, p.size), scratch(0, p.count));
    b.reduce({mine, scratch(0, p.count)}, sum);
    b.end_round();
    mine = sum;
  }
  return b.finish(p.count, false);
}

}  // namespace

std::optional<Schedule> schedule_of_peer(const Call& call, const Problem& problem) {
  if (call.operation == Operation::alltoall && call.way.starts_with(scattered_prefix))
    return alltoall_scattered(problem, std::stoi(call.way.substr(scattered_prefix.size())));
  if (call.operation == Operation::alltoall && call.way == "exchange") return alltoall_exchange(problem);
  if (call.operation == Operation::reduce_scatter_block && call.way == "pairwise")
    return reduce_scatter_pairwise(problem);
  return std::nullopt;
}

}  // namespace tutti::scale
