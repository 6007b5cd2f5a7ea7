// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <tutti/kernels/device.hpp>
#include <type_traits>
#include <vector>

#include "device/pool.hpp"
#include "kernels/device/combine.hpp"

/// The memory behind a Workspace.
namespace tutti::kernels::device {

namespace pooled_memory = tutti::detail::device;

/// The use of a piece of scratch memory. Pieces of different uses live at the same time.
enum class ScratchUse : std::uint8_t {
  keys,
  other_keys,
  values,
  other_values,
  bags,
  factors,
  starts,
  sorting,
  norms,
  often_counts,
  often_rows,
  row_parts,
  part_sums,
  winners,
  count_of_uses
};

struct Workspace::Scratch {
  /// At the start of each call: a graph that the stream is captured into keeps the memory of the call.
  void enter(StreamHandle stream);

  /// Gives at least `bytes` bytes of device memory. Unless they had to grow, they hold the data that the former call
  /// with this use left there.
  [[nodiscard]] std::byte* memory(ScratchUse use, std::size_t bytes, StreamHandle stream);
  template <typename T>
  [[nodiscard]] T* array(ScratchUse use, std::size_t count, StreamHandle stream) {
    return reinterpret_cast<T*>(memory(use, count * sizeof(T), stream));
  }

  /// Copies to device memory in stream order. Bytes equal to those of one of the last calls are not copied again.
  template <typename T>
  [[nodiscard]] const T* upload(const std::vector<T>& items, StreamHandle stream) {
    static_assert(std::is_trivially_copyable_v<T>);
    return reinterpret_cast<const T*>(upload_bytes(std::as_bytes(std::span(items)), stream));
  }

 private:
  struct Piece {
    pooled_memory::Block block;
    bool is_of_graph = false;
  };
  struct Copy {
    std::vector<std::byte> bytes;
    Piece device;
    std::uint64_t last_use = 0;
  };
  struct Retired {
    pooled_memory::Block block;
    pooled_memory::Event passed;
  };

  [[nodiscard]] const std::byte* upload_bytes(std::span<const std::byte> bytes, StreamHandle stream);
  void retire(pooled_memory::Block block, int device, StreamHandle stream);
  /// A new block in place of the piece's, which is kept for graphs that use it.
  void replace(Piece& piece, pooled_memory::Block block, int device, StreamHandle stream);
  void refuse_capture() const;
  [[nodiscard]] Copy& least_used();

  static constexpr std::size_t most_copies = 32;
  std::array<Piece, static_cast<std::size_t>(ScratchUse::count_of_uses)> pieces_;
  std::vector<Copy> copies_;
  std::deque<Retired> retired_;
  std::uint64_t calls_ = 0;
  std::vector<pooled_memory::Block> of_graphs_;  ///< until the end
  bool is_captured_ = false;                     ///< the call
};

/// The scratch memory of a call on the stream.
inline Workspace::Scratch& entered(Workspace& workspace, StreamHandle stream) {
  workspace.scratch().enter(stream);
  return workspace.scratch();
}

}  // namespace tutti::kernels::device
