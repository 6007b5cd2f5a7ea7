// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <tutti/communication_hook.hpp>
#include <tutti/error.hpp>
#include <vector>

#include "training/hooks/power_sgd_bucket.hpp"

namespace tutti {

namespace {

class PowerSgdHook final : public CommunicationHook {
 public:
  explicit PowerSgdHook(const PowerSgdOptions& options) : options_(options) {}

  [[nodiscard]] std::string name() const override { return "power_sgd"; }

  void prepare(std::span<const Communicator> comms, std::span<const GradientBucket> buckets) override {
    buckets_.clear();
    for (const GradientBucket& bucket : buckets)
      buckets_.push_back(training::make_power_sgd_bucket(comms[bucket.index % comms.size()], bucket, options_, state_));
  }

  void start(std::size_t bucket) override {
    if (bucket == 0) {
      compresses_ = state_.step >= options_.start_step;
      ++state_.step;
    }
    buckets_[bucket]->start(compresses_);
  }

  bool test(std::size_t bucket) override { return buckets_[bucket]->test(); }

  [[nodiscard]] std::size_t bytes(std::size_t bucket) const override {
    return buckets_[bucket]->bytes(state_.step > 0 ? compresses_ : options_.start_step == 0);
  }

  [[nodiscard]] std::vector<std::byte> save() const override { return state_.save(); }
  void load(std::span<const std::byte> state) override {
    state_.load(state);
    compresses_ = state_.step > options_.start_step;
  }

 private:
  PowerSgdOptions options_;
  training::PowerSgdState state_{};
  std::vector<std::unique_ptr<training::PowerSgdBucket>> buckets_{};
  bool compresses_ = false;
};

}  // namespace

std::shared_ptr<CommunicationHook> power_sgd_hook(const PowerSgdOptions& options) {
  if (options.rank == 0)
    throw Error(ErrorCode::invalid_argument, "power_sgd_hook: rank is 0; it must be at least 1 (2 is usual)");
  if (!(options.min_compression_rate > 0))
    throw Error(ErrorCode::invalid_argument, "power_sgd_hook: min_compression_rate is " +
                                                 std::to_string(options.min_compression_rate) +
                                                 "; it must be positive");
  return std::make_shared<PowerSgdHook>(options);
}

}  // namespace tutti
