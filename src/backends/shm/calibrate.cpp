// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/calibrate.hpp"

#include <sched.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "backends/shm/arena.hpp"
#include "backends/shm/peer_memory.hpp"
#include "backends/shm/pieces.hpp"
#include "core/hwloc_handle.hpp"
#include "core/stopwatch.hpp"
#include "kernels/combine.hpp"
#include "kernels/copy.hpp"

namespace tutti::detail::shm {
namespace {

/// The rank that this rank measures costs with. The two signal each other by the first line of cell 0, with numbers
/// that no later use of the cell takes for its own, because they have generation 0.
class Partner {
 public:
  Partner(Arena& arena, int rank) : arena_(&arena), rank_(rank) {
    // Both have signalled equally often if they have measured before.
    sent_ = received_ = mine()->flag.load(std::memory_order_relaxed);
  }

  [[nodiscard]] int rank() const { return rank_; }
  /// The lower rank of the two does first what they do in turn.
  [[nodiscard]] bool is_first() const { return arena_->rank() < rank_; }
  [[nodiscard]] Line* mine(int cell = 0) const { return arena_->cell(arena_->rank(), cell).lines; }
  [[nodiscard]] const Line* theirs(int cell = 0) const { return arena_->cell(rank_, cell).lines; }
  /// A ring. Both have it, or the near one in its place.
  [[nodiscard]] RingKind ring(RingKind wanted) {
    const bool is_mine = arena_->prepare_ring(wanted);
    if (!is_mine) static_cast<void>(arena_->prepare_ring(RingKind::near));
    *mine()->payload = std::byte{is_mine};
    meet();
    const bool is_theirs = *theirs()->payload == std::byte{1};
    meet();
    return is_mine && is_theirs ? wanted : RingKind::near;
  }
  [[nodiscard]] std::byte* my_ring(RingKind kind) const { return arena_->ring(arena_->rank(), kind); }
  [[nodiscard]] const std::byte* their_ring(RingKind kind) const { return arena_->ring(rank_, kind); }
  [[nodiscard]] pid_t process() const { return arena_->process(rank_); }

  void signal() { mine()->flag.store(++sent_, std::memory_order_release); }
  void await() { await(theirs()->flag, ++received_); }
  void meet() {
    signal();
    await();
  }
  /// Waits until a flag has a value.
  static void await(const std::atomic<std::uint64_t>& flag, std::uint64_t value) {
    constexpr int looks = 20000;
    while (true) {
      for (int i = 0; i < looks; ++i)
        if (flag.load(std::memory_order_acquire) >= value) return;
      sched_yield();
    }
  }

 private:
  Arena* arena_;
  int rank_;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
};

constexpr std::size_t short_bytes = 256;
constexpr std::size_t far_bytes = std::size_t{1} << 20U;  // beyond the nearest caches of most processors

/// Touched memory on huge pages where the system has them, as large buffers of programs have. It begins `shift` bytes
/// behind the begin of a page, because a core confuses addresses at the same place of two pages.
class Memory {
 public:
  Memory(std::size_t bytes, std::size_t shift)
      : data_(static_cast<std::byte*>(std::aligned_alloc(huge_page, ceil_div(bytes + shift, huge_page) * huge_page))),
        shift_(shift) {
    if (data_ == nullptr) throw std::bad_alloc();
    std::memset(data(), 1, bytes);
  }
  [[nodiscard]] std::byte* data() const { return data_.get() + shift_; }

