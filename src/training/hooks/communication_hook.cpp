// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/allreduce.hpp>
#include <tutti/communication_hook.hpp>
#include <tutti/error.hpp>
#include <tutti/request.hpp>
#include <vector>

namespace tutti {

CommunicationHook::~CommunicationHook() = default;

void CommunicationHook::load(std::span<const std::byte> state) {
  if (state.empty()) return;
  throw Error(ErrorCode::invalid_argument, "communication hook " + name() + ": keeps no state, but " +
                                               std::to_string(state.size()) +
                                               " bytes were given to load(); do they come from another hook?");
}

namespace {

class AllreduceHook final : public CommunicationHook {
 public:
  explicit AllreduceHook(const AllreduceHookOptions& options) : options_(options) {}

  [[nodiscard]] std::string name() const override { return "allreduce"; }

  void prepare(std::span<const Communicator> comms, std::span<const GradientBucket> buckets) override {
    comms_ = comms;
    buckets_ = buckets;
    requests_.clear();
    requests_.resize(buckets.size());
  }

  void start(std::size_t bucket) override {
    const GradientBucket& b = buckets_[bucket];
    Options options;
    options.memory = b.data.memory;
    options.stream = b.stream;
    options.accumulation = options_.accumulation;
    requests_[bucket] = iallreduce(comms_[bucket % comms_.size()], b.data, b.op, options);
  }

  bool test(std::size_t bucket) override { return requests_[bucket].test(buckets_[bucket].stream); }

  [[nodiscard]] bool takes_device_memory() const override { return true; }

  [[nodiscard]] std::size_t bytes(std::size_t bucket) const override {
    return buckets_[bucket].data.count * buckets_[bucket].data.type.size();
  }

 private:
  AllreduceHookOptions options_;
  std::span<const Communicator> comms_;
  std::span<const GradientBucket> buckets_;
  std::vector<Request> requests_;
};

}  // namespace

std::shared_ptr<CommunicationHook> allreduce_hook(const AllreduceHookOptions& options) {
  return std::make_shared<AllreduceHook>(options);
}

}  // namespace tutti
