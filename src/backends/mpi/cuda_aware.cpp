// SPDX-License-Identifier: BSD-3-Clause
#include "backends/mpi/cuda_aware.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <list>
#include <optional>
#include <string_view>
#include <tutti/error.hpp>
#include <vector>

#include "backends/mpi/message.hpp"
#include "call/context.hpp"
#include "core/config.hpp"
#include "core/mpi_call.hpp"
#include "device/at_rest.hpp"
#include "device/pool.hpp"

namespace tutti::detail {
namespace {

bool drives_amd() { return device::runtime()->vendor() == device::Vendor::amd; }

/// MPICH's.
CudaAnswer ask_gpu_query() {
  using Query = int (*)(int, int*);
  constexpr int cuda = 0;  // MPIX_GPU_SUPPORT_CUDA, MPIX_GPU_SUPPORT_HIP of MPICH
  constexpr int hip = 2;
  const auto query = reinterpret_cast<Query>(dlsym(RTLD_DEFAULT, "MPIX_GPU_query_support"));
  if (query == nullptr) return {};
  int supported = 0;
  if (query(drives_amd() ? hip : cuda, &supported) != MPI_SUCCESS) return {};
  return {supported != 0, "MPIX_GPU_query_support"};
}

/// Open MPI has the one for AMD by the name of ROCm, MPICH by that of HIP.
CudaAnswer ask_vendor_query() {
  using Query = int (*)();
  const auto ask = [](const char* name) -> CudaAnswer {
    const auto query = reinterpret_cast<Query>(dlsym(RTLD_DEFAULT, name));
    if (query == nullptr) return {};
    return {query() != 0, name};
  };
  if (!drives_amd()) return ask("MPIX_Query_cuda_support");
  const CudaAnswer answer = ask("MPIX_Query_rocm_support");
  return answer.says ? answer : ask("MPIX_Query_hip_support");
}

/// Cray MPICH has no query, but a variable, which is read by MPI_Init.
CudaAnswer ask_variable() {
  constexpr const char* variable = "MPICH_GPU_SUPPORT_ENABLED";
  const char* value = std::getenv(variable);
  if (value == nullptr || *value == '\0') return {};
  return {std::string_view(value) != "0", variable};
}

#if MPI_VERSION >= 4
/// MPI 4.1: the kinds of memory that this process may pass. A kind that was not requested may be missing, which does
/// not mean that it is unsupported.
CudaAnswer ask_memory_kinds() {
  MPI_Info info = MPI_INFO_NULL;
  if (MPI_Comm_get_info(MPI_COMM_WORLD, &info) != MPI_SUCCESS) return {};
  char value[512];
  int length = sizeof value;
  int found = 0;
  const int code = MPI_Info_get_string(info, "mpi_memory_alloc_kinds", &length, value, &found);
  MPI_Info_free(&info);
  const char* kind = drives_amd() ? "rocm" : "cuda";
  if (code != MPI_SUCCESS || found == 0 || std::string_view(value).find(kind) == std::string_view::npos) return {};
  return {true, "the info key mpi_memory_alloc_kinds"};
}
#else
CudaAnswer ask_memory_kinds() { return {}; }
#endif

CudaAnswer ask_mpi() {
  for (const CudaAnswer& answer : {ask_gpu_query(), ask_vendor_query(), ask_memory_kinds(), ask_variable()})
    if (answer.says) return answer;
  return {};
}

bool all_agree(const Context& comm, bool mine) {
  int flag = mine ? 1 : 0;
  int all = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallreduce(&flag, &all, 1, MPI_INT, MPI_MIN, comm.point_to_point, &request), "MPI_Iallreduce");
  wait_yielding(request, "MPI_Iallreduce");
  return all != 0;
}

/// A rank's neighbours in a ring; all ranks compute the same rings.
struct Neighbours {
  int to = MPI_PROC_NULL;
  int from = MPI_PROC_NULL;
};

/// The next rank on the same node, if there is another.
Neighbours on_node(const Context& comm) {
  std::vector<int> members;
  const int node = comm.node_of.node(comm.rank);
  for (int r = 0; r < comm.size; ++r)
    if (comm.node_of.node(r) == node) members.push_back(r);
  const std::size_t n = members.size();
  if (n < 2) return {};
  const auto at = static_cast<std::size_t>(std::find(members.begin(), members.end(), comm.rank) - members.begin());
  return {members[(at + 1) % n], members[(at + n - 1) % n]};
}

/// The lowest rank of each node sends to the lowest rank of the next node.
Neighbours off_node(const Context& comm) {
  const int nodes = comm.topology.nodes;
  if (nodes < 2 || comm.node_of.empty()) return {};
  const auto lowest = [&](int node) {
    int rank = 0;
    while (comm.node_of.node(rank) != node) ++rank;
    return rank;
  };
  const int node = comm.node_of.node(comm.rank);
  if (lowest(node) != comm.rank) return {};
  return {lowest((node + 1) % nodes), lowest((node + nodes - 1) % nodes)};
}

std::byte pattern(int rank, std::size_t i) {
  return static_cast<std::byte>((static_cast<std::size_t>(rank) * 131 + i * 7 + i / 251 + 1) & 0xFFU);
}

/// How programs allocate memory that they pass to the MPI, which may take some kinds only.
enum class Source : std::uint8_t { device, ordered, managed };

constexpr const char* name_of(Source source) {
  return source == Source::device ? "device memory" : source == Source::ordered ? "memory of a pool" : "managed memory";
}

/// Memory of one source, from cudaMalloc where the device has no pool.
class Sample {
 public:
  Sample(Source source, int device, std::size_t bytes, device::StreamHandle stream)
      : source_(source), device_(device), stream_(stream) {
    device::Runtime& runtime = *device::runtime();
    if (source == Source::ordered) own_ = runtime.allocate_ordered(bytes, stream);
    if (source == Source::managed)
      own_ = device::at_rest(device, [&] { return runtime.allocate(MemoryKind::managed, bytes); });
    if (own_ == nullptr) block_ = device::Pool::of(MemoryKind::device, device).acquire(bytes);
  }
  ~Sample() {
    if (own_ == nullptr) return;
    if (source_ == Source::ordered) {
      device::runtime()->release_ordered(own_, stream_);
      return;
    }
    try {
      device::at_rest(device_, [this] { device::runtime()->release(MemoryKind::managed, own_); });
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the progress failed, which its owner hears of
    }
  }
  Sample(const Sample&) = delete;
  Sample& operator=(const Sample&) = delete;
  [[nodiscard]] std::byte* data() const noexcept { return own_ ? static_cast<std::byte*>(own_) : block_.data(); }

