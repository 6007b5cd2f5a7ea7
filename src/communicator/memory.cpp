// SPDX-License-Identifier: BSD-3-Clause
#include "call/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tutti/error.hpp>
#include <tutti/memory.hpp>

#include "backends/prepare_device.hpp"
#include "call/agreement.hpp"
#include "call/allocations.hpp"
#include "call/check.hpp"
#include "call/context.hpp"
#include "core/arithmetic.hpp"
#include "core/config.hpp"
#include "core/mpi_call.hpp"
#include "core/random_word.hpp"
#include "device/allocations.hpp"

namespace tutti {
namespace detail {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t huge_page = std::size_t{2} << 20U;
constexpr std::size_t most_bytes = std::size_t{1} << 47U;  ///< the address space of a process

struct Wish {
  std::uint64_t bytes = 0;
  std::uint64_t random = 0;
  MemoryKind kind = MemoryKind::host;
};

/// The name of the segment that the first rank of a node made; blank if there is none.
using Offer = std::array<char, 64>;

/// Decides the same on all ranks, because every rank sees all requests.
void check(const Context& comm, const std::vector<Wish>& wishes) {
  for (std::size_t r = 0; r < wishes.size(); ++r) {
    const Wish& wish = wishes[r];
    const auto fail = [&](ErrorCode code, const std::string& problem) {
      throw Error(code, fmt::format("allocate, {}: {}", comm.describe(), problem));
    };
    if (wish.kind != wishes[0].kind)
      fail(ErrorCode::mismatch, fmt::format("argument kind is {} on rank 0 and {} on rank {}; make it equal",
                                            memory_kind_name(wishes[0].kind), memory_kind_name(wish.kind), r));
    if (wish.bytes > most_bytes)
      fail(ErrorCode::invalid_argument,
           fmt::format("argument bytes is {} on rank {}; pass at most {}", wish.bytes, r, most_bytes));
  }
  const MemoryKind kind = wishes[0].kind;
  if (kind == MemoryKind::detect || kind > MemoryKind::managed)
    throw Error(ErrorCode::invalid_argument, fmt::format("allocate, {}: argument kind is {}; pass host, pinned, device "
                                                         "or managed",
                                                         comm.describe(), memory_kind_name(kind)));
}

/// Makes a part never empty, because its address identifies it.
std::size_t part_bytes(const Wish& wish) { return round_up(std::max<std::size_t>(wish.bytes, 1), page); }

/// One rank's part in the segment of its node.
struct SegmentPart {
  int rank = 0;
  std::size_t begin = 0;
  std::size_t bytes = 0;
};

/// The parts of the ranks of this rank's node.
class Node {
 public:
  Node(const Context& comm, const std::vector<Wish>& wishes) {
    const int node = comm.node_of.node(comm.rank);
    for (int r = 0; r < comm.size; ++r) {
      if (comm.node_of.node(r) != node) continue;
      const std::size_t bytes = part_bytes(wishes[static_cast<std::size_t>(r)]);
      // Parts large enough for large pages start at a large page.
      if (bytes >= huge_page) total_ = round_up(total_, huge_page);
      if (r == comm.rank) own_ = parts_.size();
      parts_.push_back({r, total_, bytes});
      total_ += bytes;
    }
  }
  [[nodiscard]] const std::vector<SegmentPart>& parts() const { return parts_; }
  [[nodiscard]] const SegmentPart& own() const { return parts_[own_]; }
  [[nodiscard]] int leader() const { return parts_.front().rank; }
  [[nodiscard]] std::size_t total() const { return total_; }

