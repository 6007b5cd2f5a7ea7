// SPDX-License-Identifier: BSD-3-Clause
#include "training/hooks/power_sgd_bucket.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/error.hpp>
#include <vector>

namespace tutti::training {

namespace {

/// A matrix that is compressed, with the offsets of its factors.
template <typename T>
struct Matrix {
  const BucketEntry* entry = nullptr;
  Factors<T>* factors = nullptr;
  std::size_t left = 0;
  std::size_t right = 0;
};

/// Returns the shape and the rank of the matrix; rank 0 if it is not compressed.
std::pair<Shape, std::size_t> low_rank(const BucketEntry& entry, const PowerSgdOptions& options) {
  if (entry.shape.size() < 2 || entry.count == 0) return {};
  const Shape shape{entry.shape[0], entry.count / entry.shape[0]};
  const std::size_t rank = std::min({options.rank, shape.rows, shape.cols});
  const double sent = static_cast<double>((shape.rows + shape.cols) * rank);
  const bool pays = sent * options.min_compression_rate < static_cast<double>(entry.count);
  return {shape, pays ? rank : 0};
}

/// Makes the factors the same bits on all ranks, and so the gradients that they expand to.
Options same_bits() {
  Options options;
  options.reproducible = true;
  return options;
}

template <typename T>
class TypedBucket final : public PowerSgdBucket {
 public:
  TypedBucket(const Communicator& comm, const GradientBucket& bucket, const PowerSgdOptions& options,
              PowerSgdState& state)
      : comm_(comm), bucket_(bucket), options_(options), state_(state) {
    std::size_t left = 0;
    std::size_t right = 0;
    for (const BucketEntry& entry : bucket.entries) {
      const auto [shape, rank] = low_rank(entry, options);
      if (rank == 0) {
        plain_.push_back(&entry);
        continue;
      }
      auto& factors = state.find_or_make<T>(entry.parameter, shape, rank, options.error_feedback);
      matrices_.push_back({&entry, &factors, left, right});
      left += rank * shape.rows;
      right += rank * shape.cols;
    }
    plain_begin_ = left;
    for (const BucketEntry* entry : plain_) left += entry->count;
    first_.resize(left);
    right_.resize(right);
    if (!matrices_.empty()) second_request_ = allreduce_init(comm, Buffer(right_), avg, same_bits());
  }

  void start(bool compress) override {
    if (!compress || matrices_.empty()) {
      first_request_ = iallreduce(comm_, bucket_.data, bucket_.op);
      stage_ = Stage::whole;
      return;
    }
    for (const Matrix<T>& matrix : matrices_) make_left(matrix);
    T* to = first_.data() + plain_begin_;
    for (const BucketEntry* entry : plain_) to = std::copy_n(gradient(*entry), entry->count, to);
    first_request_ = iallreduce(comm_, Buffer(first_), bucket_.op, same_bits());
    stage_ = Stage::left;
  }

  bool test() override {
    if (stage_ == Stage::whole) return first_request_.test();
    if (stage_ == Stage::left) {
      if (!first_request_.test()) return false;
      for (const Matrix<T>& matrix : matrices_) make_right(matrix);
      own_right_ = right_;
      second_request_.start();
      if (options_.error_feedback)
        for (const Matrix<T>& matrix : matrices_) keep_error(matrix);
      stage_ = Stage::right;
    }
    if (!second_request_.test()) return false;
    for (const Matrix<T>& matrix : matrices_) finish(matrix);
    const T* from = first_.data() + plain_begin_;
    for (const BucketEntry* entry : plain_) {
      std::copy_n(from, entry->count, gradient(*entry));
      from += entry->count;
    }
    stage_ = Stage::whole;
    return true;
  }

  [[nodiscard]] std::size_t bytes(bool compress) const override {
    if (!compress || matrices_.empty()) return bucket_.data.count * sizeof(T);
    return (first_.size() + right_.size()) * sizeof(T);
  }

 private:
  enum class Stage { whole, left, right };