 private:
  Source source_;
  int device_;
  device::StreamHandle stream_;
  void* own_ = nullptr;
  device::Block block_{};
};

/// Memory of a source and its copy in pinned memory, for one message size.
class Probe {
 public:
  Probe(const Context& comm, int device, Source source, std::size_t bytes, device::StreamHandle stream)
      : comm_(comm),
        device_(device),
        source_(source),
        bytes_(bytes),
        send_(source, device, bytes, stream),
        recv_(source, device, bytes, stream),
        host_(device::Pool::of(MemoryKind::pinned, device).acquire(2 * bytes)) {}

  [[nodiscard]] std::string describe() const { return fmt::format("{} bytes of {}", bytes_, name_of(source_)); }

  /// Fills the send buffer with this rank's bytes and the other buffer with zeros.
  void fill(device::StreamHandle stream) {
    for (std::size_t i = 0; i < bytes_; ++i) host_.data()[i] = pattern(comm_.rank, i);
    device::runtime()->copy(send_.data(), host_.data(), bytes_, stream);
    device::runtime()->fill_zero(recv_.data(), bytes_, stream);
    finish(stream);
  }
  /// If the MPI refuses an address, the message uses host memory instead, so that the peer does not wait for it.
  void exchange(const Neighbours& peers, std::string& wrong) {
    // As operations do: the MPI may wait for the device.
    device::at_rest(device_, [] {});
    // Uses a tag that no operation has, because other messages may be in flight.
    const int tag = 2 * comm_.tag_half;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    const MPI_Comm comm = comm_.size > 1 ? comm_.messages.get() : comm_.point_to_point;
    attempt(wrong, recv_.data(), host_.data(),
            [&](std::byte* to) { post_recv(to, bytes_, peers.from, tag, comm, requests[0]); });
    attempt(wrong, send_.data(), host_.data() + bytes_,
            [&](std::byte* from) { post_send(from, bytes_, peers.to, tag, comm, requests[1]); });
    for (MPI_Request& request : requests)
      attempt(wrong, nullptr, nullptr, [&](std::byte*) { wait_yielding(request, "MPI_Test"); });
  }
  [[nodiscard]] bool is_right(int from, device::StreamHandle stream) {
    if (from == MPI_PROC_NULL) return true;
    std::memset(host_.data(), 0, bytes_);
    device::runtime()->copy(host_.data(), recv_.data(), bytes_, stream);
    finish(stream);
    for (std::size_t i = 0; i < bytes_; ++i)
      if (host_.data()[i] != pattern(from, i)) return false;
    return true;
  }

