// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <tutti/communicator.hpp>
#include <tutti/error.hpp>
#include <utility>

#include "backends/prepare_device.hpp"
#include "call/check.hpp"
#include "call/context.hpp"
#include "communicator/factory.hpp"
#include "core/mpi_call.hpp"

namespace tutti {
namespace {

/// No function tells whether there is a session, but only sessions make other communicators without MPI_Init.
bool may_be_of_session(MPI_Comm comm) {
  int finalized = 0;
  MPI_Finalized(&finalized);
  return MPI_VERSION >= 4 && finalized == 0 && comm != MPI_COMM_NULL && comm != MPI_COMM_WORLD && comm != MPI_COMM_SELF;
}

void check_handle(MPI_Comm comm, const char* factory) {
  if (!detail::world_is_usable() && !may_be_of_session(comm))
    throw Error(
        ErrorCode::finalized,
        fmt::format("Communicator::{}: MPI is not initialised or is already finalized; call MPI_Init or create a "
                    "tutti::Environment first, or pass a communicator of a session",
                    factory));
  if (comm == MPI_COMM_NULL)
    throw Error(
        ErrorCode::invalid_communicator,
        fmt::format("{}Communicator::{}: argument comm is MPI_COMM_NULL; pass a communicator that this rank is in",
                    detail::error_prefix(), factory));
  int inter = 0;
  detail::check_mpi(MPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
  if (inter != 0)
    throw Error(
        ErrorCode::invalid_communicator,
        fmt::format("{}Communicator::{}: argument comm is an intercommunicator; merge it by MPI_Intercomm_merge",
                    detail::error_prefix(), factory));
}

/// In check mode a collective call of a communicator is compared as those that move data are.
void check_call(const detail::Context& comm, detail::flight::Call call) {
  if (comm.check != nullptr) comm.check->meet(call, comm.options.timeout);
}

}  // namespace

Communicator::Communicator() noexcept = default;
Communicator::~Communicator() { detail::Context::let_go(std::move(state_)); }
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&& other) noexcept {
  if (this != &other) detail::Context::let_go(std::exchange(state_, std::move(other.state_)));
  return *this;
}
Communicator::Communicator(std::shared_ptr<detail::Context> state) noexcept : state_(std::move(state)) {}

Communicator Communicator::duplicate(MPI_Comm comm, const CommunicatorOptions& options) {
  check_handle(comm, "duplicate");
  return Communicator(detail::make_context(comm, options, detail::Handle::own));
}

Communicator Communicator::adopt(MPI_Comm comm, const CommunicatorOptions& options) {
  check_handle(comm, "adopt");
  auto state = detail::make_context(comm, options, detail::Handle::callers);
  // Takes ownership only now, because the handle stays the caller's if the factory fails.
  state->user = comm;
  state->owns_user = comm != MPI_COMM_WORLD && comm != MPI_COMM_SELF;
  return Communicator(std::move(state));
}

Communicator Communicator::borrow(MPI_Comm comm, const CommunicatorOptions& options) {
  check_handle(comm, "borrow");
  auto state = detail::make_context(comm, options, detail::Handle::callers);
  state->user = comm;
  return Communicator(std::move(state));
}

const std::shared_ptr<detail::Context>& Communicator::state() const {
  if (!state_)
    throw Error(ErrorCode::invalid_communicator,
                detail::error_prefix() +
                    "argument comm is an empty communicator; create one by duplicate, adopt, borrow or split");
  return state_;
}

int Communicator::rank() const { return state()->rank; }
int Communicator::size() const { return state()->size; }
MPI_Comm Communicator::mpi_handle() const { return state()->handle(); }
const Topology& Communicator::topology() const { return state()->topology; }
const CommunicatorOptions& Communicator::options() const { return state()->options; }

Communicator Communicator::split(int color, int key) const {
  state()->check_usable();
  check_call(*state_, detail::flight::Call::split);
  if (color < 0 && color != MPI_UNDEFINED)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("split, {}: argument color is {}; pass a non-negative number or MPI_UNDEFINED",
                            state_->describe(), color));
  return Communicator(detail::make_child_context(*state_, color, key));
}

Communicator Communicator::split_by_node() const {
  const Topology& machine = topology();
  return split(machine.places[static_cast<std::size_t>(rank())].node, rank());
}

Communicator Communicator::shrink() const {
  if (!detail::mpi_is_usable())
    throw Error(ErrorCode::finalized, "shrink: MPI has been finalized; make all calls before MPI_Finalize");
  MPI_Comm survivors = detail::make_of_survivors(*state());
  try {
    return adopt(survivors, options());
  } catch (...) {
    MPI_Comm_free(&survivors);
    throw;
  }
}

void Communicator::prepare_device() const {
  check_call(*state(), detail::flight::Call::prepare_device);
  detail::prepare_device(*state_, nullptr);
}

std::string Communicator::device_report() const {
  return state()->device ? state()->device->report
                         : "not prepared for device memory; call Communicator::prepare_device";
}

void Communicator::abort(const std::string& reason) noexcept {
  if (state_) reason.empty() ? state_->abort("no reason given") : state_->abort(reason);
}

}  // namespace tutti