  T* gradient(const BucketEntry& entry) const { return static_cast<T*>(bucket_.data.data) + entry.offset; }

  /// The gradient plus the errors of earlier steps; without error feedback, the gradient alone.
  T* compressed(const Matrix<T>& matrix) const {
    return options_.error_feedback ? matrix.factors->error.data() : gradient(*matrix.entry);
  }

  void make_left(const Matrix<T>& matrix) {
    const Factors<T>& f = *matrix.factors;
    T* right = right_.data() + matrix.right;
    if (options_.warm_start)
      std::copy(f.right.begin(), f.right.end(), right);
    else
      std::fill_n(right, f.right.size(), T(0));
    const std::uint64_t place = static_cast<std::uint64_t>(matrix.entry->parameter) << 40 | state_.step;
    fill_zero_columns(right, f.shape.cols, f.rank, options_.seed + place * 0x9e3779b97f4a7c15U);
    orthogonalize(right, f.shape.cols, f.rank);
    multiply_right(f.shape, compressed(matrix), options_.error_feedback ? gradient(*matrix.entry) : nullptr, right,
                   first_.data() + matrix.left, f.rank);
  }

  void make_right(const Matrix<T>& matrix) {
    const Factors<T>& f = *matrix.factors;
    T* left = first_.data() + matrix.left;
    orthogonalize(left, f.shape.rows, f.rank);
    multiply_left(f.shape, compressed(matrix), left, right_.data() + matrix.right, f.rank);
  }

  /// Each rank keeps the error of its own factors. Summed over the ranks that equals Algorithm 2, which subtracts the
  /// average everywhere, but differences between ranks do not pile up in the errors.
  void keep_error(const Matrix<T>& matrix) {
    Factors<T>& f = *matrix.factors;
    subtract_product(f.shape, first_.data() + matrix.left, own_right_.data() + matrix.right, f.rank, f.error.data());
  }

  void finish(const Matrix<T>& matrix) {
    Factors<T>& f = *matrix.factors;
    const T* right = right_.data() + matrix.right;
    const bool is_finite = std::all_of(right, right + f.right.size(), [](T x) { return std::isfinite(x); });
    if (is_finite)
      std::copy_n(right, f.right.size(), f.right.data());
    else
      f.clear();  // on all ranks alike, since the factors have the same bits
    const T scale = bucket_.op == ReduceKind::sum ? static_cast<T>(comm_.size()) : T(1);
    expand(f.shape, first_.data() + matrix.left, right, f.rank, scale, gradient(*matrix.entry));
  }

  const Communicator& comm_;
  const GradientBucket& bucket_;
  const PowerSgdOptions& options_;
  PowerSgdState& state_;
  std::vector<Matrix<T>> matrices_{};
  std::vector<const BucketEntry*> plain_{};
  std::size_t plain_begin_ = 0;
  std::vector<T> first_{};  ///< left factors of all matrices, then the gradients that are not compressed
  std::vector<T> right_{};  ///< right factors: this rank's, then the average
  std::vector<T> own_right_{};
  Request first_request_{};
  Request second_request_{};  ///< persistent, because test() starts it in a different order of buckets on each rank
  Stage stage_ = Stage::whole;
};

}  // namespace

std::unique_ptr<PowerSgdBucket> make_power_sgd_bucket(const Communicator& comm, const GradientBucket& bucket,
                                                      const PowerSgdOptions& options, PowerSgdState& state) {
  const DatatypeKind type = bucket.data.type.kind();
  if (type == DatatypeKind::float32) return std::make_unique<TypedBucket<float>>(comm, bucket, options, state);
  if (type == DatatypeKind::float64) return std::make_unique<TypedBucket<double>>(comm, bucket, options, state);
  throw Error(ErrorCode::invalid_datatype, "communication hook power_sgd: bucket " + std::to_string(bucket.index) +
                                               " is of type " + datatype_name(type) +
                                               "; it must be float32 or float64");
}

}  // namespace tutti::training
