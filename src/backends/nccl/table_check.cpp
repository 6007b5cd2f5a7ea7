// SPDX-License-Identifier: BSD-3-Clause
// Compares types.hpp and symbols.def with the installed nccl.h at compile time: a difference does not compile.
#include <nccl.h>
#if NCCL_VERSION_CODE >= 23200
#include <nccl_device/host.h>
#elif NCCL_VERSION_CODE >= 23000
#include <nccl_device/core.h>
#endif

#include <cstddef>
#include <tutti/communicator.hpp>
#include <type_traits>

#include "backends/nccl/table.hpp"

namespace tutti::detail::nccl {
namespace {

static_assert(NCCL_VERSION_CODE >= oldest_version, "NCCL 2.18 or newer is needed");

template <typename Ours, typename Theirs>
constexpr bool same(Ours ours, Theirs theirs) {
  return sizeof(Ours) == sizeof(Theirs) && static_cast<int>(ours) == static_cast<int>(theirs);
}

static_assert(same(Result::success, ncclSuccess));
static_assert(same(Result::unhandled_cuda_error, ncclUnhandledCudaError));
static_assert(same(Result::system_error, ncclSystemError));
static_assert(same(Result::internal_error, ncclInternalError));
static_assert(same(Result::invalid_argument, ncclInvalidArgument));
static_assert(same(Result::invalid_usage, ncclInvalidUsage));
static_assert(same(Result::remote_error, ncclRemoteError));
static_assert(same(Result::in_progress, ncclInProgress));

static_assert(same(DataType::int8, ncclInt8));
static_assert(same(DataType::uint8, ncclUint8));
static_assert(same(DataType::int32, ncclInt32));
static_assert(same(DataType::uint32, ncclUint32));
static_assert(same(DataType::int64, ncclInt64));
static_assert(same(DataType::uint64, ncclUint64));
static_assert(same(DataType::float16, ncclFloat16));
static_assert(same(DataType::float32, ncclFloat32));
static_assert(same(DataType::float64, ncclFloat64));
static_assert(same(DataType::bfloat16, ncclBfloat16));
#if NCCL_VERSION_CODE >= 22400
static_assert(same(DataType::float8_e4m3, ncclFloat8e4m3));
static_assert(same(DataType::float8_e5m2, ncclFloat8e5m2));
#endif

static_assert(same(RedOp::sum, ncclSum));
static_assert(same(RedOp::prod, ncclProd));
static_assert(same(RedOp::max, ncclMax));
static_assert(same(RedOp::min, ncclMin));
static_assert(same(RedOp::avg, ncclAvg));
static_assert(same(static_cast<RedOp>(5), ncclNumOps), "made operations begin after avg");
static_assert(same(ScalarResidence::device, ncclScalarDevice));
static_assert(same(ScalarResidence::host_immediate, ncclScalarHostImmediate));

static_assert(sizeof(UniqueId) == sizeof(ncclUniqueId) && alignof(UniqueId) == alignof(ncclUniqueId));
static_assert(sizeof(UniqueId::internal) == NCCL_UNIQUE_ID_BYTES);

// NCCL reads as much of a configuration as its size states, and treats the rest as unset.
static_assert(alignof(Config) == alignof(ncclConfig_t));
static_assert(offsetof(Config, size) == offsetof(ncclConfig_t, size));
static_assert(offsetof(Config, magic) == offsetof(ncclConfig_t, magic));
static_assert(offsetof(Config, version) == offsetof(ncclConfig_t, version));
static_assert(offsetof(Config, blocking) == offsetof(ncclConfig_t, blocking));
static_assert(offsetof(Config, cga_cluster_size) == offsetof(ncclConfig_t, cgaClusterSize));
static_assert(offsetof(Config, min_ctas) == offsetof(ncclConfig_t, minCTAs));
static_assert(offsetof(Config, max_ctas) == offsetof(ncclConfig_t, maxCTAs));
static_assert(offsetof(Config, net_name) == offsetof(ncclConfig_t, netName));
static_assert(offsetof(Config, split_share) == offsetof(ncclConfig_t, splitShare));
static_assert(Config::size_of_21800 == offsetof(Config, traffic_class) + sizeof(int));
#if NCCL_VERSION_CODE >= 22700
static_assert(sizeof(Config) <= sizeof(ncclConfig_t));
static_assert(offsetof(Config, comm_name) == offsetof(ncclConfig_t, commName));
static_assert(offsetof(Config, cta_policy) == offsetof(ncclConfig_t, CTAPolicy));
static_assert(offsetof(Config, shrink_share) == offsetof(ncclConfig_t, shrinkShare));
static_assert(offsetof(Config, nvls_ctas) == offsetof(ncclConfig_t, nvlsCTAs));
static_assert(static_cast<int>(CtaPolicy::efficiency) == NCCL_CTA_POLICY_EFFICIENCY);
static_assert(static_cast<int>(CtaPolicy::zero) == NCCL_CTA_POLICY_ZERO);
#endif

static_assert(no_color == NCCL_SPLIT_NOCOLOR);

[[maybe_unused]] constexpr ncclConfig_t theirs = NCCL_CONFIG_INITIALIZER;
static_assert(Config{}.magic == theirs.magic && Config{}.version <= theirs.version);
static_assert(Config{}.blocking == theirs.blocking && Config{}.net_name == theirs.netName);

#if NCCL_VERSION_CODE >= 22700
static_assert(NCCL_WIN_COLL_SYMMETRIC == 1);
#endif

#if NCCL_VERSION_CODE >= 23000
static_assert(sizeof(Properties) <= sizeof(ncclCommProperties_t));
static_assert(offsetof(Properties, version) == offsetof(ncclCommProperties_t, version));
static_assert(offsetof(Properties, gin_type) == offsetof(ncclCommProperties_t, ginType));
static_assert(offsetof(Properties, has_host_rma) == offsetof(ncclCommProperties_t, hostRmaSupport));
static_assert(Properties{}.magic == NCCL_API_MAGIC);
static_assert(sizeof(SignalWait) == sizeof(ncclWaitSignalDesc_t));
static_assert(offsetof(SignalWait, count) == offsetof(ncclWaitSignalDesc_t, opCnt));
static_assert(offsetof(SignalWait, peer) == offsetof(ncclWaitSignalDesc_t, peer));
static_assert(offsetof(SignalWait, index) == offsetof(ncclWaitSignalDesc_t, sigIdx));
static_assert(offsetof(SignalWait, context) == offsetof(ncclWaitSignalDesc_t, ctx));
#endif

#if NCCL_VERSION_CODE >= 23100
static_assert(alignof(CallConfig) == alignof(ncclCollConfig_t) && sizeof(CallConfig) <= sizeof(ncclCollConfig_t));
static_assert(offsetof(CallConfig, version) == offsetof(ncclCollConfig_t, version));
static_assert(offsetof(CallConfig, extensions) == offsetof(ncclCollConfig_t, ext));
static_assert(offsetof(CallConfig, min_ctas) == offsetof(ncclCollConfig_t, minCTAs));
static_assert(offsetof(CallConfig, cga_cluster_size) == offsetof(ncclCollConfig_t, cgaClusterSize));
static_assert(offsetof(CallConfig, selection) == offsetof(ncclCollConfig_t, algSelection));
static_assert(offsetof(CallConfig, forces_selection) == offsetof(ncclCollConfig_t, forceAlgSelection));
static_assert(offsetof(CallConfig, cta_policy) == offsetof(ncclCollConfig_t, CTAPolicy));
static_assert(offsetof(CallConfig, profiler_tag) == offsetof(ncclCollConfig_t, userProfilerTag));
[[maybe_unused]] constexpr ncclCollConfig_t their_call = NCCL_COLLCONFIG_INITIALIZER;
static_assert(CallConfig{}.magic == their_call.magic && CallConfig{}.version <= their_call.version);
static_assert(CallConfig{}.forces_selection == their_call.forceAlgSelection);
static_assert(CallConfig{}.cta_policy == their_call.CTAPolicy);
#endif

/// NCCL's types in this library's spelling.
template <typename T>
struct Ours {
  using Type = T;
};
template <typename T>
struct Ours<T*> {
  using Type = typename Ours<T>::Type*;
};
template <typename T>
struct Ours<const T> {
  using Type = const typename Ours<T>::Type;
};
template <typename R, typename... A>
struct Ours<R(A...)> {
  using Type = typename Ours<R>::Type(typename Ours<A>::Type...);
};
#define TUTTI_OURS(theirs_type, ours_type) \
  template <>                              \
  struct Ours<theirs_type> {               \
    using Type = ours_type;                \
  };
TUTTI_OURS(ncclComm_t, CommHandle)
TUTTI_OURS(cudaStream_t, StreamHandle)
TUTTI_OURS(ncclResult_t, Result)
TUTTI_OURS(ncclDataType_t, DataType)
TUTTI_OURS(ncclRedOp_t, RedOp)
TUTTI_OURS(ncclScalarResidence_t, ScalarResidence)
TUTTI_OURS(ncclUniqueId, UniqueId)
TUTTI_OURS(ncclConfig_t, Config)
#if NCCL_VERSION_CODE >= 22700
TUTTI_OURS(ncclWindow_t, WindowHandle)
#endif
#if NCCL_VERSION_CODE >= 23000
TUTTI_OURS(ncclCommProperties_t, Properties)
TUTTI_OURS(ncclWaitSignalDesc_t, SignalWait)
#endif
#if NCCL_VERSION_CODE >= 23100
TUTTI_OURS(ncclCollConfig_t, CallConfig)
#endif
#undef TUTTI_OURS

/// Stands for a function that an old header lacks.
struct Absent {};
extern const Absent absent;
#if NCCL_VERSION_CODE < 21900
#define ncclMemAlloc absent
#define ncclMemFree absent
#define ncclCommRegister absent
#define ncclCommDeregister absent
#endif
#if NCCL_VERSION_CODE < 22300
#define ncclCommInitRankScalable absent
#endif
#if NCCL_VERSION_CODE < 22700
#define ncclCommWindowRegister absent
#define ncclCommWindowDeregister absent
#endif
#if NCCL_VERSION_CODE < 22800
#define ncclAlltoAll absent
#define ncclGather absent
#define ncclScatter absent
#endif
#if NCCL_VERSION_CODE < 23000
#define ncclCommQueryProperties absent
#define ncclPutSignal absent
#define ncclSignal absent
#define ncclWaitSignal absent
#endif
#if NCCL_VERSION_CODE < 23100
#define ncclAllReduceConfig absent
#define ncclReduceConfig absent
#define ncclBroadcastConfig absent
#define ncclAllGatherConfig absent
#define ncclReduceScatterConfig absent
#define ncclAlltoAllConfig absent
#define ncclGatherConfig absent
#define ncclScatterConfig absent
#endif

template <typename Header, typename List>
constexpr bool agrees = std::is_same_v<Header, const Absent> || std::is_same_v<typename Ours<Header>::Type, List>;

#define TUTTI_NCCL_FUNCTION(member, symbol, since, result, arguments) \
  static_assert(agrees<decltype(symbol), result arguments>, #symbol " is not as symbols.def has it");
#include "backends/nccl/symbols.def"
#undef TUTTI_NCCL_FUNCTION

}  // namespace
}  // namespace tutti::detail::nccl
