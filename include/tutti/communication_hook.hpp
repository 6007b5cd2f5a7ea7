// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/options.hpp>
#include <tutti/reduce_op.hpp>
#include <vector>

namespace tutti {

/// The position of one parameter's gradient in its bucket.
struct BucketEntry {
  std::size_t parameter = 0;  ///< number of the parameter in the reducer
  std::size_t offset = 0;     ///< distance from the start of the bucket, in elements
  std::size_t count = 0;      ///< size of the gradient, in elements
  std::span<const std::size_t> shape{};
};

/// Gradients that are reduced together: one type, one contiguous block of memory. Everything but the address is equal
/// on all ranks. The reducer owns the memory, which does not move until the next prepare(). Any count works; a block of
/// a multiple of (ranks x 64) bytes divides into equal parts, which suits hooks that scatter.
struct GradientBucket {
  std::size_t index = 0;            ///< position in the launch order
  Buffer data{};                    ///< this rank's gradients, later the result; gaps between entries are zero
  ReduceKind op = ReduceKind::avg;  ///< sum or avg
  Stream stream{};                  ///< stream that orders gradients in device memory
  std::vector<BucketEntry> entries{};
  /// For the hook of ReducerOptions::blocks: this rank's gradients of the passes before the last, as `data` has those
  /// of the last. Otherwise empty.
  std::vector<ConstBuffer> earlier{};
};

/// Reduces buckets over the ranks: uncompressed, compressed, or by the user's own method. A reducer calls prepare()
/// once for each set of buckets. In every step it calls start(b) for b = 0, 1, 2, ..., in this order on all ranks, and
/// test(b) until it returns true. Several buckets are in flight at once. A hook that starts a second stage after
/// start() must use persistent operations for it: the order of second stages differs between ranks, and only persistent
/// operations match in any order. Counterpart: PyTorch's DDP communication hooks.
class TUTTI_EXPORT CommunicationHook {
 public:
  virtual ~CommunicationHook();

  /// The name used in reports: "bf16", "power_sgd".
  [[nodiscard]] virtual std::string name() const = 0;
  /// Announces the buckets; bucket b travels over comms[b % comms.size()]. Collective, blocking. The communicators and
  /// buckets outlive their use here. State from an earlier call (error feedback, factors) is kept for every parameter
  /// that it still fits.
  virtual void prepare(std::span<const Communicator> comms, std::span<const GradientBucket> buckets) = 0;
  /// Starts the reduction of buckets[bucket]. Nonblocking. The bucket's memory must not be touched until test() returns
  /// true.
  virtual void start(std::size_t bucket) = 0;
  /// Advances the reduction and never blocks. Returns true once the bucket's memory holds the result; in device memory,
  /// once later work on the bucket's stream sees the result. Throws Error if the reduction failed.
  virtual bool test(std::size_t bucket) = 0;
  /// The size of the vectors that this rank contributes to reductions of the bucket in one step, in bytes.
  [[nodiscard]] virtual std::size_t bytes(std::size_t bucket) const = 0;
  /// Returns true if buckets may be in device memory.
  [[nodiscard]] virtual bool takes_device_memory() const { return false; }
  /// Returns true if every rank gets the whole result; false (sharded) if a rank gets only its part of each bucket.
  [[nodiscard]] virtual bool replicates() const { return true; }
  /// Returns this rank's state between steps, for a checkpoint. load() restores it after prepare() with the same
  /// buckets.
  [[nodiscard]] virtual std::vector<std::byte> save() const { return {}; }
  virtual void load(std::span<const std::byte> state);
};

/// Options of allreduce_hook().
struct AllreduceHookOptions {
  /// How gradients of 16 bits are summed. `full` adds in float32 and rounds once: a relative error of 2^-9 for
  /// bfloat16, 2^-12 for float16. `backend` is NCCL's own sum in device memory, which takes two thirds of the bytes or
  /// less, and rounds after each of up to (ranks - 1) additions: errors add up to (ranks - 1) times as much, about the
  /// square root of that for gradients of mixed signs. A later addition that is less than half a unit of the sum is
  /// lost. `exact` is for all types: the sum does not depend on which rank has which gradient.
  Accumulation accumulation = Accumulation::full;
};

/// Sums buckets uncompressed, by one nonblocking allreduce each. Host or device memory.
[[nodiscard]] TUTTI_EXPORT std::shared_ptr<CommunicationHook> allreduce_hook(const AllreduceHookOptions& options = {});
/// Sends float32 or float64 gradients as 16-bit floats, which takes half or a quarter of the bytes: divides (avg),
/// rounds, sums with one rounding, and widens again. Counterpart: DDP's bf16_compress_hook, fp16_compress_hook.
[[nodiscard]] TUTTI_EXPORT std::shared_ptr<CommunicationHook> bf16_hook();
[[nodiscard]] TUTTI_EXPORT std::shared_ptr<CommunicationHook> fp16_hook();

/// Options of power_sgd_hook(), with the meanings that DDP's PowerSGDState gives them.
struct PowerSgdOptions {
  std::size_t rank = 2;             ///< rank of the approximation
  std::size_t start_step = 10;      ///< number of initial steps that reduce uncompressed
  double min_compression_rate = 2;  ///< compresses an n x m matrix if (n + m) * rank * rate < n * m
  bool error_feedback = true;       ///< adds the compression error to the next step's gradient
  bool warm_start = true;           ///< starts each step's iteration from the previous step's Q
  std::uint64_t seed = 0;           ///< seed of the first Q; equal on all ranks
};

/// PowerSGD (Vogels, Karimireddy, Jaggi 2019, Algorithms 1 and 2). A gradient of two or more dimensions is treated as a
/// matrix of shape[0] rows and sent as two factors of `rank` columns; other gradients (biases) are summed uncompressed.
/// Types: float32 and float64. The factors have the same bits on all ranks, and therefore so do the gradients. With
/// error feedback each rank keeps the compression error of its own gradients, which takes as many bytes as the
/// gradients. A gradient with a NaN or an infinity on any rank makes that step's result NaN on all ranks; the state of
/// that matrix then starts anew, so that later steps are not affected.
/// Errors: invalid_argument for rank 0 and for a rate that is not positive. Counterpart: DDP's powerSGD_hook.
[[nodiscard]] TUTTI_EXPORT std::shared_ptr<CommunicationHook> power_sgd_hook(const PowerSgdOptions& options = {});

}  // namespace tutti
