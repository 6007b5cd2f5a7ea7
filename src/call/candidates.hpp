// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "call/backend.hpp"
#include "call/node_times.hpp"

namespace tutti::detail {

/// The agent that drives a nonblocking call while a rank makes no calls of the library.
enum class Carrier : std::uint8_t {
  ranks,     ///< every rank itself, because its rounds need its calls
  hook,      ///< every rank itself, inside any call of the host MPI (core/progress_hook.hpp)
  host_mpi,  ///< the host MPI, inside any of its calls
  others,    ///< any waiting rank: a rank has published all its data once it has started
};

/// One way to make a call, with its time and restrictions.
struct Candidate {
  const Backend* backend = nullptr;
  std::uint8_t protocol = 0;  ///< the backend's own number for it
  const schedules::Algorithm* algorithm = nullptr;
  std::string name{};  ///< "shm:slots", "mpi:ring", "native"
  double seconds = 0;  ///< time of a call, measured or else predicted
  bool measured = false;
  std::string excluded{};  ///< reason why the planner may not choose it here; empty if it may
  bool nameable = true;    ///< true if a call may name it; if not, `excluded` has the reason
  bool preferred = false;  ///< chosen before all others, regardless of time
  Carrier carrier = Carrier::ranks;
  bool gives_at_once = false;  ///< a rank that only gives waits for no other rank
  bool keeps_order = false;    ///< combines all contributions to an element in one step, in the order of the ranks
  bool carries_parts = false;  ///< may carry a part of another backend's call: its executions keep the order of turns

  /// Excludes a candidate that gives a different result or cannot run here, even by name.
  void forbid(std::string reason);
  /// Excludes a candidate that works but is available only by name.
  void advise_against(std::string reason) { excluded = std::move(reason); }
  [[nodiscard]] bool can_be_chosen() const noexcept { return excluded.empty(); }
};

/// Returns true if the planner takes `a` rather than `b`. Of equals it takes the one that was added first.
[[nodiscard]] bool precedes(const Candidate& a, const Candidate& b);

/// All candidates of one call, collected backend by backend.
class Candidates {
 public:
  /// `others` gives the candidates of other calls, for backends that pass parts of a call on.
  Candidates(const Signature& signature, const Machine& machine, CandidatesOf others);

  [[nodiscard]] const Signature& signature() const noexcept { return signature_; }
  [[nodiscard]] const Machine& machine() const noexcept { return machine_; }
  [[nodiscard]] const Wiring& wiring() const noexcept { return wiring_; }
  [[nodiscard]] bool on_device() const noexcept { return signature_.memory == MemoryClass::device; }
  /// The predicted time of a schedule over messages, in seconds.
  [[nodiscard]] double predicted(const schedules::Algorithm& algorithm);

  /// Collects the candidates of a backend.
  void ask(const Backend& backend) {
    asked_ = &backend;
    backend.add_candidates(*this);
  }
  /// Gives a host-memory candidate its measured time in seconds, if there is one.
  void measure(Candidate& way) const;
  /// Looks up the measured time of a candidate and adds it as one of the backend that is asked.
  void add(Candidate candidate);
  /// The fastest candidate that can be chosen so far, or null.
  [[nodiscard]] const Candidate* fastest() const;
  /// The fastest candidate that can be chosen and has that carrier.
  [[nodiscard]] const Candidate* fastest(Carrier carrier) const;
  /// The reason why a way in which every rank has to go on by itself is not chosen for a call that the waiting ranks
  /// can make without it, unless it was measured as faster; empty if it may be. The way must have its time.
  [[nodiscard]] std::string why_behind_others(const Candidate& way) const;
  /// The best candidate of another call among those that carry parts. Throws internal if there is none.
  [[nodiscard]] Candidate best_part(const Signature& part) const;
  [[nodiscard]] std::vector<Candidate> take() && { return std::move(all_); }

 private:
  const Signature& signature_;
  const Machine& machine_;
  Links links_;
  Wiring wiring_;
  CandidatesOf others_;
  NodeTimes node_times_;
  const Backend* asked_ = nullptr;
  std::vector<Candidate> all_;
};

/// The best candidate that can be chosen and carries parts. Throws internal if there is none.
[[nodiscard]] const Candidate& best_part(const std::vector<Candidate>& all, const Signature& signature, int size);

}  // namespace tutti::detail
