// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <tutti/error.hpp>
#include <tutti/memory.hpp>
#include <tutti/sharded_optimizer.hpp>
#include <utility>

#include "collectives/services.hpp"
#include "training/byte_stream.hpp"
#include "training/hooks/sharding_hook.hpp"
#include "training/reducer/clip.hpp"
#include "training/sharded_optimizer/shards.hpp"

namespace tutti {

using namespace training;  // NOLINT(google-build-using-namespace): the parts of this class

namespace {

constexpr std::uint64_t magic = 0x31647261687353a5;  // marks saved states

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::invalid_argument, "sharded optimizer: " + what);
}

std::size_t bytes_of(const BucketPartition& bucket) { return bucket.count * Datatype(bucket.type).size(); }

/// Memory in which the values of whole buckets are gathered.
class Staging {
 public:
  /// Collective, blocking.
  void prepare(const Communicator& comm, const Partition& partition) {
    begins_.clear();
    std::size_t bytes = 0;
    for (const BucketPartition& bucket : partition) {
      begins_.push_back(bytes);
      bytes += (bytes_of(bucket) + 63) / 64 * 64;
    }
    if (bytes > memory_.size()) memory_ = allocate(comm, bytes);
  }
  [[nodiscard]] std::byte* bucket(std::size_t b) const { return static_cast<std::byte*>(memory_.data()) + begins_[b]; }
  /// Leaves the memory allocated for ever: an operation may still be using it.
  void keep() noexcept { detail::defer_free(std::move(memory_)); }

 private:
  Allocation memory_{};
  std::vector<std::size_t> begins_{};
};

}  // namespace

struct ShardedOptimizer::State {
  State(GradientReducer& r, const Communicator& c, const kernels::DenseUpdate& u)
      : reducer(&r), comm(&c), update(u), shards(c, kernels::state_values(u)) {}

  GradientReducer* reducer;
  const Communicator* comm;
  kernels::DenseUpdate update;
  Shards shards;
  Staging staging{};
  std::uint64_t steps = 0;

  [[nodiscard]] const ShardingHook& hook() const {
    const auto* sharding = dynamic_cast<const ShardingHook*>(&reducer->hook());
    if (sharding == nullptr)
      refuse("the reducer's hook is " + reducer->hook().name() + "; set ReducerOptions::hook to sharding_hook()");
    return *sharding;
  }

  void divide(const std::shared_ptr<const Partition>& partition, const char* call, const char* before) {
    if (partition == nullptr) refuse(std::string(call) + " before " + before);
    if (shards.partition() == partition) return;
    check_parameters();
    shards.divide(partition);
    staging.prepare(*comm, *partition);
  }

  void check_parameters() const {
    for (std::size_t i = 0; i < reducer->parameters(); ++i) {
      const Parameter& p = reducer->parameter(i);
      if (p.value == nullptr && reducer->gradient(i).count > 0)
        refuse("parameter '" + p.name + "' has no value; set Parameter::value before GradientReducer::add()");
      if (p.type != DatatypeKind::float32 && p.type != DatatypeKind::float64)
        refuse("parameter '" + p.name + "' has type " + datatype_name(p.type) + "; it must be float32 or float64");
    }
  }

  template <typename T>
  void update_shard(Shards::Shard& shard, std::byte* flat) {
    const Segment& s = shard.segment;
    T* values = static_cast<T*>(reducer->parameter(s.parameter).value) + s.begin;
    const T* gradients = static_cast<const T*>(reducer->gradient(s.parameter).data) + s.begin;
    if (reducer->used(s.parameter))
      kernels::dense_update(update, steps, std::span<T>(values, s.count), std::span<const T>(gradients, s.count),
                            std::span<T>(reinterpret_cast<T*>(shard.state.data()), shards.values() * s.count));
    kernels::copy(flat + s.offset * sizeof(T), values, s.count * sizeof(T));
  }

  void update_bucket(std::size_t b) {
    const bool single = (*shards.partition())[b].type == DatatypeKind::float32;
    for (Shards::Shard& shard : shards.of_bucket(b))
      single ? update_shard<float>(shard, staging.bucket(b)) : update_shard<double>(shard, staging.bucket(b));
  }