 private:
  template <typename Act>
  static void attempt(std::string& wrong, std::byte* memory, std::byte* instead, const Act& act) {
    try {
      return act(memory);
    } catch (const Error& e) {
      wrong = e.what();
    }
    if (instead != nullptr) act(instead);
  }

  void finish(device::StreamHandle stream) {
    device::Event done;
    done.record(device_, stream);
    while (!done.is_complete()) sched_yield();
  }

  const Context& comm_;
  int device_;
  Source source_;
  std::size_t bytes_;
  Sample send_;
  Sample recv_;
  device::Block host_;
};

/// Returns the error on this rank, or an empty string. Every rank makes all exchanges, even after its own failure,
/// because its peers wait.
std::string probe(const Context& comm, int device) {
  std::string wrong;
  device::StreamHandle stream = nullptr;
  std::list<Probe> probes;
  try {
    stream = device::runtime()->create_stream();
    for (const Source source : {Source::device, Source::ordered, Source::managed})
      for (const std::size_t bytes : {std::size_t{8}, std::size_t{4} << 20U})
        probes.emplace_back(comm, device, source, bytes, stream).fill(stream);
  } catch (const Error& e) {
    wrong = e.what();
  }
  // Agrees before anything is sent, because missing device memory cannot be sent.
  if (all_agree(comm, wrong.empty())) {
    for (const Neighbours& peers : {on_node(comm), off_node(comm)})
      for (Probe& probe : probes) {
        probe.exchange(peers, wrong);
        try {
          if (wrong.empty() && !probe.is_right(peers.from, stream))
            wrong = fmt::format("a message of {} from rank {} to rank {} arrived with wrong bytes", probe.describe(),
                                peers.from, comm.rank);
        } catch (const Error& e) {
          wrong = e.what();
        }
      }
  }
  probes.clear();
  if (stream != nullptr) device::runtime()->destroy_stream(stream);
  return wrong;
}

}  // namespace

bool may_probe(const CudaAnswer& answer, std::optional<bool> wanted, std::string& why) {
  if (wanted && !*wanted)
    why = "switched off by TUTTI_CUDA_AWARE=0";
  else if (answer.says && !*answer.says)
    why = fmt::format("{} says no", answer.from);
  else if (!answer.says && !wanted)
    why = "the MPI has no query for it, and TUTTI_CUDA_AWARE=1 is not set";
  else
    return true;
  return false;
}

bool probe_cuda_aware(Context& comm, int device, std::string& why) {
  comm.make_messages();
  const CudaAnswer answer = ask_mpi();
  const bool go_on = may_probe(answer, config().cuda_aware, why);
  if (!all_agree(comm, go_on)) {
    if (go_on) why = "another rank's MPI says no";
    return false;
  }
  const std::string source = answer.says ? answer.from : "TUTTI_CUDA_AWARE=1";
  const std::string wrong = probe(comm, device);
  if (!all_agree(comm, wrong.empty())) {
    why = fmt::format("{} says yes, but {}", source, wrong.empty() ? "the probe failed on another rank" : wrong);
    return false;
  }
  why = fmt::format("{} says yes, and messages of device memory arrived intact", source);
  return true;
}

}  // namespace tutti::detail
