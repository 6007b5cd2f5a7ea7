// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tutti/error.hpp>

#include "backends/nccl/rules.hpp"
#include "planner/planner.hpp"
#include "schedules/layout.hpp"

namespace tutti::detail {
namespace {

using schedules::Algorithm;

// Of a server GPU of today: what a kernel's launch and a look at its event take, and what lies between host and device.
constexpr double launch_seconds = 8e-6;
constexpr double copy_seconds = 10e-6;
constexpr double copy_rate = 25e9;
constexpr double fabric_rate = 200e9;

class DeviceCollection {
 public:
  DeviceCollection(const Signature& signature, const Machine& machine)
      : signature_(signature),
        machine_(machine),
        bytes_(bytes_of_call(signature, machine.size)),
        wiring_(wiring_of(machine)) {}

  void add_nccl();
  void add_schedules();
  void add_staged();
  [[nodiscard]] std::vector<Candidate> take() && {
    sort_candidates(all_);
    return std::move(all_);
  }

 private:
  void add(Candidate candidate);
  void add_direct();
  void add_group(const Algorithm& algorithm);
  void add_schedule(const Algorithm& algorithm);
  [[nodiscard]] std::string why_no_kernels() const;
  [[nodiscard]] std::string why_no_nccl() const;

  const Signature& signature_;
  const Machine& machine_;
  double bytes_;
  Wiring wiring_;
  bool has_direct_ = false;
  std::vector<Candidate> all_;
};

void DeviceCollection::add(Candidate candidate) {
  candidate.nameable = candidate.nameable && (candidate.excluded.empty() || candidate.excluded.ends_with("by name"));
  all_.push_back(std::move(candidate));
}

std::string DeviceCollection::why_no_nccl() const {
  if (!machine_.device_prepared) return "the communicator is not prepared for device memory: call prepare_device";
  if (machine_.nccl_version == 0) return "NCCL is not used here: see device_report";
  return {};
}

std::string DeviceCollection::why_no_kernels() const {
  if (!schedules::combines(signature_.operation)) return {};
  if (signature_.op == ReduceKind::user) return "a user's operation runs on the host";
  if (!machine_.device_kernels) return "this build has no kernels for the device: its Kokkos has none";
  return {};
}

void DeviceCollection::add_direct() {
  Candidate c;
  c.backend = Backend::nccl;
  c.name = "nccl:direct";
  c.seconds = launch_seconds + bytes_ / fabric_rate;
  c.excluded = why_no_nccl();
  if (c.excluded.empty() && !nccl::is_direct(signature_, machine_.nccl_version))
    c.excluded = "NCCL has no such collective, or its result is another one";
  has_direct_ = c.excluded.empty();
  c.preferred = has_direct_;
  add(std::move(c));
}

void DeviceCollection::add_group(const Algorithm& algorithm) {
  Candidate c;
  c.backend = Backend::nccl;
  c.algorithm = &algorithm;
  c.name = fmt::format("nccl:{}", algorithm.name);
  c.excluded = why_no_nccl();
  if (c.excluded.empty()) c.excluded = why_wrong(algorithm, signature_, wiring_.spread);
  std::string why;
  if (c.excluded.empty() && !nccl::can_group(algorithm, signature_, machine_.device_kernels, why)) c.excluded = why;
  const bool works = c.excluded.empty();
  c.seconds = std::numeric_limits<double>::infinity();
  if (works) {
    const auto cost = algorithm.cost(machine_.size, bytes_);
    c.seconds = launch_seconds * (1 + 2 * cost.rounds) + cost.bytes / fabric_rate;
    c.preferred = !has_direct_ && nccl::preferred_algorithm(signature_, machine_.size) == algorithm.name;
    if (has_direct_) c.excluded = "NCCL's own collective makes the call; only by name";
  }
  add(std::move(c));
}

void DeviceCollection::add_nccl() {
  add_direct();
  for (const Algorithm& algorithm : schedules::algorithms_of(signature_.operation)) add_group(algorithm);
}

void DeviceCollection::add_schedule(const Algorithm& algorithm) {
  Candidate c;
  c.algorithm = &algorithm;
  c.name = fmt::format("mpi:{}", algorithm.name);
  c.excluded = machine_.device_prepared ? why_wrong(algorithm, signature_, wiring_.spread)
                                        : "the communicator is not prepared for device memory: call prepare_device";
  if (c.excluded.empty()) c.excluded = why_no_kernels();
  c.seconds = std::numeric_limits<double>::infinity();
  if (c.excluded.empty()) {
    const double rounds = algorithm.cost(machine_.size, 1.0).rounds;
    c.seconds = predict(algorithm, signature_, wiring_) + launch_seconds * (1 + 2 * rounds);
    if (algorithm.max_size != 0 && machine_.size > algorithm.max_size)
      c.excluded = fmt::format("made for at most {} ranks; only by name", algorithm.max_size);
    else if (!machine_.cuda_aware)
      c.excluded = "the MPI takes no device memory: each message would be copied; only by name";
  }
  add(std::move(c));
}

void DeviceCollection::add_schedules() {
  for (const Algorithm& algorithm : schedules::algorithms_of(signature_.operation)) add_schedule(algorithm);
  for (const Algorithm& algorithm : schedules::hierarchical_algorithms_of(signature_.operation))
    if (machine_.several_nodes) add_schedule(algorithm);
}

void DeviceCollection::add_staged() {
  Candidate c;
  c.backend = Backend::staged;
  c.name = "staged";
  c.seconds = 2 * (copy_seconds + bytes_ / copy_rate) + host_candidate(signature_, signature_.count, machine_).seconds;
  add(std::move(c));
}

}  // namespace

Signature host_signature(const Signature& device_signature, std::size_t count) {
  Signature host = device_signature;
  host.memory = MemoryClass::host;
  host.count = count;
  host.algorithm.clear();
  return host;
}

Candidate host_candidate(const Signature& device_signature, std::size_t count, const Machine& machine) {
  for (Candidate& c : candidates(host_signature(device_signature, count), machine))
    if (c.backend != Backend::native && c.excluded.empty()) return std::move(c);
  throw Error(ErrorCode::internal, fmt::format("{}: no algorithm in host memory for {} ranks",
                                               schedules::operation_name(device_signature.operation), machine.size));
}

std::vector<Candidate> device_candidates(const Signature& signature, const Machine& machine) {
  DeviceCollection all(signature, machine);
  all.add_nccl();
  all.add_schedules();
  all.add_staged();
  return std::move(all).take();
}

}  // namespace tutti::detail
