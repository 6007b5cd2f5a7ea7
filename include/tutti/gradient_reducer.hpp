// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tutti/buffer.hpp>
#include <tutti/communication_hook.hpp>
#include <tutti/communicator.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/reduce_op.hpp>
#include <vector>

namespace tutti {

/// One parameter of a model, as it is registered. The caller owns `value` and `gradient`, which stay valid as long as
/// the reducer.
struct Parameter {
  std::string name{};
  std::vector<std::size_t> shape{};           ///< empty: a scalar
  DatatypeKind type = DatatypeKind::float32;  ///< float32, float64, float16 or bfloat16
  void* value = nullptr;                      ///< sent from rank 0 to all by prepare(); nullptr: not
  void* gradient = nullptr;  ///< copied to the bucket by ready(), and back when the bucket is done, at the latest by
                             ///< wait() (a bucket that is this gradient alone is reduced where it is); nullptr: the
                             ///< gradient lives in the bucket (no copy), see GradientReducer::gradient()
};

/// Equal on all ranks, but for progress_thread and stream.
struct ReducerOptions {
  static constexpr std::size_t automatic = 0;

  std::size_t bucket_bytes = 25U << 20U;  ///< at most so much a bucket, but one parameter at least; `automatic`: some
                                          ///< steps of each of several sizes are timed, all ranks agree on the best
  std::size_t first_bucket_bytes = 1U << 20U;  ///< of the first bucket of each type, so that it is launched early
  ReduceKind op = ReduceKind::avg;             ///< avg or sum
  bool rebuild = true;          ///< buckets follow the order in which gradients were ready on rank 0 in the first step
  bool find_unused = false;     ///< parameters that no rank marked ready are left out; else a missing one is an error
  bool uneven = false;          ///< ranks may have different numbers of steps: see join()
  bool average_active = false;  ///< with uneven: avg divides by the ranks that still have steps, not by all
  bool check = false;           ///< finds gradients that changed between ready() and wait(); costs a copy and two sums
  std::size_t communicators =
      1;  ///< buckets go round robin over so many duplicates of the communicator, which prepare()
          ///< makes: what the caller does with its own never meets the reducer's calls
  bool progress_thread = false;  ///< a thread of this reducer drives outstanding buckets; needs MPI_THREAD_MULTIPLE
  std::shared_ptr<CommunicationHook> hook{};  ///< empty: allreduce_hook()
  MemoryKind memory = MemoryKind::host;       ///< of gradients and values: host or device. With device: no check, no
                                              ///< average_active, no automatic size, hooks that take device memory
  Stream stream{};  ///< device memory: backward, ready(), wait() and the update are ordered on it
};

struct ReducerStatistics {
  std::size_t steps = 0;
  std::size_t buckets = 0;
  std::size_t bucket_bytes = 0;    ///< the limit in use
  std::size_t bytes_per_step = 0;  ///< that this rank gives to reductions: what the hook says
  double exposed_seconds = 0;      ///< the caller's time inside wait() in the last synchronised step
  bool rebuilt = false;
  bool tuned = false;  ///< an automatic bucket size has been settled
};

/// Reduces the gradients of data-parallel training while backward still computes them. Parameters are put into buckets
/// in reverse order of registration; a bucket is launched, nonblocking and strictly in order, when all of its gradients
/// are ready. A step is: backward with ready(i) for each parameter, wait(), update.
///
/// A local mistake changes nothing that goes over the wire: the rank completes the step's reductions and a word of
/// status beside them, and wait() throws the same Error on every rank. One thread at a time.
///
/// Gradients in device memory (ReducerOptions::memory) are produced, copied and used on one stream: ready(i) says that
/// their kernels are launched there, buckets are reduced on streams of the communicators meanwhile, and after wait()
/// what follows on the stream finds the result; the host does not wait for the device. prepare() prepares the
/// communicators for it. Counterpart: torch.nn.parallel.DistributedDataParallel (Li et al., PyTorch Distributed, VLDB
/// 2020, section 3).
class TUTTI_EXPORT GradientReducer {
 public:
  /// Local. `comm` outlives the reducer.
  explicit GradientReducer(const Communicator& comm, ReducerOptions options = {});
  ~GradientReducer();
  GradientReducer(GradientReducer&&) noexcept;
  GradientReducer& operator=(GradientReducer&&) noexcept;
  GradientReducer(const GradientReducer&) = delete;
  GradientReducer& operator=(const GradientReducer&) = delete;

