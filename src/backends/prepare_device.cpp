// SPDX-License-Identifier: BSD-3-Clause
#include "backends/prepare_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <tutti/detail/launch/kernel.hpp>
#include <tutti/error.hpp>

#include "backends/device_agreement.hpp"
#include "backends/list.hpp"
#include "backends/mpi/cuda_aware.hpp"
#include "backends/nccl/state.hpp"
#include "backends/nccl/types.hpp"
#include "call/agreement.hpp"
#include "call/context.hpp"
#include "core/config.hpp"
#include "core/hash.hpp"
#include "device/pool.hpp"
#include "kernels/device/launcher.hpp"

namespace tutti::detail {
namespace {

using namespace std::chrono_literals;

template <std::size_t N>
void keep_text(std::array<char, N>& to, std::string_view text) {
  std::copy_n(text.data(), std::min(text.size(), N - 1), to.data());
}

bool is_set(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr && std::string_view(text) == "1";
}

std::uint64_t host_id() {
  const char* text = std::getenv("NCCL_HOSTID");
  return text == nullptr ? 0 : hash(text) | 1U;
}

void offer_nccl(DeviceOffer& offer) {
  std::string why = "switched off by TUTTI_NCCL=0";
  const nccl::Table* table = config().nccl ? nccl::table(why) : nullptr;
  if (table != nullptr)
    offer.nccl_version = table->version;
  else
    keep_text(offer.why_no_nccl, why);
  offer.nccl_blocking = config().nccl_blocking ? 1 : 0;
  offer.nccl_register = config().nccl_register ? 1 : 0;
  offer.several_allowed = is_set("NCCL_MULTI_RANK_GPU_ENABLE") ? 1 : 0;
  offer.host_id = host_id();
}

std::uint64_t hash_of(const NcclOptions& options) {
  Hash hash;
  hash.add(options.min_ctas).add(options.max_ctas).add(options.nvls_ctas).add(options.cta_policy);
  hash.add(options.split_share);
  return hash.value();
}

/// The service of NCCL that knows the state of all ranks, for a job that hangs.
std::string ras_of(int version) {
  if (version < nccl::version_of_ras) return "none before NCCL 2.24";
  const char* enabled = std::getenv("NCCL_RAS_ENABLE");
  if (enabled != nullptr && std::string_view(enabled) == "0") return "switched off by NCCL_RAS_ENABLE=0";
  const char* address = std::getenv("NCCL_RAS_ADDR");
  return fmt::format("{}; ask it by ncclras -v, on a node of the job",
                     address != nullptr ? address : "localhost:28028");
}

int device_of(device::Runtime& runtime, const void* address) {
  const int found = address == nullptr ? -1 : runtime.inspect(address).device;
  return found >= 0 ? found : runtime.current_device();
}

/// Does not throw: a rank that cannot take part reports it, and all ranks learn of it.
DeviceOffer make_offer(const Context& comm, DeviceSide& side, const void* address) noexcept {
  DeviceOffer offer;
  offer.nccl_options = hash_of(comm.options.nccl);
  offer.node = comm.topology.places[static_cast<std::size_t>(comm.rank)].node;
  offer.cuda_aware = config().cuda_aware ? static_cast<int>(*config().cuda_aware) : -1;
  try {
    device::Runtime& runtime = device::required_runtime("device memory");
    if (runtime.device_count() == 0) throw Error(ErrorCode::cuda, "no GPU was found; give every rank a GPU");
    side.device = device_of(runtime, address);
    const device::Guard guard(side.device);
    offer.uuid = runtime.uuid(side.device);
    side.stream = runtime.create_stream();
    offer.kernels = kernels::device::has_kernels() ? 1 : 0;
    offer.capability = runtime.capability(side.device);
    offer_nccl(offer);
    offer.usable = 1;
  } catch (const std::exception& e) {
    keep_text(offer.problem, e.what());
  }
  return offer;
}

void check_device(const Context& comm, const void* address) {
  if (address == nullptr) return;
  const int device = device::required_runtime("device memory").inspect(address).device;
  if (device < 0 || device == comm.device->device) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}: a buffer is in the memory of device {}, but the communicator is bound to device {}; "
                          "pass memory of that device, or use another communicator",
                          comm.describe(), device, comm.device->device));
}

/// An operation's limit says nothing about the set-up, which takes minutes on thousands of ranks.
nccl::Comm::Limits limits_of(const Context& comm) {
  return {.set_up = 300s, .end = comm.options.timeout.count() > 0 ? comm.options.timeout : 120s};
}

void set_up_nccl(Context& comm, DeviceSide& side, DeviceVerdict& verdict) {
  if (verdict.nccl_version == 0) return;
  std::string why;
  const nccl::Table* table = nccl::table(why);
  auto made = nccl::Comm::create(comm, *table, side.device, limits_of(comm), verdict.why_no_nccl);
  if (!made) return;
  side.nccl_version = verdict.nccl_version;
  comm.set_state(nccl_backend, std::make_unique<nccl::State>(comm, std::move(made), verdict.registers), {});
}

