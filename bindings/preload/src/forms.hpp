// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <memory>
#include <utility>

#include "errors.hpp"
#include "host.hpp"
#include "member.hpp"
#include "report.hpp"
#include "requests.hpp"
#include "watch/call.hpp"

/// The three forms of a collective. A call is a class with these members:
///   take(member, arguments...)  takes the arguments, or says why the MPI must make the call. Local.
///   read(), write()             copy data whose place is not contiguous, before and after the call
///   run(comm), start(comm), prepare(comm)   make the call through the library
///   hold()                      keeps what the program may free before a nonblocking call has ended
/// Arguments that MPI refuses are the MPI's: it has the texts, and nothing collective has been done yet.
namespace tutti::preload {

template <typename Call>
class HeldCall final : public Operation {
 public:
  using Operation::Operation;
  Call call{};

 private:
  void read() override { call.read(); }
  void write() override { call.write(); }
  Request begin(const Communicator& comm) override { return call.start(comm); }
  Request prepare(const Communicator& comm) override { return call.prepare(comm); }
};

/// Whether a call that failed half-way has the data that it began with.
template <typename Call>
bool may_repeat(const Call& call) {
  if constexpr (requires { call.operands; }) return !call.operands.is_in_place();
  if constexpr (requires { call.send; }) return !call.send.is_in_place();
  return true;
}

/// A persistent call will be made many times. Neighborhood collectives have the library's order of blocks from the
/// first one on, which not every MPI has.
inline SetUp set_up_of_blocking(Collective which) { return is_neighborhood(which) ? SetUp::now : SetUp::late; }
inline SetUp set_up_of_request(bool is_persistent) { return is_persistent ? SetUp::now : SetUp::never; }

template <typename Call, typename Take, typename Pass>
int run_unwatched(Collective which, MPI_Comm comm, const Take& take, const Pass& pass) {
  std::shared_ptr<Member>* const found = member_of(comm);
  if (found == nullptr) return pass();
  Member& member = **found;
  Call call;
  try {
    Reason reason = member.reason();
    if (reason == Reason::none) reason = take(call, member);
    const auto locked = member.lock();
    if (reason == Reason::none) reason = member.begin_call(set_up_of_blocking(which));
    count(which, reason);
    if (reason == Reason::none) {
      call.read();
      call.run(member.ours());
      call.write();
      return MPI_SUCCESS;
    }
  } catch (...) {
    const int code = member.fail(may_repeat(call));
    if (code != MPI_SUCCESS) return raise(comm, code);
  }
  return pass();
}

/// describe(ranks): the description of the call, for ranks that compare their calls.
template <typename Call, typename Take, typename Describe, typename Pass>
int run_blocking(Collective which, MPI_Comm comm, const Take& take, const Describe& describe, const Pass& pass) {
  const auto usual = [&] { return run_unwatched<Call>(which, comm, take, pass); };
  if (is_watched()) [[unlikely]]
    return watch_collective(which, Form::blocking, comm, nullptr, describe, usual, pass);
  return usual();
}

template <typename Call, typename Take, typename Pass>
int make_unwatched(Collective which, bool is_persistent, MPI_Comm comm, MPI_Request* request, const Take& take,
                   const Pass& pass) {
  std::shared_ptr<Member>* const found = member_of(comm);
  if (found == nullptr || request == nullptr) return pass();
  Member& member = **found;
  try {
    Reason reason = member.reason();
    std::shared_ptr<HeldCall<Call>> operation;
    if (reason == Reason::none) {
      operation = std::make_shared<HeldCall<Call>>(*found, comm);
      reason = take(operation->call, member);
    }
    if (reason == Reason::none) {
      const auto locked = member.lock();
      reason = member.begin_call(set_up_of_request(is_persistent));
      if (reason == Reason::none) reason = member.reason_of_requests(is_persistent);
    }
    int code = MPI_SUCCESS;
    if (reason == Reason::none) {
      operation->call.hold();
      reason = operation->make(is_persistent, code);
    }
    count(which, reason);
    if (reason == Reason::none) {
      if (code == MPI_SUCCESS) {
        *request = operation->token();
        keep(std::move(operation));
      }
      return raise(comm, code);
    }
  } catch (...) {
    return raise(comm, member.fail());
  }
  return pass();
}

template <typename Call, typename Take, typename Describe, typename Pass>
int make_operation(Collective which, bool is_persistent, MPI_Comm comm, MPI_Request* request, const Take& take,
                   const Describe& describe, const Pass& pass) {
  const auto usual = [&] { return make_unwatched<Call>(which, is_persistent, comm, request, take, pass); };
  if (is_watched()) [[unlikely]] {
    const Form form = is_persistent ? Form::init : Form::nonblocking;
    return watch_collective(which, form, comm, request, describe, usual, pass);
  }
  return usual();
}

}  // namespace tutti::preload

