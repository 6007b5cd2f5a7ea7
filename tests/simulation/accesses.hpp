// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>

#include "simulation/orders.hpp"
#include "simulation/weak_memory.hpp"

/// Accesses of the rank that runs, as the compiler's calls and the linker's wraps hand them to the model of weak
/// memory. They count only while there is one.
namespace tutti::simulation {

/// The place that calls the function in which this stands.
#define TUTTI_SITE ::tutti::simulation::site_of(__builtin_return_address(0))

/// An access that is not atomic, to memory that ranks share.
void touch_shared(const void* address, std::size_t bytes, Access access, Site site);
/// The same to any memory: a rank's own can be read and written by the kernel for another rank.
void touch_any(const void* address, std::size_t bytes, Access access, Site site);
void touch_copy(void* to, const void* from, std::size_t bytes, Site site);
/// A store past the caches, and the fence that ends all of the rank's.
void stream_to(void* to, std::size_t bytes, Site site);
void end_streams(Site site);
void fence(std::memory_order order, Site site);
/// Makes zeros of whole pages that ranks share.
void erase_shared(const void* address, std::size_t bytes, Site site);
/// A rank gives memory of its own back.
void forget_own(const void* address, std::size_t bytes, Site site);

}  // namespace tutti::simulation
