// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

/// The part of NCCL's binary interface that this library uses, as in nccl.h since 2.18; table_check.cpp compares it
/// with the installed header. The logic of this backend therefore compiles and is tested without NCCL.
namespace tutti::detail::nccl {

using CommHandle = void*;  ///< ncclComm_t
using WindowHandle = void*;

enum class Result : int {
  success = 0,
  unhandled_cuda_error = 1,
  system_error = 2,
  internal_error = 3,
  invalid_argument = 4,
  invalid_usage = 5,
  remote_error = 6,
  in_progress = 7,
};

enum class DataType : int {
  int8 = 0,
  uint8 = 1,
  int32 = 2,
  uint32 = 3,
  int64 = 4,
  uint64 = 5,
  float16 = 6,
  float32 = 7,
  float64 = 8,
  bfloat16 = 9,
  float8_e4m3 = 10,
  float8_e5m2 = 11,
};

/// ncclRedOp_t; ncclRedOpCreatePreMulSum makes values above `avg`.
enum class RedOp : int { sum = 0, prod = 1, max = 2, min = 3, avg = 4 };
enum class ScalarResidence : int { device = 0, host_immediate = 1 };

struct UniqueId {
  char internal[128];
};

/// NCCL_SPLIT_NOCOLOR: this rank is in no part.
inline constexpr int no_color = -1;

/// A member of Config that NCCL chooses.
inline constexpr int unset = -2147483647 - 1;

/// ncclConfig_t of 2.27, which begins with that of 2.18: `size` and `version` say how much of it a version reads. Newer
/// versions fill in their additional members.
struct Config {
  std::size_t size = size_of_21800;
  unsigned magic = 0xcafebeef;
  unsigned version = 21800;
  int blocking = unset;
  int cga_cluster_size = unset;
  int min_ctas = unset;
  int max_ctas = unset;
  const char* net_name = nullptr;
  int split_share = unset;
  int traffic_class = unset;
  const char* comm_name = nullptr;
  int collnet_enable = unset;
  int cta_policy = unset;
  int shrink_share = unset;
  int nvls_ctas = unset;

  static constexpr std::size_t size_of_21800 = 48;
};

/// ncclCollConfig_t of 2.31, which newer ones begin with: what one call of a collective asks for.
struct CallConfig {
  std::size_t size = sizeof(CallConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = 23100;
  void* extensions = nullptr;  ///< of other vendors
  int min_ctas = unset;
  int max_ctas = unset;
  int nvls_ctas = unset;
  int cga_cluster_size = unset;
  const char* selection = nullptr;  ///< the algorithms that NCCL may take, as rules.hpp has them; null: any
  int forces_selection = 1;         ///< NCCL refuses the call if it can take none of them
  int cta_policy = unset;
  std::uint64_t profiler_tag = 0;  ///< NCCL's plugins of profilers see it; NCCL has the values with the highest bit
};

/// ncclCommProperties_t of 2.30: `version` says how much of it NCCL fills in.
struct Properties {
  std::size_t size = sizeof(Properties);
  unsigned magic = 0xcafebeef;
  unsigned version = 23000;
  int rank = 0;
  int ranks = 0;
  int cuda_device = 0;
  int nvml_device = 0;
  bool has_device_api = false;
  bool has_multimem = false;
  int gin_type = 0;
  int lsa_teams = 0;
  bool has_host_rma = false;  ///< puts and signals
  int railed_gin_type = 0;
};

/// ncclWaitSignalDesc_t: so many signals of a peer.
struct SignalWait {
  int count = 1;
  int peer = 0;
  int index = 0;    ///< no other one yet
  int context = 0;  ///< no other one yet
};

inline constexpr int oldest_version = 21800;
/// The NCCL versions that introduced features.
inline constexpr int version_of_register = 21900;       ///< ncclMemAlloc, ncclCommRegister
inline constexpr int version_of_float8 = 22400;         ///< fp8 types
inline constexpr int capability_of_float8 = 90;         ///< compute capability from which it reduces them
inline constexpr int version_of_launch_order = 22600;   ///< NCCL_LAUNCH_ORDER_IMPLICIT is read
inline constexpr int version_of_scalable = 22300;       ///< ncclCommInitRankScalable
inline constexpr int version_of_ras = 22400;            ///< the service that ncclras asks
inline constexpr int version_of_long_config = 22700;    ///< Config has all members
inline constexpr int version_of_windows = 22700;        ///< ncclCommWindowRegister: symmetric memory
inline constexpr int version_of_alltoall = 22800;       ///< ncclAlltoAll, ncclGather, ncclScatter
inline constexpr int version_of_puts = 23000;           ///< ncclPutSignal, and a query whether the ranks can put
inline constexpr int version_of_call_config = 23100;    ///< ncclAllReduceConfig and its like
inline constexpr int version_of_several_ranks = 23003;  ///< several ranks per GPU, with NCCL_MULTI_RANK_GPU_ENABLE=1

}  // namespace tutti::detail::nccl
