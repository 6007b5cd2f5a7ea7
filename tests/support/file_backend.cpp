// SPDX-License-Identifier: BSD-3-Clause
#include "support/file_backend.hpp"

#include <fmt/format.h>

#include <stdlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "call/agreement.hpp"
#include "call/candidates.hpp"
#include "call/execution.hpp"
#include "call/plan.hpp"
#include "call/schedule_rules.hpp"
#include "kernels/combine.hpp"
#include "operation/shape.hpp"

namespace tutti::test {
namespace {

namespace fs = std::filesystem;
using namespace tutti::detail;
using schedules::BufferName;
using schedules::Local;
using schedules::Slice;
using schedules::Transfer;

std::atomic<int> completed{0};

/// The folder of one communicator's messages. Rank 0 removes it.
class Mailbox final : public BackendState {
 public:
  explicit Mailbox(fs::path folder, bool owns) : folder_(std::move(folder)), owns_(owns) {}
  ~Mailbox() override {
    std::error_code ignored;
    if (owns_) fs::remove_all(folder_, ignored);
  }

  [[nodiscard]] Turn next_turn() noexcept { return {next_++}; }

  void put(const std::string& name, const std::byte* data, std::size_t bytes) const {
    const fs::path half = folder_ / (name + ".half");
    std::ofstream(half, std::ios::binary)
        .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(bytes));
    fs::rename(half, folder_ / name);  // whoever sees the name sees the whole message
  }
  [[nodiscard]] bool take(const std::string& name, std::byte* data, std::size_t bytes) const {
    const fs::path path = folder_ / name;
    if (!fs::exists(path)) return false;
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(data), static_cast<std::streamsize>(bytes));
    if (file.gcount() != static_cast<std::streamsize>(bytes)) throw Error(ErrorCode::io, "short message " + name);
    fs::remove(path);
    return true;
  }

 private:
  fs::path folder_;
  bool owns_;
  std::int64_t next_ = 0;
};

/// A schedule whose messages are files named after turn, start, sender, receiver and number among the pair's.
class FileExecution final : public Execution {
 public:
  FileExecution(const ContextPtr& context, PlanPtr plan, Binding binding, Turn turn, const CallOptions& options)
      : Execution(context, options.timeout, plan->signature.kind == CallKind::persistent),
        plan_(std::move(plan)),
        binding_(std::move(binding)),
        schedule_(bound_schedule(*context, *plan_, binding_)),
        mailbox_(static_cast<Mailbox&>(*context->state_of(file_backend))),
        turn_(turn),
        unit_(plan_->signature.type.size()),
        scratch_(schedule_->scratch_count * unit_) {}

  [[nodiscard]] std::string name() const override {
    return std::string(operation_name(plan_->signature.operation)) + " (file)";
  }

 private:
  struct Awaited {
    std::string name;
    Slice slice;
  };

  bool begin() override {
    ++start_;
    round_ = 0;
    sent_.assign(static_cast<std::size_t>(comm().size), 0);
    received_ = sent_;
    copy_input();
    post();
    return step();
  }

  bool step() override {
    for (; round_ < schedule_->rounds.size(); ++round_, post()) {
      if (!receive()) return false;
      for (const Local& local : schedule_->rounds[round_].locals) run(local);
    }
    divide_average();
    ++completed;
    return true;
  }

  void cancel() noexcept override {}

  /// The schedule reads a copy, so that neither "in place" nor a factor needs thought.
  void copy_input() {
    const Signature& s = plan_->signature;
    const std::size_t count = binding_.input == nullptr ? 0 : Shape(s, binding_, comm().rank, comm().size).input_end();
    input_.resize(count * unit_);
    if (count == 0) return;
    if (s.op == ReduceKind::premul_sum)
      kernels::scale_copy(s.type, binding_.input, input_.data(), count, binding_.op.scalar());
    else
      std::memcpy(input_.data(), binding_.input, input_.size());
  }

  [[nodiscard]] std::byte* address(const Slice& slice) {
    std::byte* base = slice.buffer == BufferName::input    ? input_.data()
                      : slice.buffer == BufferName::output ? static_cast<std::byte*>(binding_.output)
                                                           : scratch_.data();
    return base + slice.offset * unit_;
  }

