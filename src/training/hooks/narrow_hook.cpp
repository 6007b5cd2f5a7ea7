// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/communication_hook.hpp>
#include <tutti/error.hpp>

#include "training/hooks/narrow_runs.hpp"

namespace tutti {

namespace {

bool is_wide(DatatypeKind type) { return type == DatatypeKind::float32 || type == DatatypeKind::float64; }
bool is_narrow(DatatypeKind type) { return type == DatatypeKind::float16 || type == DatatypeKind::bfloat16; }

/// Rounds gradients of 32 and 64 bits to Narrow, reduces and widens them; reduces gradients of 16 bits as they are.
template <typename Narrow>
class NarrowHook final : public CommunicationHook {
 public:
  explicit NarrowHook(const char* name) : name_(name) {}

  [[nodiscard]] std::string name() const override { return name_; }

  void prepare(std::span<const Communicator> comms, std::span<const GradientBucket> buckets) override {
    for (const GradientBucket& bucket : buckets) check(bucket);
    comms_ = comms;
    buckets_ = buckets;
    running_.clear();
    running_.resize(buckets.size());
    for (const GradientBucket& bucket : buckets)
      if (is_wide(bucket.data.type.kind())) running_[bucket.index].values.resize(bucket.data.count);
  }

  void start(std::size_t bucket) override {
    const GradientBucket& b = buckets_[bucket];
    const Communicator& comm = comms_[bucket % comms_.size()];
    Running& running = running_[bucket];
    if (!is_wide(b.data.type.kind())) {
      running.request = iallreduce(comm, b.data, b.op);
      return;
    }
    const std::size_t divisor = b.op == ReduceKind::avg ? static_cast<std::size_t>(comm.size()) : 1;
    if (b.data.type.kind() == DatatypeKind::float32)
      training::narrow_run(static_cast<const float*>(b.data.data), running.values.data(), b.data.count, divisor);
    else
      training::narrow_run(static_cast<const double*>(b.data.data), running.values.data(), b.data.count, divisor);
    running.request = iallreduce(comm, Buffer(running.values), sum);
    running.narrowed = true;
  }

  bool test(std::size_t bucket) override {
    const GradientBucket& b = buckets_[bucket];
    Running& running = running_[bucket];
    if (!running.request.test()) return false;
    if (!running.narrowed) return true;
    if (b.data.type.kind() == DatatypeKind::float32)
      training::widen_run(running.values.data(), static_cast<float*>(b.data.data), b.data.count);
    else
      training::widen_run(running.values.data(), static_cast<double*>(b.data.data), b.data.count);
    running.narrowed = false;
    return true;
  }

  [[nodiscard]] std::size_t bytes(std::size_t bucket) const override {
    return buckets_[bucket].data.count * sizeof(Narrow);
  }

 private:
  struct Running {
    std::vector<Narrow> values{};  ///< the values on the wire
    Request request{};
    bool narrowed = false;  ///< `values` have not been widened yet
  };

  void check(const GradientBucket& bucket) const {
    const DatatypeKind type = bucket.data.type.kind();
    if (is_wide(type) || is_narrow(type)) return;
    throw Error(ErrorCode::invalid_datatype, std::string("communication hook ") + name_ + ": bucket " +
                                                 std::to_string(bucket.index) + " is of type " + datatype_name(type) +
                                                 "; it must be float32, float64, float16 or bfloat16");
  }

  const char* name_;
  std::span<const Communicator> comms_{};
  std::span<const GradientBucket> buckets_{};
  std::vector<Running> running_{};
};

}  // namespace

std::shared_ptr<CommunicationHook> bf16_hook() { return std::make_shared<NarrowHook<bfloat16_t>>("bf16"); }
std::shared_ptr<CommunicationHook> fp16_hook() { return std::make_shared<NarrowHook<float16_t>>("fp16"); }

}  // namespace tutti
