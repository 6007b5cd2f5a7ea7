// SPDX-License-Identifier: BSD-3-Clause
// A model of many parameters whose gradients depend on rank, parameter, index and step, and whose sums and averages are
// exact in every type.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <tutti/gradient_reducer.hpp>
#include <tutti/tutti.hpp>
#include <vector>

#include "support/exercise.hpp"

namespace tutti::test {

using Shape = std::vector<std::size_t>;

/// Odd sizes, scalars, empty ones, and one that is larger than most buckets.
inline std::vector<Shape> odd_shapes() {
  return {{17, 3}, {}, {0}, {1}, {5, 7, 11}, {64}, {2'003}, {3, 0, 4}, {129}, {31, 33}, {1}, {16'411}, {7}};
}

inline std::size_t elements(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

/// What every rank has, times rank + 1.
inline int base(std::size_t parameter, std::size_t index, int step) {
  return static_cast<int>((parameter * 7 + index * 3 + static_cast<std::size_t>(step) * 5) % 4) + 1;
}

enum class Where { bucket, caller, both };

template <typename T>
class Model {
 public:
  Model(const Communicator& comm, ReducerOptions options, Where where, std::vector<Shape> shapes = odd_shapes())
      : comm_(comm), options_(options), shapes_(std::move(shapes)), reducer_(comm, options) {
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      const bool own = where == Where::caller || (where == Where::both && i % 2 == 0);
      memory_.emplace_back(own ? elements(shapes_[i]) : 0);
      Parameter parameter;
      parameter.name = "p" + std::to_string(i);
      parameter.shape = shapes_[i];
      parameter.type = datatype_of<T>().kind();
      parameter.gradient = own && elements(shapes_[i]) > 0 ? memory_.back().data() : nullptr;
      reducer_.add(std::move(parameter));
    }
    reducer_.prepare();
  }

  GradientReducer& reducer() { return reducer_; }
  [[nodiscard]] std::size_t size() const { return shapes_.size(); }
  std::span<T> gradient(std::size_t i) {
    const Buffer b = reducer_.gradient(i);
    EXPECT_EQ(b.count, elements(shapes_[i]));
    EXPECT_EQ(b.type, datatype_of<T>());
    return {static_cast<T*>(b.data), b.count};
  }

  void fill(std::size_t i, int step) {
    const auto g = gradient(i);
    for (std::size_t k = 0; k < g.size(); ++k) g[k] = whole<T>((comm_.rank() + 1) * base(i, k, step));
  }
  /// Backward in an order of this rank and step; `skip` are not marked.
  void backward(int step, const std::vector<std::size_t>& skip = {}) {
    std::vector<std::size_t> order(size());
    std::iota(order.rbegin(), order.rend(), std::size_t{0});
    std::mt19937 random(static_cast<unsigned>(step * 31 + comm_.rank() * (step % 2)));
    if (step > 0) std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) {
      if (std::find(skip.begin(), skip.end(), i) != skip.end()) continue;
      fill(i, step);
      reducer_.ready(i);
    }
  }
  /// The gradients hold the sum of the base times `weight`, divided by `divisor`.
  void expect(int step, int weight, int divisor, const std::vector<std::size_t>& except = {}) {
    for (std::size_t i = 0; i < size(); ++i) {
      if (std::find(except.begin(), except.end(), i) != except.end()) continue;
      const auto g = gradient(i);
      std::size_t wrong = 0;
      for (std::size_t k = 0; k < g.size(); ++k) {
        const double want = static_cast<double>(weight * base(i, k, step)) / divisor;
        if (static_cast<double>(static_cast<float>(g[k])) != static_cast<double>(static_cast<float>(want))) ++wrong;
      }
      EXPECT_EQ(wrong, 0U) << "parameter " << i << " step " << step;
    }
  }
  /// The result of a step in which every rank marked everything.
  void expect_all(int step) {
    const int ranks = comm_.size();
    expect(step, ranks * (ranks + 1) / 2, options_.op == ReduceKind::avg ? ranks : 1);
  }

 private:
  const Communicator& comm_;
  ReducerOptions options_;
  std::vector<Shape> shapes_;
  std::vector<std::vector<T>> memory_{};
  GradientReducer reducer_;
};

/// The error of a call, which every rank of the communicator must get with the same text.
template <typename Call>
std::string common_error(const Communicator& comm, ErrorCode code, const Call& call) {
  std::string text;
  try {
    call();
    ADD_FAILURE() << "no error on rank " << comm.rank();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    text = e.what();
  }
  std::string first = text;
  first.resize(2'000);
  bcast(comm, Buffer(first.data(), first.size()), 0);
  EXPECT_EQ(std::string(first.c_str()), text);
  return text;
}

}  // namespace tutti::test