 private:
  static constexpr std::size_t huge_page = std::size_t{2} << 20U;
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t shift_;
};

double difference(double more, double less) { return std::max(more - less, 0.0); }

/// Half the time of a line there and back, as the protocol `line` sends it.
double handover(Partner& partner, std::uint64_t& sent) {
  constexpr int trips = 20;
  const auto put = [&] {
    std::array<std::byte, line_bytes> data{};
    std::memcpy(partner.mine()[1].payload, data.data(), line_bytes);
    partner.mine()[1].flag.store(sent, std::memory_order_release);
  };
  const auto get = [&] {
    std::array<std::byte, line_bytes> data{};
    Partner::await(partner.theirs()[1].flag, sent);
    std::memcpy(data.data(), partner.theirs()[1].payload, line_bytes);
  };
  return least_of(5, [&] {
    partner.meet();
    const Stopwatch watch;
    for (int i = 0; i < trips; ++i) {
      ++sent;
      if (partner.is_first()) put();
      get();
      if (!partner.is_first()) put();
    }
    return watch.seconds() / (2 * trips);
  });
}

void measure_line(Partner& partner, Costs& costs) {
  std::uint64_t sent = partner.mine()[1].flag.load(std::memory_order_relaxed);
  costs.line = handover(partner, sent);
}

/// The times of one piece that passes through a ring.
struct PieceTimes {
  double write = 0;
  double read = 0;
};

/// Both ranks write a piece into their rings, then both read the other's, round the ring twice at least: the first time
/// they find fresh memory, and what a write costs depends on where its lines were read last. The wide ring serves long
/// calls, whose buffers drive its lines out of the cores' own caches.
template <typename Write>
PieceTimes pass_through(Partner& partner, RingKind kind, std::size_t piece, const Memory& source, const Memory& target,
                        const Write& write) {
  constexpr std::size_t fewest = 6;
  const double watching = median_of(15, [] { return Stopwatch().seconds(); });
  const std::size_t places = ring_bytes(kind) / piece;
  const std::size_t measured = std::max(places, fewest);
  const std::size_t parts = kind == RingKind::wide ? far_bytes / piece : 1;
  std::vector<double> writes;
  std::vector<double> reads;
  for (std::size_t i = 0; i < places + measured; ++i) {
    const std::size_t at = i % places * piece;
    const std::size_t part = i % parts * piece;
    partner.meet();
    const Stopwatch of_write;
    write(partner.my_ring(kind) + at, source.data() + part, piece);
    // Until the lines are this core's.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const double written = difference(of_write.seconds(), watching);
    partner.meet();
    const Stopwatch of_read;
    kernels::copy(target.data() + part, partner.their_ring(kind) + at, piece);
    const double taken = difference(of_read.seconds(), watching);
    if (i < places) continue;
    writes.push_back(written);
    reads.push_back(taken);
  }
  return {median(std::move(writes)), median(std::move(reads))};
}

void measure_rings(Partner& partner, const Memory& source, const Memory& target, Costs& costs) {
  const auto pass = [&](RingKind wanted, std::size_t piece, const auto& write) {
    return pass_through(partner, partner.ring(wanted), piece, source, target, write);
  };
  const auto rates = [](const PieceTimes& times, std::size_t piece, double& write, double& read) {
    write = times.write / static_cast<double>(piece);
    read = times.read / static_cast<double>(piece);
  };
  rates(pass(RingKind::near, short_piece, kernels::copy), short_piece, costs.slot_write, costs.slot_read);
  rates(pass(RingKind::near, long_piece, kernels::copy), long_piece, costs.stream_write, costs.stream_read);
  rates(pass(RingKind::wide, long_piece, kernels::copy), long_piece, costs.wide_write, costs.wide_read);
  const PieceTimes few = pass(RingKind::near, short_piece, kernels::stream_copy);
  const PieceTimes many = pass(RingKind::near, long_piece, kernels::stream_copy);
  rates(many, long_piece, costs.uncached_write, costs.uncached_read);
  costs.uncached_start =
      difference(few.write + few.read, (costs.uncached_write + costs.uncached_read) * static_cast<double>(short_piece));
}

void measure_copies(Partner& partner, const Memory& source, const Memory& target, Costs& costs) {
  const auto copy = [&](std::size_t bytes, int repeats) {
    const Stopwatch watch;
    for (int i = 0; i < repeats; ++i) kernels::copy(target.data(), source.data(), bytes);
    return watch.seconds() / (static_cast<double>(bytes) * repeats);
  };
  costs.copy = median_of(9, [&] { return copy(long_piece / 4, 8); });
  partner.meet();
  costs.far_copy = median_of(5, [&] { return copy(far_bytes, 1); });
  const auto combine = [&](DatatypeKind type, std::size_t unit) {
    const std::size_t bytes = far_bytes / 4;
    const std::array<const void*, 2> inputs{source.data(), source.data() + bytes};
    const Stopwatch watch;
    kernels::combine(type, ReduceKind::sum, inputs, target.data(), bytes / unit);
    return watch.seconds() / static_cast<double>(2 * bytes);
  };
  costs.combine = median_of(5, [&] { return combine(DatatypeKind::float32, 4); });
  costs.combine_narrow = median_of(5, [&] { return combine(DatatypeKind::bfloat16, 2); });
}

/// The times of a kernel copy of a few bytes, of a block within the caches, and of a larger one.
struct KernelTimes {
  double few = 0;
  double near = 0;
  double far = 0;
};

/// Copies from the partner's memory as the protocol `single_copy` does: by loads where it is attached, else by the
/// kernel.
class Reader {
 public:
  Reader(Arena& arena, const Partner& partner, std::uint64_t address, std::size_t bytes)
      : process_(partner.process()),
        address_(address),
        attached_(arena.mapped_copy() ? arena.peer(partner.rank()).attach(address, bytes) : nullptr) {}
  void read(std::byte* to, std::size_t bytes, std::size_t offset = 0) const {
    if (attached_ != nullptr)
      kernels::copy(to, attached_->at(address_ + offset), bytes);
    else
      read_memory(process_, address_ + offset, to, bytes);
  }

