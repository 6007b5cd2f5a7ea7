// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "backends/nccl/types.hpp"
#include "device/runtime.hpp"

namespace tutti::detail::nccl {

using device::StreamHandle;

/// The NCCL functions in use, filled at run time by dlsym, or by tests. symbols.def is the only list of them, with the
/// version that introduced each; a function that the loaded version lacks is null.
struct Table {
  int version = 0;
  /// Whether NCCL itself begins the works of a device in the order of their launches, on all communicators.
  bool orders_launches = false;
#define TUTTI_NCCL_FUNCTION(member, symbol, since, result, arguments) result(*member) arguments = nullptr;
#include "backends/nccl/symbols.def"
#undef TUTTI_NCCL_FUNCTION
};

/// Whether that version of NCCL orders launches: as the user has set NCCL_LAUNCH_ORDER_IMPLICIT for the process. Else
/// the library orders them by events. It does not set the variable itself, because NCCL reads it once, and another part
/// of the process may have made it do so before.
[[nodiscard]] bool orders_launches(int version);

/// Opens a library and looks up all functions. An empty `path` means TUTTI_NCCL_LIBRARY, else libnccl.so.2. Throws
/// not_supported with the reason: no such library, older than 2.18, or a symbol of its version is missing.
[[nodiscard]] Table load_table(const std::string& path = {});

/// The table of this process, loaded at the first call. Returns null, and the reason in `why`, if NCCL was not built in
/// or cannot be loaded.
[[nodiscard]] const Table* table(std::string& why);

/// For tests only: replaces the table (null: restores the loaded one).
void replace_table(const Table* other) noexcept;

/// The version as text: "2.28.9".
[[nodiscard]] std::string version_text(int version);

}  // namespace tutti::detail::nccl
