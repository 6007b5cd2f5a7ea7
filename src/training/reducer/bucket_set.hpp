// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <tutti/communication_hook.hpp>
#include <tutti/gradient_reducer.hpp>
#include <tutti/memory.hpp>
#include <vector>

#include "training/reducer/bucket_plan.hpp"

namespace tutti::detail::reducer {

/// How gradients lie in buckets.
struct BucketRules {
  ReduceKind op = ReduceKind::avg;  ///< told to the hook
  bool separate = false;            ///< what is reduced is never the caller's gradient itself, but a copy
  MemoryKind memory = MemoryKind::host;
  Stream stream{};       ///< of device memory
  bool in_place = true;  ///< a bucket that is one gradient of the caller's is reduced where that is
};

/// The buckets and their memory: one block for all, which the ranks of a node load and store directly. Its size does
/// not depend on the plan, so buckets can be made anew in it.
class BucketSet {
 public:
  /// `parameters` outlive it and stay where they are. Collective over `comm`; blocking.
  BucketSet(const Communicator& comm, std::span<const Parameter> parameters, const BucketRules& rules);

  /// Makes the buckets of a plan; gradients that live in buckets move. Local.
  void arrange(const BucketPlan& plan);

  [[nodiscard]] std::span<const GradientBucket> buckets() const { return *buckets_; }
  [[nodiscard]] std::span<const ParameterSize> sizes() const { return sizes_; }
  [[nodiscard]] std::size_t bucket_of(std::size_t parameter) const { return slots_[parameter].bucket; }
  /// The caller's gradient: in its own memory, or in a bucket.
  [[nodiscard]] std::byte* gradient(std::size_t parameter) const;

  /// The gradient is given to its bucket.
  void take(std::size_t parameter) const;
  /// The result is given to the caller.
  void give_back(std::size_t parameter) const;
  /// This rank contributes zeros.
  void clear(std::size_t parameter) const;

  /// Never frees the memory: an operation on it may be under way.
  void keep_memory() noexcept;

 private:
  struct Slot {
    std::size_t bucket = 0;
    std::byte* data = nullptr;
  };
  [[nodiscard]] bool lives_in_bucket(std::size_t parameter) const { return homes_[parameter] == nullptr; }
  void lay_out(const BucketPlan& plan);
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) const;
  void zero(std::byte* to, std::size_t bytes) const;
  void move_gradients(const std::vector<Slot>& old);

  std::span<const Parameter> parameters_;
  BucketRules rules_;
  std::vector<ParameterSize> sizes_;
  std::vector<std::byte*> homes_;  ///< of the caller's gradient; null: in the bucket
  std::vector<Slot> slots_;
  std::size_t bytes_ = 0;
  Allocation block_;
  std::unique_ptr<std::byte[]> separate_;
  std::unique_ptr<std::vector<GradientBucket>> buckets_;
};

}  // namespace tutti::detail::reducer
