// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace tutti::commbench {

// The part of NCCL's binary interface that is used, as nccl.h has it since 2.18, so that no header of it is needed.
using NcclComm = void*;
enum class NcclResult : int { success = 0, in_progress = 7 };
enum class NcclType : int {
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
};
enum class NcclOp : int { sum = 0, prod = 1, max = 2, min = 3, avg = 4 };
struct NcclUniqueId {
  char internal[128];
};

/// Filled at run time by dlsym, or by tests.
struct NcclTable {
#define TUTTI_RAW_NCCL(member, symbol, result, arguments) result(*member) arguments = nullptr;
#include "commbench/nccl_symbols.def"
#undef TUTTI_RAW_NCCL
};

/// The table of this process, loaded at the first call from the library that Tutti uses: the one that is loaded
/// already, else the one that TUTTI_NCCL_LIBRARY names, else libnccl.so.2. Throws std::runtime_error with the reason.
[[nodiscard]] const NcclTable& nccl_table();

/// Tests only: puts another table in its place (null: the loaded one again).
void replace_nccl_table(const NcclTable* other) noexcept;

}  // namespace tutti::commbench
