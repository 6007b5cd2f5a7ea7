// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include <tutti/error.hpp>

namespace tutti::python {

/// Makes tutti.Error and tutti.ErrorCode, and lets tutti::Error pass as the former.
void bind_error(nanobind::module_& module);

/// Returns true if other ranks may still read and write the buffers of a call that failed with this code, so that their
/// memory must live on.
[[nodiscard]] bool leaves_buffers_in_use(ErrorCode code) noexcept;

}  // namespace tutti::python