 private:
  pid_t process_;
  std::uint64_t address_;
  AttachmentPtr attached_;
};

KernelTimes kernel_times(Partner& partner, const Reader& reader, const Memory& target, bool reads) {
  const double watching = median_of(15, [] { return Stopwatch().seconds(); });
  const auto time = [&](std::size_t bytes, int times) {
    partner.meet();
    // The first two find neither the pages nor the lines where later ones do.
    for (int i = 0; reads && i < 2; ++i) reader.read(target.data(), bytes);
    const double found = median_of(times, [&] {
      const Stopwatch watch;
      if (reads) reader.read(target.data(), bytes);
      return difference(watch.seconds(), watching);
    });
    partner.meet();
    return found;
  };
  return {time(short_bytes, 12), time(long_piece, 8), time(far_bytes, 5)};
}

void derive(const KernelTimes& times, double& call, double& byte, double& far_byte) {
  byte = difference(times.near, times.few) / static_cast<double>(long_piece - short_bytes);
  far_byte = difference(times.far, times.near) / static_cast<double>(far_bytes - long_piece);
  call = times.few;
}

std::uint64_t address_of_partner(Partner& partner, const Memory& mine) {
  const auto address = reinterpret_cast<std::uint64_t>(mine.data());
  std::memcpy(partner.mine()->payload, &address, sizeof address);
  partner.meet();
  std::uint64_t theirs = 0;
  std::memcpy(&theirs, partner.theirs()->payload, sizeof theirs);
  partner.meet();
  return theirs;
}

void measure_kernel(Arena& arena, Partner& partner, const Memory& source, const Memory& target, Costs& costs) {
  const Reader reader(arena, partner, address_of_partner(partner, source), far_bytes);
  const KernelTimes first = kernel_times(partner, reader, target, partner.is_first());
  const KernelTimes second = kernel_times(partner, reader, target, !partner.is_first());
  derive(partner.is_first() ? first : second, costs.kernel_call, costs.kernel_byte, costs.kernel_far_byte);
  derive(kernel_times(partner, reader, target, true), costs.kernel_busy_call, costs.kernel_busy_byte,
         costs.kernel_busy_far_byte);
}

/// Both ranks read what no core but the other's has touched.
void measure_cold_kernel(Arena& arena, Partner& partner, const Memory& target, Costs& costs) {
  constexpr std::size_t pieces = 3;
  const Memory mine(pieces * far_bytes, 0);
  const Reader reader(arena, partner, address_of_partner(partner, mine), pieces * far_bytes);
  std::size_t at = 0;
  const double time = median_of(pieces, [&] {
    partner.meet();
    const Stopwatch watch;
    reader.read(target.data(), far_bytes, at);
    at += far_bytes;
    return watch.seconds();
  });
  costs.kernel_cold_byte = time / static_cast<double>(far_bytes);
  partner.meet();
}

}  // namespace

void calibrate(Arena& arena, Costs& costs, Calibration kind) {
  const int half = arena.size() / 2;
  if (arena.rank() >= 2 * half) return;
  Partner partner(arena, (arena.rank() + half) % (2 * half));
  if (kind == Calibration::check) return measure_line(partner, costs);
  const auto caches = static_cast<double>(last_level_cache_bytes());
  if (caches > 0) costs.cache_part = arena.size() / caches;
  const Memory source(far_bytes, 0);
  const Memory other(far_bytes, 0);
  const Memory target(far_bytes, 1344);
  measure_line(partner, costs);
  measure_rings(partner, source, target, costs);
  measure_copies(partner, other, target, costs);
  if (!arena.direct_copy()) return;
  measure_kernel(arena, partner, source, target, costs);
  measure_cold_kernel(arena, partner, target, costs);
}

}  // namespace tutti::detail::shm