/// Reserves pinned memory for two operations of two pieces each way, and words of flags, because no memory can be
/// allocated while NCCL works, nor should it while streams wait for a flag. Without it such calls wait until NCCL is
/// idle.
void reserve_staging(int device) noexcept {
  constexpr std::size_t piece = std::size_t{4} << 20U;
  constexpr std::size_t blocks = 8;
  constexpr std::size_t flags = 32;
  try {
    device::Pool::of(MemoryKind::pinned, device).reserve(sizeof(std::uint32_t), flags);
    device::Pool::of(MemoryKind::pinned, device).reserve(piece, blocks);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the first call that needs it says so
  }
}

std::string report(const Context& comm, const DeviceSide& side, const DeviceVerdict& verdict,
                   const std::string& why_cuda_aware) {
  return fmt::format(
      "NCCL: {}\nNCCL's RAS: {}\nCUDA-aware MPI: {} ({})\nreductions: {}\nranks per GPU: {}\nprogress in MPI: {} ({})",
      side.nccl_version != 0 ? "version " + nccl::version_text(side.nccl_version) : "not used: " + verdict.why_no_nccl,
      side.nccl_version != 0 ? ras_of(side.nccl_version) : "none without NCCL",
      side.cuda_aware ? "yes" : "no, through pinned memory", why_cuda_aware,
      side.kernels ? fmt::format("by kernels on the device, launched by {}",
                                 kernels::device::launcher_text(kernels::device::launcher()))
                   : "on the host if NCCL does not support them: this build has no kernels for the device",
      side.several_ranks ? "several" : "one", comm.progress_hook ? "calls on host memory only" : "no",
      comm.progress_report);
}

/// What the ranks of a part have agreed on in the whole.
std::unique_ptr<DeviceSide> side_of_part(const DeviceSide& whole) {
  constexpr std::string_view shares = "\nNCCL's resources: shared with the communicator of which this is a part";
  auto side = std::make_unique<DeviceSide>();
  side->device = whole.device;
  side->stream = device::required_runtime("device memory").create_stream();
  side->kernels = whole.kernels;
  if (side->kernels) kernels::device::prepare_stream(side->stream);
  side->cuda_aware = whole.cuda_aware;
  side->several_ranks = whole.several_ranks;
  side->nccl_version = whole.nccl_version;
  side->nccl_float8 = whole.nccl_float8;
  side->report = whole.report;
  if (!side->report.ends_with(shares)) side->report += shares;
  return side;
}

std::unique_ptr<nccl::Comm> split_nccl(Context& whole, const Context* part, int color) {
  try {
    return nccl::state_of(whole)->comm().split(whole, part, color, limits_of(whole));
  } catch (const Error& e) {
    whole.mark_broken(e.code(), e.what());
    throw Error(e.code(), fmt::format("split, {}: {}", whole.describe(), e.what()));
  }
}

}  // namespace

void prepare_parts(Context& whole, Context* part, int color) {
  const nccl::State* state = whole.device ? nccl::state_of(whole) : nullptr;
  if (state == nullptr || !state->comm().shares()) return;
  const device::Guard guard(whole.device->device);
  if (part != nullptr) part->make_messages();
  auto made = split_nccl(whole, part, color);
  if (part == nullptr) return;
  part->device = side_of_part(*whole.device);
  part->set_state(nccl_backend, std::make_unique<nccl::State>(*part, std::move(made), state->registers()), {});
}

void prepare_device(Context& comm, const void* address) {
  (void)device::required_runtime("device memory");
  comm.check_usable();
  if (comm.device) return check_device(comm, address);
  auto side = std::make_unique<DeviceSide>();
  comm.make_messages();
  const auto offers = all_gather(comm, make_offer(comm, *side, address));
  DeviceVerdict verdict = judge(offers);
  if (!verdict.problem.empty())
    throw Error(ErrorCode::mismatch,
                fmt::format("{}: device memory cannot be used: {}", comm.describe(), verdict.problem));
  side->kernels = verdict.kernels;
  side->nccl_float8 = verdict.nccl_float8;
  side->several_ranks = verdict.several_ranks;
  const device::Guard guard(side->device);
  if (side->kernels) kernels::device::prepare_stream(side->stream);
  std::string why_cuda_aware;
  side->cuda_aware = probe_cuda_aware(comm, side->device, why_cuda_aware);
  reserve_staging(side->device);
  set_up_nccl(comm, *side, verdict);
  side->report = report(comm, *side, verdict, why_cuda_aware);
  if (side->nccl_version == 0 && comm.rank == 0) log_once("device memory without NCCL: " + verdict.why_no_nccl);
  comm.device = std::move(side);
  comm.forget_plans();  // those made before know nothing of the device
}

}  // namespace tutti::detail
