// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/standin/nccl_launch.hpp"
#include "support/standin/nccl_state.hpp"

/// The functions of the table, by subject.
namespace tutti::standin {

void set_management_functions(detail::nccl::Table& table);
void set_memory_functions(detail::nccl::Table& table);
void set_operation_functions(detail::nccl::Table& table);

/// Lets what is in progress on a communicator go on; what get_async_error answers. The mutex is not held.
[[nodiscard]] Result advance(NcclComm& comm);
/// The answer of a call: on a blocking communicator once nothing is in progress, or another thread aborts.
[[nodiscard]] Result block_on(NcclComm& comm, Result result);
/// The answer of a call on a nonblocking communicator after its work was accepted: at once, or in progress.
[[nodiscard]] Result accept(NcclComm& comm);

}  // namespace tutti::standin
