// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <tutti/communication_hook.hpp>
#include <tutti/gradient_reducer.hpp>
#include <tutti/memory.hpp>
#include <vector>

#include "training/reducer/bucket_plan.hpp"

namespace tutti::detail::reducer {

/// How gradients lie in buckets.
struct BucketRules {
  ReduceKind op = ReduceKind::avg;  ///< passed on to the hook
  bool separate = false;            ///< always reduces a copy, never the caller's own gradient
  MemoryKind memory = MemoryKind::host;
  Stream stream{};         ///< orders copies in device memory
  bool in_place = true;    ///< reduces a bucket in the caller's memory if it holds only that one gradient
  std::size_t passes = 1;  ///< of backward on this rank in a step
};

/// The buckets and their memory: one block for all of them, which the ranks of a node load and store directly. The size
/// of the block does not depend on the plan, so the buckets can be laid out again in it.
class BucketSet {
 public:
  /// `parameters` outlive it and stay where they are. Collective over `comm`; blocking.
  BucketSet(const Communicator& comm, std::span<const Parameter> parameters, const BucketRules& rules);

  /// Lays the buckets out as the plan says; gradients that live in buckets move. Local.
  void arrange(const BucketPlan& plan);

  [[nodiscard]] std::span<const GradientBucket> buckets() const { return *buckets_; }
  [[nodiscard]] std::span<const ParameterSize> sizes() const { return sizes_; }
  [[nodiscard]] std::size_t bucket_of(std::size_t parameter) const { return slots_[parameter].bucket; }
  /// Where the caller finds the gradient: in its own memory, or in a bucket.
  [[nodiscard]] std::byte* gradient(std::size_t parameter) const;

  /// Copies the caller's gradient into its bucket. Nothing is copied where both are the same memory, here and below.
  void copy_in(std::size_t parameter) const;
  /// Copies the caller's gradient of a pass before the last to memory beside its bucket.
  void keep(std::size_t parameter, std::size_t pass);
  /// Copies the result from the bucket to the caller's gradient.
  void copy_out(std::size_t parameter) const;
  /// Zeroes the gradient in its bucket, so that this rank contributes nothing.
  void clear(std::size_t parameter) const;

  /// Leaves the memory allocated for ever: an operation may still be using it.
  void keep_memory() noexcept;

 private:
  struct Slot {
    std::size_t bucket = 0;
    std::byte* data = nullptr;
  };
  [[nodiscard]] std::byte* earlier(const std::byte* in_block, std::size_t pass);
  [[nodiscard]] bool lives_in_bucket(std::size_t parameter) const { return homes_[parameter] == nullptr; }
  void lay_out(const BucketPlan& plan);
  void copy(std::byte* to, const std::byte* from, std::size_t bytes) const;
  void zero(std::byte* to, std::size_t bytes) const;
  void move_gradients(const std::vector<Slot>& old);

  std::span<const Parameter> parameters_;
  BucketRules rules_;
  std::vector<ParameterSize> sizes_;
  std::vector<std::byte*> homes_;  ///< the caller's gradients; null: the gradient lives in its bucket
  std::vector<Slot> slots_;
  std::size_t bytes_ = 0;
  Allocation block_;
  std::vector<std::byte> earlier_;  ///< of each pass before the last a copy of the block
  std::unique_ptr<std::byte[]> separate_;
  std::unique_ptr<std::vector<GradientBucket>> buckets_;
};

/// "[64, 3, 7, 7]"; "[]" for a scalar.
[[nodiscard]] std::string shape_text(std::span<const std::size_t> shape);

/// The parameter-to-bucket map as a table; `first_number`: of the first parameter.
[[nodiscard]] std::string map_text(std::span<const GradientBucket> buckets, std::span<const Parameter> parameters,
                                   std::size_t first_number);

}  // namespace tutti::detail::reducer
