// SPDX-License-Identifier: BSD-3-Clause
#include "tools/doctor/rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace {

using namespace tutti;
using namespace tutti::tools::doctor;
using detail::Element;
using detail::ElementKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Element element(ElementKind kind, const std::string& name, int node = 0) {
  Element made;
  made.kind = kind;
  made.name = name;
  made.node = node;
  return made;
}

RankFacts good_rank(int unit) {
  RankFacts facts;
  facts.host = "host";
  facts.shm = {true, false, std::uint64_t{1} << 30U, std::uint64_t{1} << 31U, 7, ""};
  facts.walls = {"pid:[1]", "ipc:[1]", 1000, 0, 0, false};
  facts.processor = {{unit}, {unit}, "performance", "tsc", "madvise"};
  facts.thread_level = 1;
  return facts;
}

/// Four ranks, each bound to a core of its own, on a node of eight cores and two NUMA nodes with a GPU and a network
/// card each. All is well.
Job good_job() {
  Job job;
  job.mpi = "MPICH 4.0.2";
  job.topology.nodes = 1;
  job.topology.ranks_per_node = {4};
  job.topology.cores_per_node = {4};
  job.topology.host_names = {"host"};
  for (int rank = 0; rank < 4; ++rank) {
    job.ranks.push_back(good_rank(rank));
    job.topology.places.push_back({0, rank, 0, 0, rank, 1});
  }
  for (int core = 0; core < 8; ++core) job.hardware.elements.push_back(element(ElementKind::core, "core"));
  for (int numa = 0; numa < 2; ++numa) {
    job.hardware.elements.push_back(element(ElementKind::numa, "NUMA"));
    for (const ElementKind kind : {ElementKind::gpu, ElementKind::nic}) {
      Element device = element(kind, kind == ElementKind::gpu ? "GPU" + std::to_string(numa) : "nic");
      device.numas = {numa};
      device.bus_id = kind == ElementKind::gpu ? "0000:1" + std::to_string(numa) + ":00.0" : "";
      job.hardware.elements.push_back(device);
    }
  }
  for (RankFacts& facts : job.ranks) facts.device = {true, 2, 0, "H100", "0000:10:00.0", 13000, 12040, 22809, "", ""};
  job.made = {true, "", true, true, "", "calibrated now, in 9.0 ms", true, "MPIX_Async_start", true, true, 22809, ""};
  job.tuning = {Tuning::Status::found, "table"};
  // Two ranks on each GPU, so that none is idle.
  for (const std::size_t rank : {2U, 3U}) {
    job.ranks[rank].device.bus_id = "0000:11:00.0";
    job.topology.places[rank].numa = 1;
  }
  return job;
}

/// The good job with all ranks on the first NUMA node and GPU 0 alone, or without GPUs.
Job job_without_gpus() {
  Job job = good_job();
  std::erase_if(job.hardware.elements, [](const Element& one) { return one.kind == ElementKind::gpu; });
  for (RankFacts& facts : job.ranks) facts.device = {};
  for (Place& place : job.topology.places) place.numa = 0;
  job.made.device_prepared = false;
  return job;
}

std::vector<std::string> names_of(const Job& job) {
  std::vector<std::string> names;
  for (const Finding& finding : findings_of(job)) names.push_back(finding.name);
  return names;
}

TEST(DoctorRules, FindNothingWhereAllIsWell) { EXPECT_THAT(names_of(job_without_gpus()), IsEmpty()); }

struct Trouble {
  const char* name;
  Severity severity;
  const char* text;  ///< part of the finding
  std::function<void(Job&)> make;
};

void PrintTo(const Trouble& trouble, std::ostream* out) { *out << trouble.name << ": " << trouble.text; }

void set_variable(Job& job, const std::string& name, const std::string& value) {
  for (RankFacts& facts : job.ranks) facts.variables[name] = value;
}

/// Two ranks on the core of the first.
void share_a_core(Job& job, int second_unit) {
  job.ranks[1].processor.units = {second_unit};
  job.ranks[1].processor.cores = {0};
}

class OneTrouble : public ::testing::TestWithParam<Trouble> {};

TEST_P(OneTrouble, IsTheOnlyFinding) {
  Job job = job_without_gpus();
  GetParam().make(job);
  const std::vector<Finding> findings = findings_of(job);
  ASSERT_THAT(names_of(job), ElementsAre(GetParam().name));
  EXPECT_EQ(findings[0].severity, GetParam().severity);
  EXPECT_THAT(findings[0].text, HasSubstr(GetParam().text));
  EXPECT_FALSE(findings[0].remedy.empty());
}

