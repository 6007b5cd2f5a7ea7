// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tutti::kernels {

/// What Kokkos is needed for.
enum class KokkosUse : std::uint8_t { host, device };

/// Initialises Kokkos, unless it is initialised already or was finalized, without arguments or signal handlers.
/// Finalizes it at the end of the process only if it was initialised here and has not been finalized since. False if
/// initialising is impossible: a Kokkos with CUDA on a machine without a device. It would also start using a device; so
/// for loops of the host it is initialised only once this thread uses one, or by the program itself, and they run in
/// one thread until then. Kokkos' Threads take loops of the thread alone that initialised Kokkos, where for loops of
/// the host it is initialised in the main thread only; in any other thread this is false for them. Any thread.
bool ensure_kokkos(KokkosUse use = KokkosUse::host);

}  // namespace tutti::kernels
