// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "backends/nccl/types.hpp"
#include "device/runtime.hpp"

namespace tutti::detail::nccl {

using device::StreamHandle;

/// Every NCCL function that is used: filled at run time by dlsym, or by tests. symbols.def is the one list of them,
/// with the version that each came with; a function that the loaded version lacks is null.
struct Table {
  int version = 0;
#define TUTTI_NCCL_FUNCTION(member, symbol, since, result, arguments) result(*member) arguments = nullptr;
#include "backends/nccl/symbols.def"
#undef TUTTI_NCCL_FUNCTION
};

/// Opens a library and looks up all; throws not_supported with the reason: no such library, older than 2.18, or a
/// symbol of its version is missing. `path` empty: TUTTI_NCCL_LIBRARY, else libnccl.so.2.
[[nodiscard]] Table load_table(const std::string& path = {});

/// The table of this process, loaded at the first call; null where NCCL was not built in or cannot be loaded, and then
/// `why` says why.
[[nodiscard]] const Table* table(std::string& why);

/// Tests only: puts another table in its place (null: the loaded one again).
void replace_table(const Table* other) noexcept;

/// "2.28.9".
[[nodiscard]] std::string version_text(int version);

}  // namespace tutti::detail::nccl