// NOLINTBEGIN(cert-err58-cpp)
const Trouble troubles_of_jobs[] = {
    {"launcher", Severity::error, "Open MPI started 4 processes (X=4)",
     [](Job& job) {
       job.launcher = {"Open MPI", "X", 4};
     }},
    {"communicator", Severity::error, "rank 2: no",
     [](Job& job) {
       job.made = {};
       job.made.problem = "rank 2: no";
     }},
    {"variables", Severity::note, "TUTTI_TIMOUT", [](Job& job) { job.ranks[1].doubts = {"TUTTI_TIMOUT is none"}; }},
    {"variables-differ", Severity::note, "TUTTI_X (rank 0: unset, rank 3: 1)",
     [](Job& job) { job.ranks[3].variables["TUTTI_X"] = "1"; }},
    {"threads", Severity::error, "MPI_THREAD_FUNNELED to all ranks",
     [](Job& job) {
       job.topology.cores_per_node = {8};
       set_variable(job, "TUTTI_PROGRESS_THREAD", "1");
     }},
    {"thread-cores", Severity::slow, "4 ranks and as many progress threads share 4",
     [](Job& job) {
       for (RankFacts& facts : job.ranks) facts.thread_level = 3;
       set_variable(job, "TUTTI_PROGRESS_THREAD", "on");
     }},
};

const Trouble troubles_of_memory[] = {
    {"shm-absent", Severity::slow, "not there", [](Job& job) { job.ranks[2].shm.exists = false; }},
    {"shm-read-only", Severity::slow, "read-only", [](Job& job) { job.ranks[0].shm.is_read_only = true; }},
    {"shm-full", Severity::slow, "1 MiB of 2 GiB free",
     [](Job& job) {
       for (RankFacts& facts : job.ranks) facts.shm.free_bytes = 1U << 20U;
       job.made.shared_memory = job.made.single_copy = false;
     }},
    {"shm-trial", Severity::slow, "rank 1 on node host (all ranks): refused",
     [](Job& job) { job.ranks[1].shm.problem = "refused"; }},
    {"shm-differs", Severity::slow, "2 different", [](Job& job) { job.ranks[1].shm.file_system = 8; }},
    {"shm-off", Severity::slow, "TUTTI_SHM=0 on all ranks",
     [](Job& job) {
       set_variable(job, "TUTTI_SHM", "0");
       job.made.shared_memory = job.made.single_copy = false;
     }},
    {"shm", Severity::slow, "unheard of",
     [](Job& job) {
       job.made.shared_memory = job.made.single_copy = false;
       job.made.shm_report = "unheard of";
     }},
    {"file-limit", Severity::slow, "50 KiB", [](Job& job) { job.ranks[3].limits.file_bytes = 50U << 10U; }},
    {"address-limit", Severity::note, "rank 2 may map 2 GiB",
     [](Job& job) { job.ranks[2].limits.address_bytes = std::uint64_t{2} << 30U; }},
    {"descriptor-limit", Severity::slow, "rank 1 may open 33 files (ulimit -n) and has 28",
     [](Job& job) {
       job.ranks[0].limits.descriptors = 34;  // as many as 4 ranks take
       job.ranks[0].limits.open_descriptors = 28;
       job.ranks[1].limits = job.ranks[0].limits;
       job.ranks[1].limits.descriptors = 33;
     }},
    {"group-memory", Severity::error, "1 MiB of its 64 MiB",
     [](Job& job) {
       job.ranks[0].limits.group_bytes = 64U << 20U;
       job.ranks[0].limits.group_free_bytes = 1U << 20U;
     }},
    {"huge-pages", Severity::note, "no huge pages", [](Job& job) { job.ranks[0].processor.huge_pages = "never"; }},
};

const Trouble troubles_of_networks[] = {
    {"network-groups", Severity::note, "topology.conf of b: it does not name the node 'b'",
     [](Job& job) {
       job.network = {{"a", "b"}, {{}, {}}, ""};
       job.network.paths[1][2].problem = "it does not name the node 'b'";
     }},
    {"network-groups", Severity::note, "SLURM_TOPOLOGY_ADDR: 1 of 2 nodes have it, and not a",
     [](Job& job) {
       job.network = {{"a", "b"}, {{}, {}}, ""};
       job.network.paths[1][1].groups = {"s0"};
     }},
};