  /// The next message of a pair: ranks need not agree on the number of a round, but on the order of a pair's messages.
  [[nodiscard]] std::string next_message(std::vector<int>& counts, int peer, int from, int to) const {
    return fmt::format("{}.{}.{}.{}.{}", turn_.number, start_, from, to, counts[static_cast<std::size_t>(peer)]++);
  }

  /// Writes the messages of a round, and names those that it waits for.
  void post() {
    awaited_.clear();
    if (round_ >= schedule_->rounds.size()) return;
    for (const Transfer& t : schedule_->rounds[round_].transfers) {
      if (t.kind == Transfer::Kind::send)
        mailbox_.put(next_message(sent_, t.peer, comm().rank, t.peer), address(t.slice), t.slice.count * unit_);
      else
        awaited_.push_back({next_message(received_, t.peer, t.peer, comm().rank), t.slice});
    }
  }

  bool receive() {
    std::erase_if(awaited_, [this](const Awaited& one) {
      return mailbox_.take(one.name, address(one.slice), one.slice.count * unit_);
    });
    return awaited_.empty();
  }

  void run(const Local& local) {
    if (local.output.count == 0) return;
    std::vector<const void*> inputs;
    for (const Slice& input : local.inputs) inputs.push_back(address(input));
    const Signature& s = plan_->signature;
    std::byte* to = address(local.output);
    if (local.kind != Local::Kind::reduce)
      std::memmove(to, inputs.front(), local.output.count * unit_);
    else if (s.op == ReduceKind::avg && plan_->algorithm->single_combine)
      kernels::combine_avg(s.type, inputs, to, local.output.count, static_cast<std::size_t>(comm().size));
    else
      kernels::combine(s.type, binding_.op, inputs, to, local.output.count);
  }

  void divide_average() {
    const Signature& s = plan_->signature;
    if (s.op != ReduceKind::avg || comm().size == 1 || plan_->algorithm->single_combine) return;
    const std::size_t count = Shape(s, binding_, comm().rank, comm().size).result_count();
    if (count > 0) kernels::divide(s.type, binding_.output, count, static_cast<std::size_t>(comm().size));
  }

  PlanPtr plan_;
  Binding binding_;
  std::shared_ptr<const schedules::Schedule> schedule_;
  Mailbox& mailbox_;
  Turn turn_;
  std::size_t unit_;
  std::vector<std::byte> input_;
  std::vector<std::byte> scratch_;
  std::vector<int> sent_;
  std::vector<int> received_;
  std::vector<Awaited> awaited_;
  std::size_t round_ = 0;
  int start_ = 0;
};

/// The first schedule that gives the right result.
void add_candidates(Candidates& all) {
  if (all.on_device()) return;
  for (const schedules::Algorithm& algorithm : schedules::algorithms_of(all.signature().operation)) {
    if (!why_wrong(algorithm, all.signature(), all.wiring().spread).empty()) continue;
    Candidate c;
    c.algorithm = &algorithm;
    c.name = "file";
    c.seconds = 1;
    c.advise_against("for tests; only by name");
    return all.add(std::move(c));
  }
}

Turn take_turn(Context& context, const Plan& /*plan*/, std::chrono::nanoseconds /*timeout*/) {
  return static_cast<Mailbox&>(*context.state_of(file_backend)).next_turn();
}

std::shared_ptr<Execution> make(const ContextPtr& context, const PlanPtr& plan, Binding&& binding, const Turn* turn,
                                const CallOptions& options) {
  if (turn == nullptr) {
    options.note.stamp();
    return make_execution(context, plan, std::move(binding), options);
  }
  return std::make_shared<FileExecution>(context, plan, std::move(binding), *turn, options);
}

std::unique_ptr<BackendState> create_state(Context& context, std::string& /*report*/) {
  std::array<char, 256> name{};
  if (context.rank == 0) {
    std::string pattern = (fs::temp_directory_path() / "tutti-mail-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw Error(ErrorCode::io, "no folder for messages: " + pattern);
    std::copy_n(pattern.data(), std::min(pattern.size(), name.size() - 1), name.data());
  }
  name = all_gather(context, name).front();
  return std::make_unique<Mailbox>(name.data(), context.rank == 0);
}

}  // namespace

int executions_by_files() { return completed.load(); }

constinit Backend file_backend{.name = "file",
                               .add_candidates = add_candidates,
                               .complete = add_schedule,
                               .take_turn = take_turn,
                               .make = make,
                               .create_state = create_state};

}  // namespace tutti::test
