// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// All backends by name: for the list, for tools that show one in particular, and for tests.
#include "backends/mpi/backend.hpp"
#include "backends/native/backend.hpp"
#include "backends/nccl/backend.hpp"
#include "backends/shm/backend.hpp"
#include "backends/staged/backend.hpp"
