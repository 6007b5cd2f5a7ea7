// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diagnosis/site.hpp"

namespace tutti::detail {

/// Sets the address and the frames of a site from this thread's stack, from the first frame outside of the library on.
/// To unwind takes a microsecond or more, so the last walks of a thread are remembered: one whose return addresses all
/// lie where they lay then is the same one.
void note_frames(CallSite& site) noexcept;

}  // namespace tutti::detail
