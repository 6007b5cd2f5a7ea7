// SPDX-License-Identifier: BSD-3-Clause
#include "workload_exchange.hpp"

#include <tutti/collectives/allreduce.hpp>
#include <tutti/gradient_reducer.hpp>
#include <tutti/memory.hpp>
#include <utility>

namespace sgd {

namespace {

using tutti::Communicator;

/// All gradients one after another in memory that the ranks of a node share, so that no method has better memory.
class Contiguous : public Exchange {
 public:
  Contiguous(const Communicator& comm, const std::vector<Shape>& shapes)
      : comm_(comm), memory_(tutti::allocate(comm, elements(shapes) * sizeof(float))) {
    std::size_t begin = 0;
    for (const Shape& shape : shapes) {
      gradients_.push_back(memory_.as<float>().subspan(begin, elements(shape)));
      begin += elements(shape);
    }
  }
  std::span<float> gradient(std::size_t i) override { return gradients_[i]; }

 protected:
  [[nodiscard]] const Communicator& comm() const { return comm_; }
  [[nodiscard]] std::span<float> all() const { return memory_.as<float>(); }
  [[nodiscard]] const std::vector<std::span<float>>& gradients() const { return gradients_; }

 private:
  const Communicator& comm_;
  tutti::Allocation memory_;
  std::vector<std::span<float>> gradients_;
};

class None : public Contiguous {
 public:
  using Contiguous::Contiguous;
  std::size_t bytes() const override { return 0; }
};

class Naive : public Contiguous {
 public:
  using Contiguous::Contiguous;
  void finish() override {
    for (auto gradient = gradients().rbegin(); gradient != gradients().rend(); ++gradient) {
      tutti::allreduce(comm(), tutti::Buffer(*gradient), tutti::ReduceKind::avg);
    }
  }
  std::size_t bytes() const override { return all().size_bytes(); }
};

class Flat : public Contiguous {
 public:
  using Contiguous::Contiguous;
  void finish() override { tutti::allreduce(comm(), tutti::Buffer(all()), tutti::ReduceKind::avg); }
  std::size_t bytes() const override { return all().size_bytes(); }
};

std::shared_ptr<tutti::CommunicationHook> make_hook(const Method& method) {
  if (method.hook == "bf16") return tutti::bf16_hook();
  if (method.hook == "fp16") return tutti::fp16_hook();
  if (method.hook == "powersgd")
    return tutti::power_sgd_hook({.rank = method.power_sgd_rank, .start_step = method.power_sgd_start});
  return tutti::allreduce_hook();
}

/// The gradients live in the reducer's buckets. `overlaps`: ready() is told at once, else before finish().
class Bucketed : public Exchange {
 public:
  Bucketed(const Communicator& comm, const Method& method, const std::vector<Shape>& shapes)
      : method_(method), reducer_(comm, options_of(method)) {
    for (const Shape& shape : shapes) {
      reducer_.add({.name = "parameter " + std::to_string(reducer_.parameters()), .shape = shape});
    }
    reducer_.prepare();
  }
  std::span<float> gradient(std::size_t i) override {
    const tutti::Buffer buffer = reducer_.gradient(i);
    return {static_cast<float*>(buffer.data), buffer.count};
  }
  void ready(std::size_t i) override {
    if (overlaps()) reducer_.ready(i);
  }
  void progress() override {
    if (wants_progress()) reducer_.progress();
  }
  bool wants_progress() const override { return overlaps() && !method_.progress_thread; }
  void finish() override {
    if (!overlaps()) {
      for (std::size_t i = reducer_.parameters(); i-- > 0;) reducer_.ready(i);
    }
    reducer_.wait();
  }
  bool settled() const override {
    const auto statistics = reducer_.statistics();
    const bool compresses = method_.hook != "powersgd" || statistics.steps > method_.power_sgd_start + 1;
    return compresses && (method_.bucket_bytes != tutti::ReducerOptions::automatic || statistics.tuned);
  }
  std::size_t buckets() const override { return reducer_.statistics().buckets; }
  std::size_t bucket_bytes() const override { return reducer_.statistics().bucket_bytes; }
  std::size_t bytes() const override { return reducer_.statistics().bytes_per_step; }
  std::string map() const override { return reducer_.map(); }

 private:
  static tutti::ReducerOptions options_of(const Method& method) {
    tutti::ReducerOptions options;
    options.bucket_bytes = method.bucket_bytes;
    options.first_bucket_bytes = method.first_bucket_bytes;
    options.communicators = method.communicators;
    options.progress_thread = method.progress_thread;
    options.hook = make_hook(method);
    return options;
  }
  [[nodiscard]] bool overlaps() const { return method_.mode == "overlap"; }

  Method method_;
  tutti::GradientReducer reducer_;
};

}  // namespace

std::unique_ptr<Exchange> make_exchange(const Communicator& comm, const Method& method,
                                        const std::vector<Shape>& shapes) {
  if (method.mode == "naive") return std::make_unique<Naive>(comm, shapes);
  if (method.mode == "flat") return std::make_unique<Flat>(comm, shapes);
  if (method.has_buckets()) return std::make_unique<Bucketed>(comm, method, shapes);
  return std::make_unique<None>(comm, shapes);
}

}  // namespace sgd
