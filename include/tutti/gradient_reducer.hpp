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

/// One parameter of a model. The caller owns `value` and `gradient`, which must outlive the reducer.
struct Parameter {
  std::string name{};
  std::vector<std::size_t> shape{};           ///< empty: a scalar
  DatatypeKind type = DatatypeKind::float32;  ///< float32, float64, float16 or bfloat16
  void* value = nullptr;                      ///< prepare() broadcasts it from rank 0; nullptr: it does not
  /// ready() copies it into its bucket, and it is copied back when the bucket is done, at the latest by wait(). If it
  /// has a bucket of its own, it is reduced in place. nullptr: the gradient lives in the bucket, without copies; see
  /// GradientReducer::gradient().
  void* gradient = nullptr;
};

/// All but progress_thread and stream must be equal on all ranks.
struct ReducerOptions {
  static constexpr std::size_t automatic = 0;

  /// Maximum bucket size in bytes, with the padding between gradients; a larger parameter gets its own bucket.
  /// `automatic` times several sizes and keeps the fastest.
  std::size_t bucket_bytes = 25U << 20U;
  /// The same limit for the first bucket of each type: a small one is launched early.
  std::size_t first_bucket_bytes = 1U << 20U;
  ReduceKind op = ReduceKind::avg;  ///< avg or sum
  /// Lays the buckets out again after the first step, in the order in which gradients became ready on rank 0.
  bool rebuild = true;
  bool find_unused = false;     ///< skips parameters that no rank marked ready; otherwise a missing one is an error
  bool uneven = false;          ///< lets ranks have different numbers of steps: see join()
  bool average_active = false;  ///< with uneven: avg divides by the number of ranks that still have steps
  bool check = false;  ///< finds gradients that changed between ready() and wait(); costs a copy and two hashes
  /// Number of duplicates of the communicator, made by prepare(), that the buckets use in turn. The caller's own calls
  /// never meet the reducer's.
  std::size_t communicators = 1;
  bool progress_thread = false;               ///< drives outstanding buckets in a thread; needs MPI_THREAD_MULTIPLE
  std::shared_ptr<CommunicationHook> hook{};  ///< empty: allreduce_hook()
  /// Memory of gradients and values: host or device. Device memory excludes check, average_active and the automatic
  /// bucket size, and needs a hook that takes it.
  MemoryKind memory = MemoryKind::host;
  Stream stream{};               ///< with device memory: orders backward, ready(), wait() and the update
  std::size_t first_number = 0;  ///< the first parameter's number in messages and in map(); Fortran's binding sets 1
  /// Above 0: gradients with the same bits on any number of ranks up to this one. The global batch is computed in so
  /// many blocks, and this rank makes a pass of backward over each block of sample_slice(blocks, rank, ranks). A
  /// gradient is complete when ready() has marked it in each of these passes; the next pass overwrites it. The
  /// gradients of all blocks are added exactly and the sum is rounded once (avg: then divided by the number of blocks).
  /// Each bucket takes memory, and sends, for each block of the rank. Host memory; excludes hook, find_unused and
  /// uneven. Errors: invalid_argument by prepare(), on every rank, for more ranks than blocks. Counterpart: the logical
  /// workers of EasyScale (Li et al., SC 2023).
  std::size_t blocks = 0;
};

struct ReducerStatistics {
  std::size_t steps = 0;
  std::size_t buckets = 0;
  std::size_t bucket_bytes = 0;    ///< the limit in use
  std::size_t bytes_per_step = 0;  ///< bytes that this rank reduces in a step, as the hook counts them
  double exposed_seconds = 0;      ///< the caller's time in ready(), progress() and wait() in the last reduced step
  bool rebuilt = false;            ///< the buckets follow the order of the first step
  bool tuned = false;              ///< the automatic bucket size is settled
};

