// SPDX-License-Identifier: BSD-3-Clause
#include "backends/prepare_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <string_view>
#include <tutti/error.hpp>

#include "backends/nccl/state.hpp"
#include "call/agreement.hpp"
#include "core/mpi_call.hpp"
#include "device/allocations.hpp"
#include "device/at_rest.hpp"
#include "device/traffic.hpp"

namespace tutti::detail {
namespace {

struct Piece {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  std::function<void()> release{};
};

/// A rank's report on its part.
struct Outcome {
  ErrorCode code = ErrorCode::success;
  std::uint64_t nccl_bytes = 0;  ///< 0: the memory is not NCCL's
  std::array<char, 240> text{};
};

/// Asks NCCL for memory, in whole pages because NCCL registers no less. Empty if NCCL has none; the caller then asks
/// CUDA.
Piece ask_nccl(const nccl::Table& table, std::size_t wanted) {
  constexpr std::size_t page = 4096;
  const std::size_t bytes = (wanted + page - 1) / page * page;
  void* data = nullptr;
  if (table.mem_alloc == nullptr || table.mem_free == nullptr ||
      table.mem_alloc(&data, bytes) != nccl::Result::success || data == nullptr)
    return {};
  return {static_cast<std::byte*>(data), bytes, [data, free = table.mem_free] { (void)free(data); }};
}

Piece ask_cuda(device::Runtime& runtime, MemoryKind kind, std::size_t bytes) {
  void* data = runtime.allocate(kind, bytes);
  return {static_cast<std::byte*>(data), bytes, [&runtime, kind, data] { runtime.release(kind, data); }};
}

void zero(device::Runtime& runtime, MemoryKind kind, std::byte* data, std::size_t bytes) {
  if (kind == MemoryKind::pinned) {
    std::memset(data, 0, bytes);
    return;
  }
  device::StreamHandle stream = runtime.create_stream();
  try {
    runtime.fill_zero(data, bytes, stream);
    while (!runtime.is_idle(stream)) device::give_way();
  } catch (...) {
    runtime.destroy_stream(stream);
    throw;
  }
  runtime.destroy_stream(stream);
}

/// The number of bytes that are NCCL's.
std::uint64_t take(Memory& memory, const Context& comm) {
  device::Runtime& runtime = device::required_runtime("memory of CUDA");
  if (runtime.device_count() == 0)
    throw Error(ErrorCode::cuda, "no GPU was found; give every rank a GPU, or pass MemoryKind::host");
  const int device = comm.device ? comm.device->device : runtime.current_device();
  const device::Guard guard(device);
  device::Allocations& all = device::Allocations::instance();
  all.sweep();
  const std::size_t bytes = std::max<std::size_t>(memory.bytes, 1);
  std::uint64_t of_nccl = 0;
  device::at_rest(device, [&] {
    Piece piece;
    const nccl::State* nccl_state = nccl::state_of(comm);
    if (memory.kind == MemoryKind::device && nccl_state != nullptr) piece = ask_nccl(nccl_state->comm().table(), bytes);
    of_nccl = piece.bytes;
    if (piece.data == nullptr) piece = ask_cuda(runtime, memory.kind, bytes);
    memory.data = piece.data;
    memory.range = all.add(piece.data, piece.bytes, memory.kind, device, std::move(piece.release));
  });
  zero(runtime, memory.kind, memory.data, bytes);
  return of_nccl;
}

Outcome try_to_take(Memory& memory, const Context& comm) noexcept {
  Outcome outcome;
  const auto failed = [&](ErrorCode code, std::string_view text) {
    outcome.code = code;
    std::copy_n(text.data(), std::min(text.size(), outcome.text.size() - 1), outcome.text.data());
  };
  try {
    outcome.nccl_bytes = take(memory, comm);
  } catch (const Error& e) {
    failed(e.code(), e.what());
  } catch (const std::exception& e) {
    failed(ErrorCode::internal, e.what());
  }
  return outcome;
}

/// A rank deregisters a window when its own part is freed and its device is idle: at another time on each rank.
void agree_on_windows(nccl::Comm& nccl_comm, const Context& comm) {
  std::vector<int> windows = nccl_comm.windows();
  if (windows.empty()) return;
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallreduce(MPI_IN_PLACE, windows.data(), static_cast<int>(windows.size()), MPI_INT, MPI_MIN,
                           comm.point_to_point, &request),
            "MPI_Iallreduce");
  wait_yielding(request, "MPI_Iallreduce");
  device::at_rest(nccl_comm.device(), [&] { nccl_comm.keep_windows(windows); });
}

}  // namespace

void take_device_memory(Memory& memory, const Context& comm) {
  const std::vector<Outcome> all = all_gather(comm, try_to_take(memory, comm));
  const auto failed = std::ranges::find_if(all, [](const Outcome& o) { return o.code != ErrorCode::success; });
  if (failed != all.end())
    throw Error(failed->code, fmt::format("allocate, {}: {} memory on rank {}: {}", comm.describe(),
                                          memory_kind_name(memory.kind), failed - all.begin(), failed->text.data()));
  const bool is_symmetric = all[0].nccl_bytes > 0 && std::ranges::all_of(all, [&](const Outcome& o) {
                              return o.nccl_bytes == all[0].nccl_bytes;
                            });
  if (!is_symmetric || !registers_device_memory(comm) || comm.device->nccl_version < nccl::version_of_windows) return;
  const nccl::State* nccl_state = nccl::state_of(comm);
  const device::Allocations::Hold hold;
  agree_on_windows(nccl_state->comm(), comm);
  // If NCCL refuses, its calls use the memory like any other memory.
  const device::Guard guard(comm.device->device);
  (void)nccl_state->comm().register_window(memory.data, comm.options.timeout);
}

bool registers_device_memory(const Context& comm) {
  const nccl::State* nccl_state = nccl::state_of(comm);
  return nccl_state != nullptr && nccl_state->registers();
}

}  // namespace tutti::detail
