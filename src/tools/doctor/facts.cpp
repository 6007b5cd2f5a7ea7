// SPDX-License-Identifier: BSD-3-Clause
#include "tools/doctor/facts.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <tutti/error.hpp>

#include "backends/nccl/table.hpp"
#include "backends/shm/layout.hpp"
#include "call/segment.hpp"
#include "core/apart.hpp"
#include "core/mpi_call.hpp"
#include "core/variables.hpp"
#include "device/runtime.hpp"
#include "tools/doctor/system_files.hpp"

namespace tutti::tools::doctor {
namespace {

namespace shm = detail::shm;

std::uint64_t limit_of(decltype(RLIMIT_FSIZE) kind) {
  rlimit found{};
  return getrlimit(kind, &found) != 0 || found.rlim_cur == RLIM_INFINITY ? unlimited : found.rlim_cur;
}

/// Reserves as much as a rank does for a communicator, and frees it at once.
std::string problem_of_segment() {
  std::string problem;
  shm::SegmentName name;
  constexpr std::size_t bytes = shm::Layout::early_bytes();
  shm::Segment segment = shm::Segment::create(bytes, name, problem);
  if (segment.valid() && !segment.reserve(name.text, 0, bytes, problem) && problem.empty()) problem = "no room";
  return problem;
}

std::uint64_t open_descriptors() {
  std::error_code error;
  const auto files = std::filesystem::directory_iterator("/proc/self/fd", error);
  if (error == std::errc::too_many_files_open) return limit_of(RLIMIT_NOFILE);
  const auto count = static_cast<std::uint64_t>(std::ranges::distance(begin(files), end(files)));
  return count > 0 ? count - 1 : 0;  // that of the folder
}

std::string link_text(const char* path) {
  std::error_code error;
  return std::filesystem::read_symlink(path, error).string();
}

int whole_number(const std::string& text, int otherwise) {
  int number = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

bool has_ptrace_right(const std::string& effective) {
  constexpr unsigned cap_sys_ptrace = 19;
  std::uint64_t rights = 0;
  std::from_chars(effective.data(), effective.data() + effective.size(), rights, 16);
  return (rights >> cap_sys_ptrace & 1U) != 0;
}

int core_of(int unit) {
  const auto siblings =
      numbers_in(first_line(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", unit)));
  return siblings.empty() ? unit : siblings.front();
}

std::map<std::string, std::string> variables_here() {
  std::map<std::string, std::string> found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const auto end = text.find('=');
    if (text.starts_with("TUTTI_") && end != std::string::npos) found[text.substr(0, end)] = text.substr(end + 1);
  }
  return found;
}

void add_current_device(Device& device, detail::device::Runtime& runtime) {
  device.driver_version = runtime.driver_version();
  device.runtime_version = runtime.runtime_version();
  device.count = runtime.device_count();
  if (device.count == 0) return;
  device.current = runtime.current_device();
  device.name = runtime.device_name(device.current);
  device.bus_id = runtime.bus_id(device.current);
}

}  // namespace

SharedMemory shared_memory_here() {
  SharedMemory found;
  struct stat state {};
  struct statvfs free {};
  found.exists = ::stat("/dev/shm", &state) == 0 && S_ISDIR(state.st_mode) && ::statvfs("/dev/shm", &free) == 0;
  if (!found.exists) return found;
  found.is_read_only = (free.f_flag & ST_RDONLY) != 0;
  found.free_bytes = std::uint64_t{free.f_bavail} * free.f_frsize;
  found.all_bytes = std::uint64_t{free.f_blocks} * free.f_frsize;
  found.file_system = state.st_dev;
  found.problem = problem_of_segment();
  return found;
}

Limits limits_here() {
  Limits limits;
  limits.file_bytes = limit_of(RLIMIT_FSIZE);
  limits.address_bytes = limit_of(RLIMIT_AS);
  limits.locked_bytes = limit_of(RLIMIT_MEMLOCK);
  limits.descriptors = limit_of(RLIMIT_NOFILE);
  limits.open_descriptors = open_descriptors();
  add_group_limits(limits);
  return limits;
}

Walls walls_here() {
  const std::string status = whole_text("/proc/self/status");
  Walls walls;
  walls.processes = link_text("/proc/self/ns/pid");
  walls.ipc = link_text("/proc/self/ns/ipc");
  walls.user = ::geteuid();
  walls.ptrace_scope = whole_number(first_line("/proc/sys/kernel/yama/ptrace_scope"), -1);
  walls.seccomp = whole_number(field_of(status, "Seccomp"), 0);
  walls.may_trace = has_ptrace_right(field_of(status, "CapEff"));
  return walls;
}

Processor processor_here() {
  Processor found;
  found.units = detail::allowed_units();
  for (const int unit : found.units) found.cores.push_back(core_of(unit));
  if (!found.units.empty())
    found.governor =
        first_line(fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", found.units.front()));
  found.clock = first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  found.huge_pages = bracketed(first_line("/sys/kernel/mm/transparent_hugepage/enabled"));
  return found;
}

Device device_here() {
  Device found;
  if (const detail::nccl::Table* table = detail::nccl::table(found.nccl_problem)) found.nccl_version = table->version;
  detail::device::Runtime* runtime = detail::device::runtime();
  found.is_built = runtime != nullptr;
  if (!found.is_built) return found;
  try {
    add_current_device(found, *runtime);
  } catch (const Error& error) {
    found.problem = error.what();
  }
  return found;
}

RankFacts facts_of_this_process() {
  RankFacts facts;
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  facts.host = host.data();
  facts.shm = shared_memory_here();
  facts.limits = limits_here();
  facts.walls = walls_here();
  facts.processor = processor_here();
  facts.device = device_here();
  facts.variables = variables_here();
  facts.doubts = detail::doubtful_variables();
  if (detail::world_is_usable()) {
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    facts.thread_level = level;
  }
  return facts;
}

}  // namespace tutti::tools::doctor
