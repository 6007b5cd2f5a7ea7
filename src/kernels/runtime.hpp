// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tutti::kernels {

/// Initialises Kokkos, unless it is initialised already, without arguments or signal handlers. Finalizes it at the end
/// of the process only if it was initialised here and has not been finalized since. False if initialising is
/// impossible: a Kokkos with CUDA on a machine without a device. Any thread.
bool ensure_kokkos();

}  // namespace tutti::kernels