const Trouble troubles_of_walls[] = {
    {"ptrace", Severity::slow, "ptrace_scope is 1",
     [](Job& job) {
       for (RankFacts& facts : job.ranks) facts.walls.ptrace_scope = 1;
       job.made.single_copy = false;
     }},
    {"users", Severity::slow, "different users", [](Job& job) { job.ranks[1].walls.user = 7; }},
    {"containers", Severity::slow, "PID namespaces", [](Job& job) { job.ranks[1].walls.processes = "pid:[2]"; }},
    {"containers", Severity::slow, "IPC namespaces", [](Job& job) { job.ranks[1].walls.ipc = "ipc:[2]"; }},
    {"copies-off", Severity::slow, "TUTTI_SINGLE_COPY=0",
     [](Job& job) {
       set_variable(job, "TUTTI_SINGLE_COPY", "off");
       job.made.single_copy = false;
     }},
    {"copies", Severity::slow, "a seccomp filter",
     [](Job& job) {
       job.made.single_copy = false;
       job.ranks[1].walls.seccomp = 2;
     }},
};

const Trouble troubles_of_cores[] = {
    {"oversubscribed", Severity::slow, "4 ranks share 2 processing units",
     [](Job& job) {
       job.topology.cores_per_node = {2};
       job.topology.oversubscribed = true;
     }},
    {"oversubscribed", Severity::slow, "nodes that are one machine",
     [](Job& job) { job.topology.oversubscribed = true; }},
    {"cpu-quota", Severity::slow, "1.5 cores of time to 4 ranks",
     [](Job& job) { job.ranks[0].limits.group_cores = 1.5; }},
    {"one-core", Severity::slow, "ranks 0-1 on host are bound to one core", [](Job& job) { share_a_core(job, 0); }},
    {"siblings", Severity::slow, "hardware threads of one core", [](Job& job) { share_a_core(job, 8); }},
    {"hardware-threads", Severity::note, "the hardware threads of 2 cores",
     [](Job& job) {
       int cores = 0;
       std::erase_if(job.hardware.elements,
                     [&](const Element& one) { return one.kind == ElementKind::core && ++cores > 2; });
     }},
    {"unbound", Severity::slow, "ranks 1 and 3 may move",
     [](Job& job) { job.topology.places[1].numa = job.topology.places[3].numa = -1; }},
    {"numa", Severity::note, "spread over 2 NUMA nodes", [](Job& job) { job.topology.places[3].numa = 1; }},
    {"governor", Severity::note, "powersave", [](Job& job) { job.ranks[1].processor.governor = "powersave"; }},
    {"clock", Severity::slow, "hpet on rank 1", [](Job& job) { job.ranks[1].processor.clock = "hpet"; }},
};

const Trouble troubles_of_costs[] = {
    {"table", Severity::note, "another machine",
     [](Job& job) {
       job.tuning = {Tuning::Status::none, "another machine"};
     }},
    {"table", Severity::error, "damaged",
     [](Job& job) {
       job.tuning = {Tuning::Status::refused, "damaged"};
     }},
    {"calibration", Severity::note, "TUTTI_CALIBRATION=off",
     [](Job& job) {
       set_variable(job, "TUTTI_CALIBRATION", "off");
       job.made.costs_report = "the prior, because TUTTI_CALIBRATION=off";
     }},
    {"calibration", Severity::note, "the prior", [](Job& job) { job.made.costs_report = "the prior, because"; }},
    {"disturbed", Severity::slow, "beside other work",
     [](Job& job) { job.made.costs_report = "calibrated now, beside other work: not kept"; }},
};
// NOLINTEND(cert-err58-cpp)

INSTANTIATE_TEST_SUITE_P(Jobs, OneTrouble, ::testing::ValuesIn(troubles_of_jobs));
INSTANTIATE_TEST_SUITE_P(Memory, OneTrouble, ::testing::ValuesIn(troubles_of_memory));
INSTANTIATE_TEST_SUITE_P(Networks, OneTrouble, ::testing::ValuesIn(troubles_of_networks));
INSTANTIATE_TEST_SUITE_P(Walls, OneTrouble, ::testing::ValuesIn(troubles_of_walls));
INSTANTIATE_TEST_SUITE_P(Cores, OneTrouble, ::testing::ValuesIn(troubles_of_cores));
INSTANTIATE_TEST_SUITE_P(Costs, OneTrouble, ::testing::ValuesIn(troubles_of_costs));

