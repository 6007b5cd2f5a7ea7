// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/warm_up.hpp"

#include <algorithm>
#include <mutex>

#include "backends/device/retired.hpp"
#include "device/traffic.hpp"

namespace tutti::detail::nccl {
namespace {

/// NCCL takes trees for short vectors, and rings or NVLink SHARP for long ones.
constexpr std::size_t long_vector = std::size_t{1} << 20U;
constexpr int steps = 7;

}  // namespace

WarmUp::WarmUp(CommBody& body, int rank, int size)
    : body_(body),
      rank_(rank),
      size_(size),
      lease_(body.device),
      memory_(device::Pool::of(MemoryKind::device, body.device)
                  .acquire(std::max(long_vector, static_cast<std::size_t>(size) + 1))) {
  device::required_runtime("NCCL").fill_zero(memory_.data(), memory_.size(), lease_.stream());
}

WarmUp::~WarmUp() {
  bool is_over = next_ == 0;
  try {
    if (!is_over && !done_.is_recorded()) done_.record(body_.device, lease_.stream());
    is_over = is_over || is_done();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): it may still be used
  }
  if (is_over) return;
  lease_.keep();
  retire_later(std::move(done_), std::move(memory_));
}

Result WarmUp::launch_messages() {
  if (size_ == 1 || size_ > Connections::most_peers) return Result::success;
  const Table& table = body_.table;
  Result result = table.group_start();
  for (int peer = 0; peer < size_ && result == Result::success; ++peer) {
    if (peer == rank_) continue;
    result = table.send(memory_.data(), 1, DataType::uint8, peer, body_.handle, lease_.stream());
    if (result == Result::success)
      result = table.recv(memory_.data() + 1 + peer, 1, DataType::uint8, peer, body_.handle, lease_.stream());
  }
  const Result ended = table.group_end();
  return result == Result::success ? ended : result;
}

Result WarmUp::launch(int step) {
  const Table& table = body_.table;
  CommHandle comm = body_.handle;
  StreamHandle stream = lease_.stream();
  std::byte* data = memory_.data();
  const std::size_t part = long_vector / static_cast<std::size_t>(size_);
  constexpr DataType byte = DataType::uint8;
  switch (step) {
    case 0:
      return table.all_reduce(data, data, 1, byte, RedOp::sum, comm, stream);
    case 1:
      return table.all_reduce(data, data, long_vector, byte, RedOp::sum, comm, stream);
    case 2:
      return table.reduce(data, data, 1, byte, RedOp::sum, 0, comm, stream);
    case 3:
      return table.broadcast(data, data, 1, byte, 0, comm, stream);
    case 4:
      return table.all_gather(data + static_cast<std::size_t>(rank_) * part, data, part, byte, comm, stream);
    case 5:
      return table.reduce_scatter(data, data + static_cast<std::size_t>(rank_) * part, part, byte, RedOp::sum, comm,
                                  stream);
    default:
      return launch_messages();
  }
}

Result WarmUp::advance() {
  device::Traffic& traffic = device::Traffic::of(body_.device);
  if (traffic.has_line()) return Result::in_progress;
  const std::unique_lock no_other(traffic.launch_mutex(), std::try_to_lock);
  if (!no_other) return Result::in_progress;
  const auto guard = body_.on_device();
  Result result = Result::success;
  if (is_launching_) {
    result = body_.poll();
    if (result != Result::success) return result;
    is_launching_ = false;
  } else if (next_ < steps) {
    if (!body_.table.orders_launches) traffic.follow(lease_.stream());
    result = launch(next_++);
    is_launching_ = result == Result::in_progress;
    if (result != Result::success && !is_launching_) return result;
  }
  if (is_launching_) return Result::in_progress;
  note_launches();
  return next_ < steps ? Result::in_progress : Result::success;
}

Result WarmUp::launch_all() {
  if (!body_.table.orders_launches) device::Traffic::of(body_.device).follow(lease_.stream());
  Result result = Result::success;
  while (next_ < steps && result == Result::success && !is_stopped_.load(std::memory_order_acquire))
    result = launch(next_++);
  return result;
}

void WarmUp::note_launches() {
  device::Traffic::of(body_.device).note_launch(lease_.stream());
  done_.record(body_.device, lease_.stream());
}

}  // namespace tutti::detail::nccl