  /// Registers a parameter, in the order of the forward pass; its number. Local; before prepare().
  std::size_t add(Parameter parameter);
  /// Compares what the ranks have registered (names, shapes, types, options), sends rank 0's values to all and makes
  /// the buckets. Collective; blocking. Errors, on every rank: mismatch, which names the first difference and its rank.
  void prepare();

  /// Where the gradient of parameter i is: the caller's memory, or its part of a bucket. A part of a bucket moves when
  /// buckets are made anew, which only wait() does: ask again when layout() has changed.
  [[nodiscard]] Buffer gradient(std::size_t i) const;
  /// Counts how often the buckets were made.
  [[nodiscard]] std::size_t layout() const;

  /// The gradient of parameter i is complete. Launches what is full and drives what is under way; never blocks. Twice
  /// in a step, or i out of range: invalid_argument from wait() on every rank, naming the parameter and the rank.
  void ready(std::size_t i);
  /// Drives what is under way; never blocks. To be called now and then from a long computation without ready().
  void progress();
  /// Ends the step: gradients are reduced when it returns. Collective; blocking (tests and yields). With find_unused,
  /// parameters marked by no rank keep the caller's gradient, and zero in a bucket. Errors, on every rank:
  /// invalid_argument, which names the parameter, its rank and the remedy, for a parameter that was marked twice, not
  /// at all, or changed (check). What the gradients hold is undefined then; the next step is as any other. What a
  /// reduction throws is thrown here too, on this rank, and by all later calls.
  void wait();
  /// Whether any rank marked parameter i ready in the last step; without find_unused always, after a step.
  [[nodiscard]] bool used(std::size_t i) const;

  /// Accumulation: with false, ready() and wait() do nothing until true; gradients are to be added up by the caller.
  /// Equal on all ranks. Counterpart: DDP's no_sync().
  void set_sync(bool sync);

  /// For a rank that has no steps left, with `uneven`: takes part in one step of the others with zeros. False when no
  /// rank has a step left; after true the gradients are as after wait(), for the update that keeps replicas equal.
  /// Blocking. `while (reducer.join()) update();` Counterpart: DDP's join().
  [[nodiscard]] bool join();

  [[nodiscard]] std::size_t parameters() const;
  /// What was registered as parameter i.
  [[nodiscard]] const Parameter& parameter(std::size_t i) const;
  /// What reduces the buckets.
  [[nodiscard]] const CommunicationHook& hook() const;
  [[nodiscard]] std::span<const GradientBucket> buckets() const;
  /// The parameter-to-bucket map as a table: bucket, bytes, parameters with shapes.
  [[nodiscard]] std::string map() const;
  [[nodiscard]] ReducerStatistics statistics() const;

  /// This rank's state between steps (the map, the hook's state), for a checkpoint; local. load() is called after
  /// prepare() with the same parameters, on all ranks; collective, since it makes the buckets anew.
  [[nodiscard]] std::vector<std::byte> save() const;
  void load(std::span<const std::byte> state);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

/// The 2-norm of all gradients after wait(); scales them by max_norm / norm where it is larger. The same bits on all
/// ranks. Collective, blocking. Counterpart: torch.nn.utils.clip_grad_norm_.
TUTTI_EXPORT double clip_gradients(GradientReducer& reducer, const Communicator& comm, double max_norm);

}  // namespace tutti