TEST(DoctorRules, KnowOneRank) {
  Job job = job_without_gpus();
  job.ranks.resize(1);
  job.topology.places.resize(1);
  job.topology.ranks_per_node = {1};
  job.made.shared_memory = job.made.single_copy = false;
  job.tuning = {};
  EXPECT_THAT(names_of(job), ElementsAre("one-rank"));
}

/// Ranks spread over NUMA nodes for their GPUs: the note about them is not of interest here.
std::vector<std::string> device_names_of(const Job& job) {
  std::vector<std::string> names;
  for (const Rule rule : device_rules())
    if (const auto finding = rule(job)) names.push_back(finding->name);
  return names;
}

TEST(DoctorDeviceRules, FindNothingWhereAllIsWell) { EXPECT_THAT(device_names_of(good_job()), IsEmpty()); }

class OneDeviceTrouble : public ::testing::TestWithParam<Trouble> {};

TEST_P(OneDeviceTrouble, IsTheOnlyFinding) {
  Job job = good_job();
  GetParam().make(job);
  EXPECT_THAT(device_names_of(job), ElementsAre(GetParam().name));
  for (const Rule rule : device_rules())
    if (const auto finding = rule(job)) {
      EXPECT_EQ(finding->severity, GetParam().severity);
      EXPECT_THAT(finding->text, HasSubstr(GetParam().text));
    }
}

// NOLINTNEXTLINE(cert-err58-cpp)
const Trouble troubles_of_devices[] = {
    {"cuda-not-built", Severity::note, "without CUDA",
     [](Job& job) {
       for (RankFacts& facts : job.ranks) facts.device = {};
     }},
    {"no-device", Severity::slow, "no usable GPU on rank 1: broken",
     [](Job& job) { job.ranks[1].device.problem = "broken"; }},
    {"cuda-driver", Severity::error, "supports CUDA 11.8, but this library uses CUDA 12.4",
     [](Job& job) { job.ranks[1].device.driver_version = 11080; }},
    {"no-nccl", Severity::slow, "rank 3 cannot use NCCL: none",
     [](Job& job) {
       job.ranks[3].device.nccl_version = 0;
       job.ranks[3].device.nccl_problem = "none";
     }},
    {"nccl-differs", Severity::slow, "another version", [](Job& job) { job.ranks[3].device.nccl_version = 22900; }},
    {"cuda-aware", Severity::note, "no device addresses", [](Job& job) { job.made.cuda_aware = false; }},
    {"one-gpu", Severity::slow, "ranks 0-3 on host use GPU0, while 1 GPUs",
     [](Job& job) {
       for (const std::size_t rank : {2U, 3U}) {
         job.ranks[rank].device.bus_id = "0000:10:00.0";
         job.topology.places[rank].numa = 0;
       }
     }},
    {"far-gpu", Severity::slow, "rank 1 runs on NUMA node 1, but GPU0 is near NUMA node 0",
     [](Job& job) { job.topology.places[1].numa = 1; }},
    {"far-nic", Severity::note, "no network card is near GPU0, the GPU of rank 0",
     [](Job& job) {
       job.topology.nodes = 2;
       std::erase_if(job.hardware.elements,
                     [](const Element& one) { return one.kind == ElementKind::nic && one.numas.front() == 0; });
     }},
};

INSTANTIATE_TEST_SUITE_P(Devices, OneDeviceTrouble, ::testing::ValuesIn(troubles_of_devices));

TEST(DoctorRules, PutTheGravestFirst) {
  Job job = job_without_gpus();
  job.tuning = {};
  job.ranks[0].processor.clock = "hpet";
  job.ranks[0].limits.group_free_bytes = 1;
  EXPECT_THAT(names_of(job), ElementsAre("group-memory", "clock", "table"));
}

TEST(DoctorRules, NameRanks) {
  EXPECT_EQ(ranks_text({0, 1, 2}, 3), "all ranks");
  EXPECT_EQ(ranks_text({2}, 3), "rank 2");
  EXPECT_EQ(ranks_text({0}, 1), "rank 0");
  EXPECT_EQ(ranks_text({0, 1, 2, 5, 7, 8}, 9), "ranks 0-2, 5 and 7-8");
}

}  // namespace