 private:
  std::vector<SegmentPart> parts_;
  std::size_t own_ = 0;
  std::size_t total_ = 0;
};

/// Makes the segment of this rank's node and reserves this rank's part in it; `all` says which ranks succeeded.
shm::Segment map_node(const Context& comm, const Node& node, std::vector<char>& all) {
  const bool leads = comm.rank == node.leader();
  shm::Segment segment;
  shm::SegmentName made;
  std::string problem;
  if (leads && node.parts().size() > 1) segment = shm::Segment::create(node.total(), made, problem);
  Offer mine{};
  std::copy_n(made.text.data(), std::min(made.text.size(), mine.size() - 1), mine.data());
  const std::vector<Offer> offers = all_gather(comm, mine);
  const std::string name = offers[static_cast<std::size_t>(node.leader())].data();
  if (!leads && !name.empty()) segment = shm::Segment::open(name, node.total(), problem);
  const bool has_part = segment.valid() && segment.reserve(name, node.own().begin, node.own().bytes, problem);
  all = all_gather(comm, static_cast<char>(has_part));
  if (!problem.empty()) log_once("allocate: " + problem + "; the ranks of this node get ordinary memory");
  return segment;
}

bool is_shared(const Node& node, const std::vector<char>& mapped) {
  return std::ranges::all_of(node.parts(),
                             [&](const SegmentPart& p) { return mapped[static_cast<std::size_t>(p.rank)] != 0; });
}

void share(Memory& memory, shm::Segment segment, const Node& node, std::uint64_t first_id) {
  memory.segment = std::move(segment);
  memory.data = memory.segment.data() + node.own().begin;
  memory.parts.reserve(node.parts().size());
  for (const SegmentPart& part : node.parts()) {
    const std::uint64_t id = first_id + static_cast<std::uint64_t>(part.rank);
    shm::Allocations::instance().add(id, memory.segment.data() + part.begin, part.bytes, part.rank == node.own().rank);
    memory.parts.push_back(id);
  }
}

/// Allocates ordinary memory if this rank needs it. All ranks learn whether every rank that needed it got it.
void take_ordinary(Memory& memory, const Context& comm, const std::vector<Wish>& wishes) {
  std::string problem;
  if (memory.data == nullptr) {
    memory.segment = shm::Segment::alone(part_bytes(wishes[static_cast<std::size_t>(comm.rank)]), problem);
    memory.data = memory.segment.data();
  }
  const std::vector<char> all = all_gather(comm, static_cast<char>(memory.data != nullptr));
  const auto failed = std::ranges::find(all, 0);
  if (failed == all.end()) return;
  const auto rank = static_cast<std::size_t>(failed - all.begin());
  throw Error(
      ErrorCode::out_of_memory,
      fmt::format("allocate, {}: out of memory for argument bytes of rank {}, which is {}; ask for less, or use "
                  "fewer ranks per node",
                  comm.describe(), rank, wishes[rank].bytes));
}

std::unique_ptr<Memory> make_memory(const Context& comm, std::size_t bytes, MemoryKind kind) {
  const std::vector<Wish> wishes = all_gather(comm, Wish{bytes, random_word(), kind});
  check(comm, wishes);
  auto memory = std::make_unique<Memory>();
  memory->bytes = bytes;
  memory->kind = kind;
  if (kind != MemoryKind::host) {
    take_device_memory(*memory, comm);
    return memory;
  }
  const Node node(comm, wishes);
  std::vector<char> mapped(static_cast<std::size_t>(comm.size), 0);
  if (config().shared_memory && comm.topology.nodes < comm.size) {
    shm::Segment segment = map_node(comm, node, mapped);
    // Never 0, with room above it for one per rank.
    if (is_shared(node, mapped)) share(*memory, std::move(segment), node, wishes[0].random / 4 + 1);
  }
  if (std::ranges::find(mapped, 0) != mapped.end()) take_ordinary(*memory, comm, wishes);
  return memory;
}

}  // namespace

Memory::~Memory() {
  if (!parts.empty()) shm::Allocations::instance().remove(parts);
  if (range != 0) device::Allocations::instance().retire(range);
}

}  // namespace detail

Allocation::Allocation() noexcept = default;
Allocation::~Allocation() = default;
Allocation::Allocation(Allocation&&) noexcept = default;
Allocation& Allocation::operator=(Allocation&&) noexcept = default;
Allocation::Allocation(std::unique_ptr<detail::Memory> memory) noexcept : memory_(std::move(memory)) {}

void* Allocation::data() const noexcept { return memory_ ? memory_->data : nullptr; }
std::size_t Allocation::size() const noexcept { return memory_ ? memory_->bytes : 0; }
MemoryKind Allocation::kind() const noexcept { return memory_ ? memory_->kind : MemoryKind::host; }
bool Allocation::is_shared() const noexcept { return memory_ && !memory_->parts.empty(); }

Allocation allocate(const Communicator& comm, std::size_t bytes, MemoryKind kind) {
  const detail::Context& state = *comm.state();
  state.check_usable();
  if (state.check != nullptr) state.check->meet(detail::flight::Call::allocate, state.options.timeout);
  return Allocation(detail::make_memory(state, bytes, kind));
}

}  // namespace tutti
