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

/// Where one parameter's gradient lies in its bucket.
struct BucketEntry {
  std::size_t parameter = 0;  ///< its number in the reducer
  std::size_t offset = 0;     ///< elements from the bucket's begin
  std::size_t count = 0;      ///< elements
  std::span<const std::size_t> shape{};
};

/// Gradients that are reduced together: one type, one contiguous block of memory. Equal on all ranks but for the
/// address. The reducer owns the memory; it stays where it is until the next prepare(). Any count works; one that is a
/// multiple of the ranks times 64 bytes divides into equal parts, for hooks that scatter.
struct GradientBucket {
  std::size_t index = 0;            ///< position in the order of launching
  Buffer data{};                    ///< this rank's gradients, then the result; what lies between entries is zero
  ReduceKind op = ReduceKind::avg;  ///< sum or avg
  Stream stream{};                  ///< that gradients in device memory are ordered on
  std::vector<BucketEntry> entries{};
};

/// How buckets are reduced over the ranks: as they are, compressed, or in a way of the user's own. A reducer calls
/// prepare() once for each set of buckets, then for every step start(b) for b = 0, 1, 2, ... in this order on all
/// ranks, and test(b) until it says true. Several buckets are under way at once; what a hook starts later than in
/// start() (a second stage) may meet other buckets in another order on each rank, so it must be persistent operations,
/// which match whatever their order. Counterpart: PyTorch's DDP communication hooks.
class TUTTI_EXPORT CommunicationHook {
 public:
  virtual ~CommunicationHook();

  /// For reports: "bf16", "power_sgd".
  [[nodiscard]] virtual std::string name() const = 0;
  /// Bucket b goes over comms[b % comms.size()]. Collective, blocking. The communicators and buckets live as long as
  /// they are used here. State of an earlier call (errors fed back, factors) is kept by parameter where it still fits.
  virtual void prepare(std::span<const Communicator> comms, std::span<const GradientBucket> buckets) = 0;
  /// Starts the reduction of buckets[bucket]; nonblocking. The bucket's memory must not be touched until it is done.
  virtual void start(std::size_t bucket) = 0;
  /// Drives it; never blocks. True when the bucket's memory holds the result; in device memory, when what follows on
  /// the bucket's stream finds it there. Throws Error when it failed.
  virtual bool test(std::size_t bucket) = 0;
  /// Bytes of the vectors that this rank gives to reductions of that bucket in one step.
  [[nodiscard]] virtual std::size_t bytes(std::size_t bucket) const = 0;
  /// Whether buckets may be in device memory.
  [[nodiscard]] virtual bool takes_device_memory() const { return false; }
  /// Whether the result is the same on all ranks; else (sharded) only this rank's part of each bucket is.
  [[nodiscard]] virtual bool replicates() const { return true; }
  /// This rank's state between steps, for a checkpoint; load() takes it back after prepare() of the same buckets.
  [[nodiscard]] virtual std::vector<std::byte> save() const { return {}; }
  virtual void load(std::span<const std::byte> state);
};

/// Buckets as they are: one nonblocking allreduce each. Host or device memory.
[[nodiscard]] TUTTI_EXPORT std::shared_ptr<CommunicationHook> allreduce_hook();
/// float32 or float64 gradients rounded to 16 bits, divided first (avg), summed with one rounding, widened again: half
/// the bytes, or a quarter. Counterpart: DDP's bf16_compress_hook, fp16_compress_hook.
[[nodiscard]] TUTTI_EXPORT std::shared_ptr<CommunicationHook> bf16_hook();
[[nodiscard]] TUTTI_EXPORT std::shared_ptr<CommunicationHook> fp16_hook();

/// Numbers and names as in DDP's PowerSGDState.
struct PowerSgdOptions {
  std::size_t rank = 2;             ///< of the approximation
  std::size_t start_step = 10;      ///< steps before it that reduce the gradients as they are
  double min_compression_rate = 2;  ///< a matrix is compressed if (n + m) * rank * this < n * m
  bool error_feedback = true;       ///< what was lost is added to the next step's gradient
  bool warm_start = true;           ///< Q of one step begins the next one's iteration
  std::uint64_t seed = 0;           ///< of the first Q; equal on all ranks
};

/// PowerSGD (Vogels, Karimireddy, Jaggi 2019, Algorithm 1 and 2): each gradient of two dimensions or more, as a matrix
/// of shape[0] rows, is sent as two factors of `rank` columns; others (biases) are summed as they are. float32,
/// float64. Factors have the same bits on all ranks, so the gradients have. With error feedback each rank keeps what
/// its own factors lose, as many bytes as the gradients. Errors: invalid_argument for rank 0 and for a rate that is not
/// positive. Counterpart: DDP's powerSGD_hook.
[[nodiscard]] TUTTI_EXPORT std::shared_ptr<CommunicationHook> power_sgd_hook(const PowerSgdOptions& options = {});

}  // namespace tutti
