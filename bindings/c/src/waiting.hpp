// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti.h>

#include <tutti/options.hpp>

namespace tutti::c {

/// Whether a request is done; then it is freed unless persistent. Throws the error of a failed operation.
/// With a stream: whether what follows there comes after it.
[[nodiscard]] bool finished(tutti_request_t& request, tutti_status_t* status, Stream stream = {});

/// The same, blocking.
void wait(tutti_request_t& request, tutti_status_t* status, Stream stream);

}  // namespace tutti::c
