// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace tutti::detail {

/// What tells a process from all others, as plain bytes that ranks exchange.
struct ProcessIdentity {
  std::uint64_t number = 0;   ///< random
  std::uint64_t machine = 0;  ///< of the running kernel; 0: unknown
  std::uint64_t space = 0;    ///< the namespace of its process id; 0: unknown
  std::int32_t process = 0;   ///< its id there
  [[nodiscard]] bool sees(const ProcessIdentity& other) const noexcept {
    return machine != 0 && space != 0 && machine == other.machine && space == other.space;
  }
};

/// The identity of this process.
[[nodiscard]] ProcessIdentity own_identity(std::uint64_t number);

/// Sees the end of another process. Of one of the same kernel by a descriptor of the process (Linux 5.3), which is not
/// fooled when the kernel gives the id to a new process, or, where that is refused, by the process's start time; of any
/// other once tell_ended() is called. A process that cannot be looked at, say because this one has no free descriptor,
/// counts as alive.
class ProcessWatch {
 public:
  enum class Method : std::uint8_t { descriptor, start_time, told };
  explicit ProcessWatch(pid_t process, Method method = Method::descriptor) noexcept;
  ~ProcessWatch();
  ProcessWatch(const ProcessWatch&) = delete;
  ProcessWatch& operator=(const ProcessWatch&) = delete;

  /// The watch of a process, shared by all communicators with it. Any thread.
  [[nodiscard]] static std::shared_ptr<const ProcessWatch> of(const ProcessIdentity& who,
                                                              Method method = Method::descriptor);
  /// Says that a process has ended. number: of its identity. Any thread.
  static void tell_ended(std::uint64_t number);

  /// True from its end on, even before its parent has waited for it. A system call or two, or none for one that is
  /// told.
  [[nodiscard]] bool has_ended() const noexcept;
  [[nodiscard]] bool is_told() const noexcept { return is_told_; }
  [[nodiscard]] pid_t process() const noexcept { return process_; }

 private:
  [[nodiscard]] bool looks_ended() const noexcept;

  pid_t process_;
  bool is_told_;
  std::atomic<bool> has_been_told_{false};
  int descriptor_ = -1;
  bool is_gone_ = false;                              ///< before it could be watched
  mutable std::atomic<std::uint64_t> start_time_{0};  ///< in ticks; used without a descriptor; 0: not seen yet
};

/// A number of the running kernel, equal for all processes and containers of a machine until it boots again; 0:
/// unknown. Virtual machines that go on from one snapshot may have the same one.
[[nodiscard]] std::uint64_t kernel_number();

}  // namespace tutti::detail
