// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/standin/nccl.hpp"
#include "support/standin/nccl_arithmetic.hpp"
#include "support/standin/nccl_wire.hpp"

/// What is behind the stand-in NCCL. Its mutex is never held while the stand-in runtime is called, which calls back.
namespace tutti::standin {

using detail::device::Uuid;
using detail::nccl::CommHandle;
using detail::nccl::Result;
using detail::nccl::ScalarResidence;
using detail::nccl::UniqueId;
using detail::nccl::WindowHandle;

struct NcclState;
class Launch;

/// An operation that premultiplies, of a communicator.
struct Factor {
  DataType type = DataType::float32;
  Bytes value{};
  const void* on_device = nullptr;  ///< read while the work is done; null: `value`
};

struct Operation {
  enum class Kind : std::uint8_t {
    put_signal,
    signal,
    wait_signal,
    send,
    recv,
    all_reduce,
    reduce,
    broadcast,
    all_gather,
    reduce_scatter,
    all_to_all,
    gather,
    scatter
  };
  Kind kind = Kind::send;
  const void* in = nullptr;
  void* out = nullptr;
  std::size_t count = 0;
  DataType type = DataType::uint8;
  RedOp op = RedOp::sum;
  std::optional<Factor> factor{};
  int peer = 0;  ///< or root
  WindowHandle window = nullptr;
  std::size_t offset = 0;                         ///< in the window
  std::vector<detail::nccl::SignalWait> waits{};  ///< for whose signals
  std::string selection{};                        ///< of a collective that is told its algorithm
  bool takes_no_ctas = false;                     ///< the same, of copy engines
  [[nodiscard]] bool may_be_copies() const { return kind == Kind::all_gather || kind >= Kind::all_to_all; }
  [[nodiscard]] bool is_one_sided() const { return kind <= Kind::wait_signal; }
  [[nodiscard]] bool is_collective() const { return kind > Kind::recv; }
  [[nodiscard]] bool reduces() const {
    return kind == Kind::all_reduce || kind == Kind::reduce || kind == Kind::reduce_scatter;
  }
  [[nodiscard]] std::size_t bytes() const { return count * bytes_of(type); }
  [[nodiscard]] std::string name() const;  ///< "all_reduce"
  [[nodiscard]] std::string text() const;  ///< as in the record
};

/// How the ranks of a new communicator find each other: all tell rank 0, who made the id; it tells all.
class Meeting {
 public:
  Meeting(std::uint64_t id, int creator, int rank, int size, Uuid device);
  ~Meeting();
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;
  /// True when all are there: then `members` is set.
  [[nodiscard]] bool advance(Members& members);
  [[nodiscard]] bool shares_devices() const { return shares_devices_; }

