// SPDX-License-Identifier: BSD-3-Clause
#include "device/pool.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <tutti/error.hpp>
#include <utility>
#include <vector>

#include "device/flag.hpp"
#include "device/kept.hpp"
#include "device/traffic.hpp"

namespace tutti::detail::device {
namespace {

constexpr std::size_t least = 256;

/// Rounds up to a multiple of a quarter of the power of two below, so that blocks are reused and little is wasted.
std::size_t class_of(std::size_t bytes) {
  if (bytes <= least) return least;
  const std::size_t step = std::max(least, std::bit_floor(bytes - 1) / 4);
  return (bytes + step - 1) / step * step;
}

}  // namespace

Block::Block(Block&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

Block& Block::operator=(Block&& other) noexcept {
  if (this == &other) return *this;
  reset();
  pool_ = std::exchange(other.pool_, nullptr);
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

void Block::reset() noexcept {
  if (data_ != nullptr) pool_->give_back(data_, size_);
  pool_ = nullptr;
  data_ = nullptr;
  size_ = 0;
}

struct Pool::State {
  MemoryKind kind;
  int device;
  std::uint64_t generation;
  mutable std::mutex mutex{};
  std::multimap<std::size_t, std::byte*> unused{};
  std::size_t held = 0;
};

Pool::Pool(MemoryKind kind, int device) : state_(new State{kind, device, runtime_generation()}) {}

Pool& Pool::of(MemoryKind kind, int device) {
  static auto* all = new Kept<std::pair<MemoryKind, int>, Pool>;
  return all->of({kind, device}, [&] { return new Pool(kind, device); });
}

Block Pool::take_unused(std::size_t bytes, std::size_t most) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->unused.lower_bound(bytes);
  if (found == state_->unused.end() || found->first > most) return {};
  Block block(this, found->second, found->first);
  state_->unused.erase(found);
  return block;
}

std::byte* Pool::grow(std::size_t bytes) {
  Runtime& runtime = required_runtime("device memory");
  const Guard guard(state_->device);
  const auto allocate = [&] { return static_cast<std::byte*>(runtime.allocate(state_->kind, bytes)); };
  std::byte* data = nullptr;
  try {
    data = allocate();
  } catch (const Error& e) {
    if (e.code() != ErrorCode::out_of_memory) throw;
  }
  if (data == nullptr) {
    trim();
    data = allocate();
  }
  const std::lock_guard lock(state_->mutex);
  state_->held += bytes;
  return data;
}

/// For an operation that is driven by a launch of this thread, which it cannot wait for.
Block Pool::acquire_beside_launch(std::size_t wanted) {
  if (Traffic::of(state_->device).is_idle()) return {this, grow(wanted), wanted};
  if (Block block = take_unused(wanted, ~std::size_t{0}); block.data() != nullptr) return block;
  throw Error(ErrorCode::out_of_memory,
              "no unused memory while NCCL connects and other NCCL work is in flight; make the call once before");
}

Block Pool::acquire(std::size_t bytes) {
  if (bytes == 0) return {};
  const std::size_t wanted = class_of(bytes);
  Traffic& traffic = Traffic::of(state_->device);
  while (true) {
    if (Block block = take_unused(wanted, 2 * wanted); block.data() != nullptr) return block;
    if (traffic.launch_mutex().is_mine()) return acquire_beside_launch(wanted);
    // CUDA might wait for the stream that a Flag holds back. Waiting for the flag would be no better, because what
    // opens it may need the operation that asks.
    if (Flag::closed_count() > 0)
      if (Block block = take_unused(wanted, ~std::size_t{0}); block.data() != nullptr) return block;
    {
      const std::unique_lock no_launch(traffic.launch_mutex(), std::try_to_lock);
      if (no_launch && traffic.is_idle()) return {this, grow(wanted), wanted};
    }
    // A block that is far too large is better than waiting for the device.
    if (Block block = take_unused(wanted, ~std::size_t{0}); block.data() != nullptr) return block;
    give_way();
  }
}

void Pool::reserve(std::size_t bytes, std::size_t blocks) {
  std::vector<Block> taken(blocks);
  for (Block& block : taken) block = acquire(bytes);
}

void Pool::give_back(std::byte* data, std::size_t size) noexcept {
  if (Runtime* runtime = device::runtime(); runtime != nullptr && runtime_generation() == state_->generation)
    runtime->note_unused(data, size);
  const std::lock_guard lock(state_->mutex);
  try {
    state_->unused.emplace(size, data);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the block is lost with the memory
  }
}

void Pool::trim() noexcept {
  Runtime* runtime = device::runtime();
  if (runtime == nullptr || runtime_generation() != state_->generation) return;
  if (!Traffic::of(state_->device).is_idle() || Flag::closed_count() > 0) return;
  try {
    const Guard guard(state_->device);
    const std::lock_guard lock(state_->mutex);
    for (const auto& [size, data] : state_->unused) {
      runtime->release(state_->kind, data);
      state_->held -= size;
    }
    state_->unused.clear();
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): without its device nothing can be freed
  }
}

std::size_t Pool::held_bytes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->held;
}

}  // namespace tutti::detail::device
