// SPDX-License-Identifier: BSD-3-Clause
// The functions that end what the library's calls rest on.
#include <mpi.h>

#include <string>

#include "diagnosis/site_text.hpp"
#include "held.hpp"
#include "member.hpp"
#include "report.hpp"
#include "watch/call.hpp"
#include "watch/message_types.hpp"
#include "watch/record.hpp"

namespace tutti::preload {
namespace {

using tutti::detail::flight::Call;

/// free(): the MPI's function that frees the communicator.
template <typename Free>
int free_watched(const char* name, MPI_Comm* comm, const Free& free) {
  if (!is_watched() || comm == nullptr || *comm == MPI_COMM_NULL) return free();
  const MPI_Comm freed = *comm;
  const int code = watch_other(Call::free_communicator, name, freed, free);
  if (code == MPI_SUCCESS) communicators().remove(freed);
  return code;
}

/// Once all ranks are here: waits for the last descriptions, and lists what the program has left.
int finish_checks() {
  channel().settle();
  if (const int code = compare(); code != MPI_SUCCESS) return code;
  report_comparisons();
  for (const std::string& text : message_types().left()) say(text);
  for (const std::string& text : watched_requests().left()) say(text);
  for (const std::string& place : communicators().left())
    say("the communicator of the call " + tutti::detail::words_of(place) + " was never freed; call MPI_Comm_free");
  return MPI_SUCCESS;
}

int finalize() {
  if (!is_watched()) return PMPI_Finalize();
  const int code = watch_other(Call::finalize, "MPI_Finalize", MPI_COMM_WORLD, [] {
    if (is_checked())
      if (const int found = finish_checks(); found != MPI_SUCCESS) return found;
    stop_checking();
    return PMPI_Finalize();
  });
  stop_watching();
  return code;
}

}  // namespace
}  // namespace tutti::preload

using namespace tutti::preload;

extern "C" {

int MPI_Comm_free(MPI_Comm* comm) {
  if (comm != nullptr) end_member(*comm);
  return free_watched("MPI_Comm_free", comm, [comm] { return PMPI_Comm_free(comm); });
}

int MPI_Comm_disconnect(MPI_Comm* comm) {
  if (comm != nullptr) end_member(*comm);
  return free_watched("MPI_Comm_disconnect", comm, [comm] { return PMPI_Comm_disconnect(comm); });
}

#ifdef MPICH_VERSION
/// The MPI refuses calls on a revoked communicator; the library's would wait for ranks that make none any more.
int MPIX_Comm_revoke(MPI_Comm comm) {
  if (const std::shared_ptr<Member>* const member = member_of(comm)) (*member)->pass_on(Reason::set_up);
  return PMPIX_Comm_revoke(comm);
}
#endif

int MPI_Op_free(MPI_Op* op) { return free_unless_held<OpHandle>(op); }

int MPI_Type_free(MPI_Datatype* type) { return free_unless_held<TypeHandle>(type); }

int MPI_Finalize() {
  print_report();
  make_no_more_sides();
  return finalize();
}
}
