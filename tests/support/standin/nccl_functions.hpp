// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/standin/nccl_launch.hpp"
#include "support/standin/nccl_state.hpp"

/// The functions of the table, by subject.
namespace tutti::standin {

void set_management_functions(detail::nccl::Table& table);
void set_memory_functions(detail::nccl::Table& table);
void set_operation_functions(detail::nccl::Table& table);
void set_one_sided_functions(detail::nccl::Table& table);

/// A call of an operation on a stream, alone or in this thread's group.
[[nodiscard]] Result submit(CommHandle handle, Operation operation, StreamHandle stream);
/// What this thread tells the next calls of collectives; null: nothing.
void set_told(const detail::nccl::CallConfig* config);
/// Writes into a collective what the thread tells it. Refuses what NCCL would not know, or lacks here.
[[nodiscard]] Result tell(NcclState& state, Operation& operation);
/// What is wrong with a one-sided operation, as a broken rule.
[[nodiscard]] Result check_one_sided(NcclState& state, const NcclComm& comm, const Operation& operation);
/// Lets the pieces and signals that other ranks have sent arrive in the windows of all communicators. Any thread.
void land_all();

/// Lets what is in progress on a communicator go on; what get_async_error answers. The mutex is not held.
[[nodiscard]] Result advance(NcclComm& comm);
/// The answer of a call: on a blocking communicator once nothing is in progress, or another thread aborts.
[[nodiscard]] Result block_on(NcclComm& comm, Result result);
/// The answer of a call on a nonblocking communicator after its work was accepted: at once, or in progress.
[[nodiscard]] Result accept(NcclComm& comm);

}  // namespace tutti::standin
