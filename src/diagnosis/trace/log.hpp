// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "diagnosis/trace/record.hpp"

namespace tutti::detail::trace {

/// Writes a rank's part of a trace: every call of the process, from its begin on, so that a rank that is killed leaves
/// all of them. The last two windows of the file are mapped; what ends later is written by a system call. Any thread;
/// calls nothing of MPI. Where there is no room, it counts what is lost.
class Log {
 public:
  /// file: the name of the whole trace. The part's name has the rank appended, once it is known, and until then the
  /// host and the process. Null, with the problem in words, if the part cannot be made.
  [[nodiscard]] static std::unique_ptr<Log> create(const std::string& file, std::string_view command,
                                                   std::string& problem);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  [[nodiscard]] SlotNumber begin_call(const flight::Facts& facts, flight::State state) noexcept;
  void wait(SlotNumber slot) noexcept;
  void end_call(SlotNumber slot, flight::State state) noexcept;
  /// Writes from whom a message has come that was awaited from any rank or with any tag.
  void came_from(SlotNumber slot, int source, int tag) noexcept;
  /// Writes a message of a group.
  void add_transfer(SlotNumber group, bool is_recv, int peer, int tag, std::uint64_t bytes) noexcept;

  /// Writes the blocks of a call with counts, one for each rank, in bytes.
  void add_blocks(SlotNumber call, bool is_taken, std::span<const std::uint64_t> bytes) noexcept;

  /// A longer name is cut.
  [[nodiscard]] SlotNumber begin_range(std::string_view name) noexcept;
  void end_range(SlotNumber slot) noexcept;

  /// Keeps the slot of a call that is not over, because its entry in the ring is written over.
  void keep(std::uint64_t number, SlotNumber slot) noexcept;
  /// The slot that was kept; 0: none. is_over: it is wanted no more.
  [[nodiscard]] SlotNumber kept(std::uint64_t number, bool is_over) noexcept;

  void add_communicator(std::uint32_t number, std::uint64_t mark, int rank, int size, std::string_view name) noexcept;
  void add_text(flight::TextNumber number, std::string_view text) noexcept;
  void add_offset(std::uint64_t own, std::uint64_t other, std::uint64_t round_trip) noexcept;

  /// Writes who this process is, and names the part by it.
  void introduce(std::uint64_t job, int world_rank, int world_size) noexcept;
  /// Writes a job that is known better than by the first communicator.
  void join(std::uint64_t job) noexcept;
  /// Writes that MPI has ended, and cuts the file to its length. What comes later is not written.
  void finish() noexcept;

  /// The name of the whole trace.
  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  [[nodiscard]] std::uint64_t machine() const noexcept { return header_->machine; }

 private:
  struct Window {
    std::byte* data = nullptr;
    std::uint32_t number = 0;
  };

  Log(std::string file, std::string part, int descriptor, PartHeader* header);

  template <typename Record>
  [[nodiscard]] SlotNumber append(const Record& record) noexcept;
  [[nodiscard]] bool open_window(std::uint32_t number) noexcept;
  void close_window(Window& window) noexcept;
  /// Writes to a record, mapped or not.
  template <typename T>
  void put(SlotNumber slot, std::size_t offset, const T& value) noexcept;
  [[nodiscard]] static std::uint32_t thread() noexcept;

  std::mutex mutex_;
  std::string file_;
  std::string part_;
  int descriptor_;
  PartHeader* header_;
  Window current_{};
  Window previous_{};
  bool is_open_ = true;
  bool is_full_ = false;
  std::unordered_map<std::uint64_t, SlotNumber> kept_;
};

}  // namespace tutti::detail::trace
