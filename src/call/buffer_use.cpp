// SPDX-License-Identifier: BSD-3-Clause
#include "call/buffer_use.hpp"

#include <cstring>
#include <utility>

#include "core/hash.hpp"

namespace tutti::detail {
namespace {

/// The buffers of one call, in elements.
class Uses {
 public:
  Uses(const Signature& signature, const Binding& binding) : unit_(signature.type.size()), binding_(binding) {}

  void read(std::size_t count) { uses_.add_read(binding_.input, count * unit_); }
  void write(std::size_t count) { uses_.add_written(binding_.output, count * unit_); }
  void read_output(std::size_t count) { uses_.add_read(binding_.output, count * unit_); }
  void read_blocks() {
    each_block(binding_.send_counts, binding_.send_displs, binding_.input,
               [this](const void* at, std::size_t bytes) { uses_.add_read(at, bytes); });
  }
  void write_blocks() {
    each_block(binding_.recv_counts, binding_.recv_displs, binding_.output,
               [this](const void* at, std::size_t bytes) { uses_.add_written(at, bytes); });
  }
  [[nodiscard]] BufferUses take() { return std::move(uses_); }

 private:
  template <typename Add>
  void each_block(const std::vector<std::size_t>& counts, const std::vector<std::size_t>& displs, const void* address,
                  const Add& add) const {
    for (std::size_t r = 0; r < counts.size(); ++r)
      if (counts[r] > 0) add(static_cast<const std::byte*>(address) + displs[r] * unit_, counts[r] * unit_);
  }

  std::size_t unit_;
  const Binding& binding_;
  BufferUses uses_;
};

}  // namespace

BufferUses uses_of(const Signature& s, const Binding& binding, int rank, int size) {
  using enum schedules::Operation;
  if (s.memory == MemoryClass::device || s.operation == barrier) return {};
  Uses uses(s, binding);
  const bool is_root = rank == s.root;
  const std::size_t all = s.count * static_cast<std::size_t>(size);
  // The root of a scatter reads its buffer in place too; all others overwrite it.
  const bool is_scatter = s.operation == scatter || s.operation == scatterv;
  const bool reads = !binding.in_place || is_scatter;
  const bool writes = !binding.in_place || !is_scatter;
  switch (s.operation) {
    case bcast:
      is_root ? uses.read_output(s.count) : uses.write(s.count);
      break;
    case reduce:
      if (reads) uses.read(s.count);
      if (is_root) uses.write(s.count);
      break;
    case reduce_scatter_block:
      if (reads) uses.read(all);
      uses.write(binding.in_place ? all : s.count);
      break;
    case reduce_scatter:
      if (reads) uses.read(s.count);
      uses.write(binding.in_place ? s.count : binding.recv_count);
      break;
    case gather:
      if (reads) uses.read(s.count);
      if (is_root) uses.write(all);
      break;
    case scatter:
      if (is_root) uses.read(all);
      if (writes) uses.write(s.count);
      break;
    case allgather:
      if (reads) uses.read(s.count);
      uses.write(all);
      break;
    case alltoall:
      if (reads) uses.read(all);
      uses.write(all);
      break;
    case gatherv:
    case allgatherv:
      if (reads) uses.read(binding.send_count);
      if (is_root || s.operation == allgatherv) uses.write_blocks();
      break;
    case scatterv:
      if (is_root) uses.read_blocks();
      if (writes) uses.write(binding.recv_count);
      break;
    case alltoallv:
      if (reads) uses.read_blocks();
      uses.write_blocks();
      break;
    default:  // allreduce, scan, exscan
      if (reads) uses.read(s.count);
      uses.write(s.count);
  }
  return uses.take();
}

std::uint64_t fingerprint(Bytes bytes, bool all) {
  constexpr std::size_t end = 1024;
  constexpr std::size_t samples = 128;
  if (all || bytes.size() <= 4 * end) return hash_bytes(bytes);
  Hash hash;
  hash.add(hash_bytes(bytes.first(end))).add(hash_bytes(bytes.last(end)));
  const std::size_t stride = (bytes.size() - sizeof(std::uint64_t)) / samples;
  for (std::size_t i = 0; i < samples; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i * stride, sizeof word);
    hash.add(word);
  }
  return hash.value();
}

}  // namespace tutti::detail