 private:
  struct Hello {
    int rank = 0;
    int world = 0;
    Uuid device{};
  };
  std::uint64_t id_;
  int creator_;
  int rank_;
  std::shared_ptr<std::vector<Hello>> roster_;
  std::vector<MPI_Request> requests_{};
  bool told_ = false;
  bool shares_devices_ = false;
};

/// A split that is in progress: each rank tells all others its choice.
struct NcclSplit {
  struct Choice {
    int color = 0;
    int key = 0;
    std::uint64_t id = 0;  ///< of the part in which the rank is the first
  };
  NcclSplit(const Members& whole, const Choice& choice);
  /// Of this rank's part, once all choices have come.
  [[nodiscard]] Members members(const Members& whole) const;
  Exchange exchange;
  Choice own;
  CommHandle* made = nullptr;
  detail::nccl::Config config{};
};

/// What a CommHandle is.
struct NcclComm {
  enum class Phase : std::uint8_t { making, ready, finalizing, finalized, destroyed, aborted };
  NcclState* state = nullptr;
  Phase phase = Phase::making;
  bool is_blocking = false;  ///< calls return when nothing is in progress
  int device = 0;
  Members members{};
  std::unique_ptr<Meeting> meeting{};  ///< null: never ends
  int looks = 0;                       ///< answers in_progress so often
  Result error = Result::success;
  std::vector<std::shared_ptr<Launch>> pending{};         ///< launched, but not on its stream
  std::set<std::pair<Operation::Kind, int>> connected{};  ///< collectives, 1: in windows; messages as (send, peer)
  std::unique_ptr<Exchange> connecting{};  ///< of a first launch, which stays in progress until the peers launch too
  std::unique_ptr<NcclSplit> splitting{};
  bool shares = false;                                                      ///< resources, with parts
  bool takes_no_ctas = false;                                               ///< where copy engines can do the work
  std::shared_ptr<bool> family_is_aborted = std::make_shared<bool>(false);  ///< of those that share resources
  std::pair<WindowHandle*, WindowHandle> window{};                          ///< what comes when `looks` is over
  bool is_busy = false;                                                     ///< anything above is awaited
  bool is_running = false;                                                  ///< a launch has its turn
  std::uint64_t launched = 0;  ///< tickets given; work is done in their order
  std::uint64_t finished = 0;
  std::uint64_t collectives = 0;  ///< launches with a collective, for the order across communicators
  std::atomic<int> graphs{0};
  int next_op = static_cast<int>(RedOp::avg) + 1;
  std::map<int, Factor> factors{};
  std::set<void*> registrations{};
  struct Window {
    std::size_t place = 0;
    std::size_t bytes = 0;
    const std::byte* address = nullptr;
    std::uint64_t number = 0;  ///< the same on all ranks
    bool is_symmetric = false;
  };
  std::map<WindowHandle, Window> windows{};  ///< of this rank
  std::uint64_t layout = 0;                  ///< of the places of all windows so far
  std::uint64_t windows_made = 0;
  std::vector<std::uint64_t> arrived{};  ///< signals of each rank; empty before the first use
  std::vector<std::uint64_t> awaited{};  ///< signals of each rank that waits were launched for
  /// The window that an address lies in; null: none.
  [[nodiscard]] const Window* window_at(const void* address) const;
  [[nodiscard]] bool is_alive() const { return phase != Phase::destroyed && phase != Phase::aborted; }
  /// One that shares resources was aborted: works end without a result, and nothing is left to do but an abort.
  [[nodiscard]] bool is_lost() const { return is_alive() && *family_is_aborted; }
};

struct NcclState {
  explicit NcclState(Runtime& on) : runtime(&on) {}

  /// Writes a call into the record; the result that a test ordered for it, if one did.
  std::optional<Result> enter(const std::string& name, const std::string& arguments);
  /// The caller broke a rule of NCCL: a test failure, unless the test expects it.
  Result violate(const std::string& rule);
  Result refuse(Result result, const std::string& text);
  /// The communicator behind a handle; null, and a violation, where there is none or it cannot be used.
  NcclComm* usable(CommHandle handle, const std::string& call);
  /// As usable(), and nothing of it is in progress.
  NcclComm* ready(CommHandle handle, const std::string& call);

  Runtime* runtime;  ///< null when the stand-in is gone: communicators may still be ended
  detail::nccl::Table table{};
  int version = 0;
  mutable std::recursive_mutex mutex{};
  std::vector<std::string> record{};
  std::vector<std::string> violations{};
  bool expects_violations = false;
  std::vector<std::unique_ptr<NcclComm>> comms{};
  std::map<std::string, Result> failures{};
  int looks = 0;
  bool hangs_init = false;
  bool hangs_work = false;
  bool forbids_shared_devices = false;
  bool has_host_rma = true;
  std::atomic<bool> has_one_sided{false};  ///< some communicator has used it
  std::function<void()> within_launch{};
  std::atomic<bool> is_launching{false};
  Result async_error = Result::success;
  std::string last_error{};
  int in_flight = 0;
  int launched_in_windows = 0;  ///< collectives with both buffers there
  int copied = 0;               ///< collectives that copy engines make
  std::uint64_t last_tag = 0;
  std::set<std::string> missing{};  ///< algorithms that NCCL refuses
  std::size_t questions = 0;
  detail::nccl::Config last_config{};  ///< of the last init
  std::string last_name{};
  std::thread::id last_thread{};
  std::uint64_t last_launch = 0;           ///< of all communicators
  std::set<std::uint64_t> not_begun{};     ///< launches, by their order
  int resident = 0;                        ///< launches whose work is on the device
  static constexpr int most_resident = 1;  ///< the device has room for no more
};

/// The one whose table is used.
extern NcclState* current_nccl;

/// All functions, of which those newer than the version are null.
[[nodiscard]] detail::nccl::Table functions_of(int version);

}  // namespace tutti::standin
