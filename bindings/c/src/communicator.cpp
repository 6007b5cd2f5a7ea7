// SPDX-License-Identifier: BSD-3-Clause
#include <tutti.h>

#include <fmt/format.h>

#include <algorithm>
#include <tutti/collectives/neighborhood.hpp>

#include "fortran_handles.h"
#include "guard.hpp"
#include "handles.hpp"

using namespace tutti::c;
using tutti::Communicator;
using tutti::CommunicatorOptions;
using tutti::ErrorCode;

namespace {

void give(tutti_comm_t* place, Communicator comm) {
  *place = comm.valid() ? make_handle<tutti_comm_t>(CommRecord{std::move(comm)}) : TUTTI_COMM_NULL;
}

Communicator create(MPI_Comm comm, int ownership, const CommunicatorOptions& options) {
  switch (ownership) {
    case TUTTI_COMM_DUPLICATE:
      return Communicator::duplicate(comm, options);
    case TUTTI_COMM_ADOPT:
      return Communicator::adopt(comm, options);
    case TUTTI_COMM_BORROW:
      return Communicator::borrow(comm, options);
    default:
      throw_misuse(ErrorCode::invalid_argument,
                   fmt::format("argument ownership is {}; pass TUTTI_COMM_DUPLICATE, _ADOPT or _BORROW", ownership));
  }
}

/// Converts a Fortran handle, which MPI allows only between MPI_Init and MPI_Finalize, or in a session (MPI 4).
MPI_Comm from_fortran(tutti_fint_t comm) {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if ((initialized == 0 && MPI_VERSION < 4) || finalized != 0)
    throw_misuse(ErrorCode::finalized,
                 "argument mpi_comm: MPI is not initialised or already finalized; call MPI_Init first");
  return TUTTI_COMM_FROM_FORTRAN(comm);
}

/// Writes as many ranks as the caller's array holds.
void give_ranks(std::span<const int> found, std::size_t capacity, int* ranks, const char* name) {
  if (capacity == 0) return;
  if (ranks == nullptr) throw_null(name, "pass an array, or the capacity 0");
  std::copy_n(found.begin(), std::min(capacity, found.size()), ranks);
}

}  // namespace

int tutti_comm_create(MPI_Comm mpi_comm, int ownership, const tutti_comm_options_t* given, tutti_comm_t* comm) {
  return guard([&] {
    output(comm, "comm") = nullptr;
    give(comm, create(mpi_comm, ownership, options(given)));
  });
}

int tutti_comm_create_f(tutti_fint_t mpi_comm, int ownership, const tutti_comm_options_t* given, tutti_comm_t* comm) {
  return guard([&] {
    output(comm, "comm") = nullptr;
    give(comm, create(from_fortran(mpi_comm), ownership, options(given)));
  });
}

int tutti_comm_duplicate(MPI_Comm mpi_comm, tutti_comm_t* comm) {
  return tutti_comm_create(mpi_comm, TUTTI_COMM_DUPLICATE, nullptr, comm);
}

int tutti_comm_adopt(MPI_Comm mpi_comm, tutti_comm_t* comm) {
  return tutti_comm_create(mpi_comm, TUTTI_COMM_ADOPT, nullptr, comm);
}

int tutti_comm_borrow(MPI_Comm mpi_comm, tutti_comm_t* comm) {
  return tutti_comm_create(mpi_comm, TUTTI_COMM_BORROW, nullptr, comm);
}

int tutti_comm_duplicate_f(tutti_fint_t mpi_comm, tutti_comm_t* comm) {
  return tutti_comm_create_f(mpi_comm, TUTTI_COMM_DUPLICATE, nullptr, comm);
}

int tutti_comm_adopt_f(tutti_fint_t mpi_comm, tutti_comm_t* comm) {
  return tutti_comm_create_f(mpi_comm, TUTTI_COMM_ADOPT, nullptr, comm);
}

int tutti_comm_borrow_f(tutti_fint_t mpi_comm, tutti_comm_t* comm) {
  return tutti_comm_create_f(mpi_comm, TUTTI_COMM_BORROW, nullptr, comm);
}

int tutti_comm_split(tutti_comm_t comm, int color, int key, tutti_comm_t* part) {
  return guard([&] {
    output(part, "part") = nullptr;
    give(part, communicator(comm).split(color, key));
  });
}

int tutti_comm_split_by_node(tutti_comm_t comm, tutti_comm_t* part) {
  return guard([&] {
    output(part, "part") = nullptr;
    give(part, communicator(comm).split_by_node());
  });
}

int tutti_comm_shrink(tutti_comm_t comm, tutti_comm_t* survivors) {
  return guard([&] {
    output(survivors, "survivors") = nullptr;
    give(survivors, communicator(comm).shrink());
  });
}

int tutti_comm_rank(tutti_comm_t comm, int* rank) {
  return guard([&] { output(rank, "rank") = communicator(comm).rank(); });
}

int tutti_comm_size(tutti_comm_t comm, int* size) {
  return guard([&] { output(size, "size") = communicator(comm).size(); });
}

int tutti_comm_neighbors(tutti_comm_t comm, size_t source_capacity, int* sources, size_t* source_count,
                         size_t destination_capacity, int* destinations, size_t* destination_count) {
  return guard([&] {
    const tutti::Neighborhood found = tutti::neighborhood(communicator(comm));
    output(source_count, "source_count") = found.sources.size();
    output(destination_count, "destination_count") = found.destinations.size();
    give_ranks(found.sources, source_capacity, sources, "sources");
    give_ranks(found.destinations, destination_capacity, destinations, "destinations");
  });
}

int tutti_comm_mpi_handle(tutti_comm_t comm, MPI_Comm* handle) {
  return guard([&] { output(handle, "handle") = communicator(comm).mpi_handle(); });
}

int tutti_comm_mpi_handle_f(tutti_comm_t comm, tutti_fint_t* handle) {
  return guard([&] { output(handle, "handle") = TUTTI_COMM_TO_FORTRAN(communicator(comm).mpi_handle()); });
}

int tutti_comm_prepare_device(tutti_comm_t comm) {
  return guard([&] { communicator(comm).prepare_device(); });
}

int tutti_comm_device_report(tutti_comm_t comm, char* text, size_t capacity, size_t* length) {
  return guard([&] { give_text(communicator(comm).device_report(), text, capacity, length); });
}

int tutti_comm_abort(tutti_comm_t comm, const char* reason) {
  return guard([&] {
    communicator(comm);
    record_of(comm, "comm").comm.abort(reason != nullptr ? reason : "");
  });
}

int tutti_comm_free(tutti_comm_t* comm) { return free_handle(comm, "comm"); }
