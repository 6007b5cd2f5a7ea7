// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include "structs.hpp"
#include "training_handles.hpp"

namespace tutti::c {
namespace {

class UserHook final : public CommunicationHook {
 public:
  explicit UserHook(const tutti_hook_t& functions) : functions_(functions) {}
  ~UserHook() override { free_comms(); }
  UserHook(const UserHook&) = delete;
  UserHook& operator=(const UserHook&) = delete;

  [[nodiscard]] std::string name() const override { return "user"; }

  void prepare(std::span<const Communicator> comms, std::span<const GradientBucket> buckets) override {
    free_comms();
    comms_.reserve(comms.size());
    for (const Communicator& comm : comms)
      comms_.push_back(make_handle<tutti_comm_t>(CommRecord{Communicator(comm.state())}));
    std::vector<tutti_bucket_t> given;
    bytes_.clear();
    for (const GradientBucket& bucket : buckets) {
      const Buffer& data = bucket.data;
      given.push_back(
          {data.data, data.count, datatype_handle(data.type), bucket.op == ReduceKind::avg ? TUTTI_AVG : TUTTI_SUM});
      bytes_.push_back(data.count * data.type.size());
    }
    check(functions_.prepare(functions_.context, comms_.size(), comms_.data(), given.size(), given.data()), "prepare");
  }

  void start(std::size_t bucket) override { check(functions_.start(functions_.context, bucket), "start"); }

  bool test(std::size_t bucket) override {
    int done = 0;
    check(functions_.test(functions_.context, bucket, &done), "test");
    return done != 0;
  }

  [[nodiscard]] std::size_t bytes(std::size_t bucket) const override {
    return functions_.bytes != nullptr ? functions_.bytes(functions_.context, bucket) : bytes_[bucket];
  }

 private:
  void free_comms() noexcept {
    for (tutti_comm_t& comm : comms_) (void)tutti_comm_free(&comm);
    comms_.clear();
  }
  static void check(int code, const char* function) {
    if (code == TUTTI_SUCCESS) return;
    throw Error(static_cast<ErrorCode>(code),
                fmt::format("{} of the user's hook returned {} ({}); the latest message: {}", function, code,
                            tutti_error_string(code), tutti_error_message()));
  }

  tutti_hook_t functions_;
  std::vector<tutti_comm_t> comms_;
  std::vector<std::size_t> bytes_;
};

}  // namespace

std::shared_ptr<CommunicationHook> user_hook(const tutti_hook_t* given) {
  if (given == nullptr) throw_null("options.user_hook", "pass a tutti_hook_t initialised with TUTTI_HOOK_INIT");
  const auto functions =
      read_struct(given, tutti_hook_t TUTTI_HOOK_INIT, TUTTI_HOOK_VERSION, "options.user_hook", "TUTTI_HOOK_INIT");
  if (functions.prepare == nullptr) refuse_member("options.user_hook", "prepare", "is NULL; pass a function");
  if (functions.start == nullptr) refuse_member("options.user_hook", "start", "is NULL; pass a function");
  if (functions.test == nullptr) refuse_member("options.user_hook", "test", "is NULL; pass a function");
  return std::make_shared<UserHook>(functions);
}

}  // namespace tutti::c