/// Defines run(), start() and prepare() of a call by its with(comm, make), which gives make() all arguments.
#define TUTTI_MPI_WAYS(lower)                                                          \
  void run(const tutti::Communicator& ours) const {                                    \
    with(ours, [](const auto&... all) { tutti::lower(all...); });                      \
  }                                                                                    \
  [[nodiscard]] tutti::Request start(const tutti::Communicator& ours) const {          \
    return with(ours, [](const auto&... all) { return tutti::i##lower(all...); });     \
  }                                                                                    \
  [[nodiscard]] tutti::Request prepare(const tutti::Communicator& ours) const {        \
    return with(ours, [](const auto&... all) { return tutti::lower##_init(all...); }); \
  }

#define TUTTI_MPI_BLOCKING(Call, Name, lower, Suffix, N, D, PARAMS, ARGS)                                     \
  int MPI_##Name##Suffix(PARAMS(N, D), MPI_Comm comm) {                                                       \
    using namespace tutti::preload;                                                                           \
    return run_blocking<Call>(                                                                                \
        Collective::lower, comm, [&](Call& call, const Member& member) { return call.take(member, ARGS()); }, \
        [&](const Ranks& ranks) { return described<Collective::lower>(ranks, ARGS()); },                      \
        [&] { return PMPI_##Name##Suffix(ARGS(), comm); });                                                   \
  }
#define TUTTI_MPI_NONBLOCKING(Call, lower, Suffix, N, D, PARAMS, ARGS)                                 \
  int MPI_I##lower##Suffix(PARAMS(N, D), MPI_Comm comm, MPI_Request* request) {                        \
    using namespace tutti::preload;                                                                    \
    return make_operation<Call>(                                                                       \
        Collective::lower, false, comm, request,                                                       \
        [&](Call& call, const Member& member) { return call.take(member, ARGS()); },                   \
        [&](const Ranks& ranks) { return described<Collective::lower>(ranks, ARGS()); },               \
        [&](const OtherMemory& other = {}) {                                                           \
          const auto make = [&](auto... all) { return PMPI_I##lower##Suffix(all..., comm, request); }; \
          return other.pass(make, ARGS());                                                             \
        });                                                                                            \
  }
#define TUTTI_MPI_PERSISTENT(Call, Name, lower, Suffix, N, D, PARAMS, ARGS)                                       \
  int MPI_##Name##_init##Suffix(PARAMS(N, D), MPI_Comm comm, MPI_Info info, MPI_Request* request) {               \
    using namespace tutti::preload;                                                                               \
    return make_operation<Call>(                                                                                  \
        Collective::lower, true, comm, request,                                                                   \
        [&](Call& call, const Member& member) { return call.take(member, ARGS()); },                              \
        [&](const Ranks& ranks) { return described<Collective::lower>(ranks, ARGS()); },                          \
        [&](const OtherMemory& other = {}) {                                                                      \
          const auto make = [&](auto... all) { return PMPI_##Name##_init##Suffix(all..., comm, info, request); }; \
          return other.pass(make, ARGS());                                                                        \
        });                                                                                                       \
  }

/// Defines the functions of a collective that takes counts: TUTTI_MPI_COLLECTIVE(Bcast, Bcast, bcast, PARAMS, ARGS)
/// with PARAMS(N, D) its parameters before the communicator, for counts of type N and displacements of type D, and
/// ARGS() their names. Counterparts: MPI 4.0, chapter 6.
#if TUTTI_MPI_HAS_PERSISTENT
#define TUTTI_MPI_COLLECTIVE_SMALL(Call, Name, lower, PARAMS, ARGS) \
  TUTTI_MPI_BLOCKING(Call, Name, lower, , int, int, PARAMS, ARGS)   \
  TUTTI_MPI_NONBLOCKING(Call, lower, , int, int, PARAMS, ARGS)      \
  TUTTI_MPI_PERSISTENT(Call, Name, lower, , int, int, PARAMS, ARGS)
#else
#define TUTTI_MPI_COLLECTIVE_SMALL(Call, Name, lower, PARAMS, ARGS) \
  TUTTI_MPI_BLOCKING(Call, Name, lower, , int, int, PARAMS, ARGS)   \
  TUTTI_MPI_NONBLOCKING(Call, lower, , int, int, PARAMS, ARGS)
#endif
#if TUTTI_MPI_HAS_LARGE_COUNTS
#define TUTTI_MPI_COLLECTIVE_LARGE(Call, Name, lower, PARAMS, ARGS)            \
  TUTTI_MPI_BLOCKING(Call, Name, lower, _c, MPI_Count, MPI_Aint, PARAMS, ARGS) \
  TUTTI_MPI_NONBLOCKING(Call, lower, _c, MPI_Count, MPI_Aint, PARAMS, ARGS)    \
  TUTTI_MPI_PERSISTENT(Call, Name, lower, _c, MPI_Count, MPI_Aint, PARAMS, ARGS)
#else
#define TUTTI_MPI_COLLECTIVE_LARGE(Call, Name, lower, PARAMS, ARGS)
#endif
#define TUTTI_MPI_COLLECTIVE(Call, Name, lower, PARAMS, ARGS) \
  extern "C" {                                                \
  TUTTI_MPI_COLLECTIVE_SMALL(Call, Name, lower, PARAMS, ARGS) \
  TUTTI_MPI_COLLECTIVE_LARGE(Call, Name, lower, PARAMS, ARGS) \
  }
