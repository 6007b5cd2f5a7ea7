// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <tutti/communicator.hpp>
#include <tutti/error.hpp>

#include "backends/prepare_device.hpp"
#include "call/context.hpp"
#include "communicator/factory.hpp"
#include "core/mpi_call.hpp"

namespace tutti {
namespace {

void check_handle(MPI_Comm comm, const char* factory) {
  if (!detail::mpi_is_usable())
    throw Error(
        ErrorCode::finalized,
        fmt::format("Communicator::{}: MPI is not initialised or is already finalized; call MPI_Init or create a "
                    "tutti::Environment first",
                    factory));
  if (comm == MPI_COMM_NULL)
    throw Error(ErrorCode::invalid_communicator,
                fmt::format("Communicator::{}: argument comm is MPI_COMM_NULL; pass a valid communicator", factory));
  int inter = 0;
  detail::check_mpi(MPI_Comm_test_inter(comm, &inter), "MPI_Comm_test_inter");
  if (inter != 0)
    throw Error(ErrorCode::invalid_communicator,
                fmt::format("Communicator::{}: argument comm is an intercommunicator; merge it by MPI_Intercomm_merge",
                            factory));
}

/// Makes the state of a handle that this library created, and frees the handle on failure.
template <typename Make>
Communicator owning(MPI_Comm handle, const Make& make) {
  try {
    auto state = make();
    state->owns_user = true;
    return Communicator(std::move(state));
  } catch (...) {
    MPI_Comm_free(&handle);
    throw;
  }
}

}  // namespace

Communicator::Communicator() noexcept = default;
Communicator::~Communicator() = default;
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;
Communicator::Communicator(std::shared_ptr<detail::Context> state) noexcept : state_(std::move(state)) {}

Communicator Communicator::duplicate(MPI_Comm comm, const CommunicatorOptions& options) {
  check_handle(comm, "duplicate");
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  detail::check_mpi(MPI_Comm_idup(comm, &copy, &request), "MPI_Comm_idup");
  detail::wait_yielding(request, "MPI_Comm_idup");
  return owning(copy, [&] { return detail::make_context(copy, options); });
}

Communicator Communicator::adopt(MPI_Comm comm, const CommunicatorOptions& options) {
  check_handle(comm, "adopt");
  auto state = detail::make_context(comm, options);
  // Takes ownership only now, because the handle stays the caller's if the factory fails.
  state->owns_user = comm != MPI_COMM_WORLD && comm != MPI_COMM_SELF;
  return Communicator(std::move(state));
}

Communicator Communicator::borrow(MPI_Comm comm, const CommunicatorOptions& options) {
  check_handle(comm, "borrow");
  return Communicator(detail::make_context(comm, options));
}

const std::shared_ptr<detail::Context>& Communicator::state() const {
  if (!state_)
    throw Error(ErrorCode::invalid_communicator,
                "argument comm is an empty communicator; create one by duplicate, adopt, borrow or split");
  return state_;
}

int Communicator::rank() const { return state()->rank; }
int Communicator::size() const { return state()->size; }
MPI_Comm Communicator::mpi_handle() const { return state()->user; }
const Topology& Communicator::topology() const { return state()->topology; }
const CommunicatorOptions& Communicator::options() const { return state()->options; }

Communicator Communicator::split(int color, int key) const {
  state()->check_usable();
  if (color < 0 && color != MPI_UNDEFINED)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("split, {}: argument color is {}; pass a non-negative number or MPI_UNDEFINED",
                            state_->describe(), color));
  // MPI_Comm_split blocks, so it must not begin before every rank is here; otherwise a rank might wait for ever for a
  // message from a rank inside it.
  MPI_Request all_here = MPI_REQUEST_NULL;
  detail::check_mpi(MPI_Ibarrier(state_->collective, &all_here), "MPI_Ibarrier");
  detail::wait_yielding(all_here, "MPI_Ibarrier");
  MPI_Comm part = MPI_COMM_NULL;
  detail::check_mpi(MPI_Comm_split(state_->collective, color, key, &part), "MPI_Comm_split");
  if (part == MPI_COMM_NULL) return {};
  return owning(part, [&] { return detail::make_child_context(*state_, part); });
}

Communicator Communicator::split_by_node() const {
  const Topology& machine = topology();
  return split(machine.places[static_cast<std::size_t>(rank())].node, rank());
}

void Communicator::prepare_device() const { detail::prepare_device(*state(), nullptr); }

std::string Communicator::device_report() const {
  return state()->device ? state()->device->report
                         : "not prepared for device memory; call Communicator::prepare_device";
}

void Communicator::abort(const std::string& reason) noexcept {
  if (state_) state_->abort(reason);
}

}  // namespace tutti