  void take_values(std::size_t b) const {
    const BucketPartition& bucket = (*shards.partition())[b];
    const std::size_t size = Datatype(bucket.type).size();
    for (const BucketEntry& entry : bucket.entries)
      if (entry.count > 0)
        kernels::copy(reducer->parameter(entry.parameter).value, staging.bucket(b) + entry.offset * size,
                      entry.count * size);
  }

  /// Gathers one bucket while it updates the next.
  void update_and_gather() {
    const std::size_t buckets = shards.partition()->size();
    std::vector<Request> requests;
    try {
      for (std::size_t b = 0; b < buckets; ++b) {
        update_bucket(b);
        requests.push_back(gather_parts(*comm, (*shards.partition())[b], staging.bucket(b)));
      }
      for (std::size_t b = 0; b < buckets; ++b) {
        requests[b].wait();
        take_values(b);
      }
    } catch (...) {
      staging.keep();
      throw;
    }
  }
};

ShardedOptimizer::ShardedOptimizer(GradientReducer& reducer, const Communicator& comm,
                                   const kernels::DenseUpdate& update)
    : state_(std::make_unique<State>(reducer, comm, update)) {
  (void)state_->hook();
}
ShardedOptimizer::~ShardedOptimizer() = default;
ShardedOptimizer::ShardedOptimizer(ShardedOptimizer&&) noexcept = default;
ShardedOptimizer& ShardedOptimizer::operator=(ShardedOptimizer&&) noexcept = default;

double ShardedOptimizer::step(double learning_rate, double max_norm) {
  State& s = *state_;
  s.divide(s.hook().reduced(), "step()", "the reducer's first wait()");
  const Partition& partition = *s.shards.partition();
  double norm = 0;
  if (max_norm > 0) {
    norm = global_norm(*s.reducer, *s.comm, partition);
    if (norm > max_norm) scale_parts(*s.reducer, partition, s.comm->rank(), max_norm / norm);
  }
  s.update.learning_rate = learning_rate;
  ++s.steps;
  s.update_and_gather();
  return norm;
}

std::size_t ShardedOptimizer::state_bytes() const { return state_->shards.bytes(); }

std::vector<std::byte> ShardedOptimizer::save() const {
  State& s = *state_;
  if (s.shards.is_empty()) s.divide(s.hook().prepared(), "save()", "the reducer's prepare()");
  const auto whole = s.shards.gather(s.reducer->parameters());
  ByteWriter writer;
  writer.value(magic);
  writer.value(static_cast<std::uint64_t>(s.update.optimizer));
  writer.value(s.steps);
  writer.value(static_cast<std::uint64_t>(whole.size()));
  for (const auto& state : whole) {
    writer.value(static_cast<std::uint64_t>(state.size()));
    writer.values(state.data(), state.size());
  }
  return writer.take();
}

void ShardedOptimizer::load(std::span<const std::byte> state) {
  State& s = *state_;
  const std::size_t parameters = s.reducer->parameters();
  ByteReader reader(state, {"sharded optimizer"});
  reader.expect(magic, "the bytes given to load() are not from save() of a sharded optimizer");
  reader.expect(static_cast<std::uint64_t>(s.update.optimizer), "the saved state belongs to another kind of optimizer");
  const auto steps = reader.value<std::uint64_t>();
  reader.expect(static_cast<std::uint64_t>(parameters), "the saved state has another number of parameters");
  std::vector<std::vector<std::byte>> whole(parameters);
  for (std::size_t i = 0; i < parameters; ++i) {
    const Buffer gradient = s.reducer->gradient(i);
    const std::size_t size = s.shards.values() * gradient.count * gradient.type.size();
    if (reader.value<std::uint64_t>() != size)
      reader.fail("the saved state of parameter '" + s.reducer->parameter(i).name + "' has another size");
    whole[i].resize(size);
    reader.values(whole[i].data(), size);
  }
  reader.expect_end();
  s.divide(s.hook().prepared(), "load()", "the reducer's prepare()");
  s.shards.take(whole);
  s.steps = steps;
}

}  // namespace tutti
