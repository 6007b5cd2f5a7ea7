// SPDX-License-Identifier: BSD-3-Clause
// The copies past the caches of src/kernels, with stores and a fence that the model of weak memory sees.
#include "kernels/copy.hpp"

#include "simulation/accesses.hpp"
#include "simulation/streams.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>

namespace {

[[gnu::noinline, gnu::no_sanitize("thread")]] void stream_word(__m128i* to, __m128i value) {
  tutti::simulation::stream_to(to, sizeof value, TUTTI_SITE);
  *to = value;
}

[[gnu::noinline]] void end_streams() { tutti::simulation::end_streams(TUTTI_SITE); }

}  // namespace

#define _mm_stream_si128 stream_word
#define _mm_sfence end_streams
#endif

namespace tutti::simulated_kernels {
using kernels::copy;
}

#define kernels simulated_kernels
#include "kernels/copy.cpp"  // NOLINT
#undef kernels