/// Reduces the gradients of data-parallel training while backward still computes others. Parameters are assigned to
/// buckets in reverse order of registration. A bucket is launched, nonblocking and strictly in order, when all of its
/// gradients are ready. A step is: backward with ready(i) for each parameter, wait(), update.
///
/// Wrong use on one rank does not change the messages: the rank completes the step's reductions and adds a status word,
/// and wait() throws the same Error on every rank. One thread at a time may call a reducer.
///
/// Gradients in device memory (ReducerOptions::memory) are produced, copied and used on one stream. ready(i) means that
/// their kernels have been launched there. The buckets are reduced on streams of the communicators; after wait(), later
/// work on the stream finds the result, and the host does not wait for the device. prepare() prepares the communicators
/// for device memory. Counterpart: torch.nn.parallel.DistributedDataParallel (Li et al., PyTorch Distributed, VLDB
/// 2020, section 3).
class TUTTI_EXPORT GradientReducer {
 public:
  /// Local. `comm` must outlive the reducer.
  explicit GradientReducer(const Communicator& comm, ReducerOptions options = {});
  ~GradientReducer();
  GradientReducer(GradientReducer&&) noexcept;
  GradientReducer& operator=(GradientReducer&&) noexcept;
  GradientReducer(const GradientReducer&) = delete;
  GradientReducer& operator=(const GradientReducer&) = delete;

  /// Registers a parameter and returns its number. Call it in the order of the forward pass, before prepare(). Local.
  std::size_t add(Parameter parameter);
  /// Compares the ranks' names, shapes, types and options, broadcasts rank 0's values and makes the buckets.
  /// Collective; blocking. Errors, on every rank: mismatch, which names the first difference and its rank.
  void prepare();

  /// Where the gradient of parameter i is: in the caller's memory, or in its bucket. Gradients in buckets move when the
  /// buckets are laid out again, which only wait(), join() and load() do: ask again when layout() has changed.
  [[nodiscard]] Buffer gradient(std::size_t i) const;
  /// The number of times that the buckets have been laid out.
  [[nodiscard]] std::size_t layout() const;

  /// Marks the gradient of parameter i as complete. Launches full buckets and drives the ones under way; never blocks.
  /// If i is out of range or was marked before in this step, wait() throws invalid_argument on every rank, naming the
  /// parameter and the rank. An i that is out of range also throws index_out_of_range here, at once; the rank can go on
  /// to wait(), so that the others do not wait for it.
  void ready(std::size_t i);
  /// Drives buckets that are under way; never blocks. Call it now and then in a long computation without ready().
  void progress();
  /// Ends the step: when it returns, the gradients are reduced. Collective; blocking (tests and yields). With
  /// find_unused, a parameter that no rank marked keeps the caller's gradient, or is zero in its bucket. Errors, on
  /// every rank: invalid_argument, which names the parameter, its rank and the remedy, for a parameter that was marked
  /// twice or not at all, or that changed after it was marked (check). The gradients are undefined then; the next step
  /// is not affected. An error of a reduction is thrown here too, on this rank, and again by all later calls.
  void wait();
  /// Whether any rank marked parameter i ready in the last step. Without find_unused: true after the first step.
  [[nodiscard]] bool used(std::size_t i) const;

  /// Turns reduction off and on, for gradient accumulation: after set_sync(false), ready() and wait() do nothing until
  /// set_sync(true), and the caller adds gradients up. Must be equal on all ranks. Counterpart: DDP's no_sync().
  void set_sync(bool sync);

  /// Takes part, with zeros, in one step of the other ranks; for a rank without steps left, with `uneven`. Returns
  /// false when no rank has a step left. After true the gradients are as after wait(), so that the update keeps
  /// replicas equal: `while (reducer.join()) update();` Blocking. Counterpart: DDP's join().
  [[nodiscard]] bool join();

  [[nodiscard]] std::size_t parameters() const;
  /// Parameter i as it was registered.
  [[nodiscard]] const Parameter& parameter(std::size_t i) const;
  /// The hook that reduces the buckets.
  [[nodiscard]] const CommunicationHook& hook() const;
  [[nodiscard]] std::span<const GradientBucket> buckets() const;
  /// The parameter-to-bucket map as a table: bucket, bytes, parameters with shapes.
  [[nodiscard]] std::string map() const;
  [[nodiscard]] ReducerStatistics statistics() const;

  /// Returns this rank's state between steps (the map and the hook's state), for a checkpoint. Local. load() takes it
  /// back after prepare() with the same parameters. load() is collective, since it lays the buckets out again.
  [[nodiscard]] std::vector<std::byte> save() const;
  void load(std::span<const std::byte> state);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

/// Returns the 2-norm of all gradients after wait(), the same bits on all ranks, and scales the gradients by
/// max_norm / norm if the norm is larger than max_norm. Collective; blocking. Counterpart:
/// torch.nn.utils.clip_grad_norm_.
TUTTI_EXPORT double clip_gradients(GradientReducer& reducer, const Communicator& comm, double max_norm);

}  // namespace tutti
