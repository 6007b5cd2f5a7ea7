// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "tools/doctor/rules.hpp"
#include "topology/matrix.hpp"

namespace tutti::tools::doctor {
namespace {

using detail::Connection;
using detail::Element;
using detail::ElementKind;

bool has_gpus(const Job& job) {
  return std::ranges::any_of(job.hardware.elements,
                             [](const Element& element) { return element.kind == ElementKind::gpu; });
}

bool uses_devices(const Job& job) {
  return std::ranges::any_of(job.ranks, [](const RankFacts& facts) { return facts.device.count > 0; });
}

/// "12.4" of 12040.
std::string cuda_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

/// CUDA writes upper-case letters and hwloc lower-case ones.
std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// The place of a rank's current GPU among the elements of the hardware.
std::optional<std::size_t> gpu_of(const Job& job, int rank) {
  const std::string bus = lower(facts_of(job, rank).device.bus_id);
  const int node = job.topology.places[static_cast<std::size_t>(rank)].node;
  if (bus.empty() || facts_of(job, rank).device.count == 0) return std::nullopt;
  for (std::size_t i = 0; i < job.hardware.elements.size(); ++i) {
    const Element& element = job.hardware.elements[i];
    // CUDA's domain has 4 or 8 digits.
    if (element.kind == ElementKind::gpu && element.node == node && !element.bus_id.empty() &&
        bus.ends_with(lower(element.bus_id)))
      return i;
  }
  return std::nullopt;
}

std::optional<Finding> not_built(const Job& job) {
  if (!has_gpus(job) || job.ranks.front().device.is_built) return std::nullopt;
  return Finding{Severity::note, "cuda-not-built", "the nodes have GPUs, but this library was built without CUDA",
                 "build it with TUTTI_ENABLE_CUDA=ON if programs communicate from device memory"};
}

std::optional<Finding> no_device(const Job& job) {
  const auto ranks = ranks_where(job, [](const RankFacts& facts) {
    return facts.device.is_built && (facts.device.count == 0 || !facts.device.problem.empty());
  });
  if (ranks.empty() || (!has_gpus(job) && !uses_devices(job))) return std::nullopt;
  const std::string& problem = facts_of(job, ranks.front()).device.problem;
  return Finding{Severity::slow, "no-device",
                 fmt::format("CUDA finds no usable GPU on {}{}", ranks_text(ranks, job.size()),
                             problem.empty() ? "" : ": " + problem),
                 "check nvidia-smi, CUDA_VISIBLE_DEVICES and the driver; in a container: --gpus all"};
}

std::optional<Finding> old_driver(const Job& job) {
  const auto ranks = ranks_where(job, [](const RankFacts& facts) {
    const Device& device = facts.device;
    return device.driver_version > 0 && device.driver_version / 1000 < device.runtime_version / 1000;
  });
  if (ranks.empty()) return std::nullopt;
  const Device& device = facts_of(job, ranks.front()).device;
  return Finding{
      Severity::error, "cuda-driver",
      fmt::format("the driver of {} supports CUDA {}, but this library uses CUDA {}", ranks_text(ranks, job.size()),
                  cuda_text(device.driver_version), cuda_text(device.runtime_version)),
      "install a newer driver or CUDA's compatibility package, or build with an older toolkit"};
}

std::optional<Finding> no_nccl(const Job& job) {
  const auto ranks =
      ranks_where(job, [](const RankFacts& facts) { return facts.device.count > 0 && facts.device.nccl_version == 0; });
  if (ranks.empty() || job.size() == 1) return std::nullopt;
  return Finding{Severity::slow, "no-nccl",
                 fmt::format("{} cannot use NCCL: {}", ranks_text(ranks, job.size()),
                             facts_of(job, ranks.front()).device.nccl_problem),
                 "install NCCL 2.18 or later, or name its file by TUTTI_NCCL_LIBRARY"};
}

std::optional<Finding> nccl_differs(const Job& job) {
  const auto ranks = ranks_where(job, [&job](const RankFacts& facts) {
    return facts.device.nccl_version != job.ranks.front().device.nccl_version && facts.device.count > 0;
  });
  if (ranks.empty() || no_nccl(job)) return std::nullopt;
  return Finding{
      Severity::slow, "nccl-differs",
      fmt::format("{} have another version of NCCL than rank 0, so no rank uses it", ranks_text(ranks, job.size())),
      "install one version on all nodes, or name one file by TUTTI_NCCL_LIBRARY"};
}

std::optional<Finding> not_cuda_aware(const Job& job) {
  if (!job.made.device_prepared || job.made.cuda_aware || job.size() == 1) return std::nullopt;
  return Finding{Severity::note, "cuda-aware",
                 "the MPI takes no device addresses: messages between GPUs go through pinned host memory",
                 "use an MPI with CUDA, or set TUTTI_CUDA_AWARE=1 if it has one and does not say so"};
}

std::optional<Finding> shared_gpu(const Job& job) {
  std::map<std::size_t, std::vector<int>> ranks_of;
  for (int rank = 0; rank < job.size(); ++rank)
    if (const auto gpu = gpu_of(job, rank)) ranks_of[*gpu].push_back(rank);
  for (const auto& shared : ranks_of) {
    const std::size_t gpu = shared.first;
    const std::vector<int>& ranks = shared.second;
    const auto on_node = [&](const auto& entry) {
      return job.hardware.elements[entry.first].node == job.hardware.elements[gpu].node;
    };
    const auto used = static_cast<int>(std::ranges::count_if(ranks_of, on_node));
    const int idle = count_on_node(job, ranks.front(), ElementKind::gpu) - used;
    if (ranks.size() < 2 || idle <= 0) continue;
    return Finding{Severity::slow, "one-gpu",
                   fmt::format("{} on {} use {}, while {} GPUs have no rank", ranks_text(ranks, job.size() + 1),
                               facts_of(job, ranks.front()).host, job.hardware.elements[gpu].name, idle),
                   "call cudaSetDevice(local rank) before the first communicator, or give each rank a GPU "
                   "(CUDA_VISIBLE_DEVICES, srun --gpus-per-task=1)"};
  }
  return std::nullopt;
}

std::optional<Finding> far_gpu(const Job& job) {
  for (int rank = 0; rank < job.size(); ++rank) {
    const auto gpu = gpu_of(job, rank);
    const int numa = job.topology.places[static_cast<std::size_t>(rank)].numa;
    if (!gpu || numa < 0) continue;
    const Element& element = job.hardware.elements[*gpu];
    if (element.numas.empty() || std::ranges::find(element.numas, numa) != element.numas.end()) continue;
    return Finding{Severity::slow, "far-gpu",
                   fmt::format("rank {} runs on NUMA node {}, but {} is near NUMA node {}", rank, numa, element.name,
                               element.numas.front()),
                   "bind ranks to cores near their GPU (tutti topo shows which), or give them another GPU"};
  }
  return std::nullopt;
}

std::optional<Finding> far_nic(const Job& job) {
  if (job.topology.nodes < 2) return std::nullopt;
  for (int rank = 0; rank < job.size(); ++rank) {
    const auto gpu = gpu_of(job, rank);
    if (!gpu) continue;
    const int node = job.hardware.elements[*gpu].node;
    bool has_nic = false;
    bool is_near = false;
    for (std::size_t i = 0; i < job.hardware.elements.size(); ++i) {
      if (job.hardware.elements[i].kind != ElementKind::nic || job.hardware.elements[i].node != node) continue;
      has_nic = true;
      is_near = is_near || detail::relation(job.hardware, *gpu, i).link < Connection::sys;
    }
    if (!has_nic || is_near) continue;
    return Finding{Severity::note, "far-nic",
                   fmt::format("no network card is near {}, the GPU of rank {}: its data cross the connection between "
                               "NUMA nodes",
                               job.hardware.elements[*gpu].name, rank),
                   "prefer GPUs and network cards below one PCIe bridge (tutti topo shows them)"};
  }
  return std::nullopt;
}

}  // namespace

std::span<const Rule> device_rules() {
  static constexpr std::array<Rule, 9> all = {not_built,      no_device,  old_driver, no_nccl, nccl_differs,
                                              not_cuda_aware, shared_gpu, far_gpu,    far_nic};
  return all;
}

}  // namespace tutti::tools::doctor
