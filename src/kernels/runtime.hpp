// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tutti::kernels {

/// Initialises Kokkos where nobody has: without arguments or signal handlers, and finalizes it at the end of the
/// process only if it was initialised here and nobody finalized it since. False where it cannot be: a Kokkos with CUDA
/// on a machine without a device. Any thread.
bool ensure_kokkos();

}  // namespace tutti::kernels
