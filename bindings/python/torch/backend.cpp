// SPDX-License-Identifier: BSD-3-Clause
#include "backend.hpp"

#include <list>
#include <thread>
#include <tutti/collectives/barrier.hpp>
#include <tutti/error.hpp>
#include <tutti/request.hpp>

#include "world.hpp"

namespace tutti::process_group {
namespace {

Communicator communicator_of(MPI_Comm comm, const std::string& name) {
  CommunicatorOptions options;
  options.name = name;
  return Communicator::duplicate(comm, options);
}

int number_of(int (*function)(MPI_Comm, int*), MPI_Comm comm) {
  int number = 0;
  function(comm, &number);
  return number;
}

/// Waits until all ranks have come to a call, in each of its forms: one rank may make it with async_op=True and another
/// without. Sleeps meanwhile on the lane's thread, where nobody waits for the call: a thread that polls would take a
/// core from the program, which still computes what other ranks wait for.
void await_ranks(const Communicator& comm, const tutti::Options& options) {
  constexpr int polls = 100;
  constexpr auto pause = std::chrono::microseconds(20);
  Request here = ibarrier(comm, options);
  if (!Lane::on_thread_of_lane()) return here.wait();
  for (int i = 0; !here.test(); ++i)
    if (i > polls) std::this_thread::sleep_for(pause);
}

/// For groups that the program drops without destroy_process_group(): freeing them here would wait for other ranks,
/// which drop theirs at another time. MPI_Finalize frees them.
template <typename T>
void keep_until_exit(std::shared_ptr<T> object) {
  static std::mutex mutex;
  static auto* const kept = new std::list<std::shared_ptr<T>>;
  const std::lock_guard lock(mutex);
  kept->push_back(std::move(object));
}

}  // namespace

Backend::Backend(c10::intrusive_ptr<c10d::Store> store, MPI_Comm comm, std::chrono::milliseconds timeout,
                 const std::string& name)
    : c10d::Backend(number_of(MPI_Comm_rank, comm), number_of(MPI_Comm_size, comm)),
      store_(std::move(store)),
      options_(c10::make_intrusive<c10d::Backend::Options>("tutti", timeout)),
      comm_(std::make_shared<Communicator>(communicator_of(comm, name))),
      messages_(std::make_shared<Messages>(communicator_of(comm, name + " (messages)"))) {
  options_->group_name = name;
  init();
}

Backend::~Backend() {
  if (!comm_) return;
  messages_->close();
  keep_until_exit(std::move(comm_));
  keep_until_exit(std::move(messages_));
}

c10d::ErrorType Backend::getError() { return *failed_ ? c10d::ErrorType::COMM_ERROR : c10d::ErrorType::SUCCESS; }

void Backend::abort() {
  if (!comm_) return;
  *failed_ = true;
  comm_->abort("abort() of the process group");
  messages_->communicator().abort("abort() of the process group");
}

void Backend::shutdown() {
  if (!comm_) return;
  lane_->close();
  messages_->close();
  if (*failed_) {
    keep_until_exit(std::move(comm_));
    keep_until_exit(std::move(messages_));
  }
  comm_.reset();
  messages_.reset();
}

c10::intrusive_ptr<c10d::Backend> Backend::split(const c10::intrusive_ptr<c10d::Store>& store,
                                                 const std::vector<int>& ranks,
                                                 const c10::intrusive_ptr<c10d::Backend::Options>& opts) {
  const Subgroup group(comm_->mpi_handle(), ranks, opts->group_name);
  if (group.handle() == MPI_COMM_NULL) return {};
  return c10::make_intrusive<Backend>(store, group.handle(), opts->timeout, opts->group_name);
}

std::chrono::milliseconds Backend::limit(std::chrono::milliseconds timeout) const {
  return timeout == c10d::kUnsetTimeout ? options_->timeout : timeout;
}

void Backend::check_root(std::int64_t root, const char* call) const {
  TORCH_CHECK(root >= 0 && root < size_, "tutti: ", call, ": invalid root rank: ", root, " of ", size_, " ranks");
}

Works Backend::make(C10dCall call, Body body) {
  TORCH_CHECK(comm_, "tutti: the process group has been destroyed");
  ++calls_;
  const at::Tensor* first = !call.outputs.empty()  ? call.outputs.data()
                            : !call.inputs.empty() ? call.inputs.data()
                                                   : nullptr;
  if (first != nullptr && !first->is_cpu()) return make_on_device(std::move(call), first->device(), body);
  tutti::Options options;
  options.memory = MemoryKind::host;
  options.timeout = call.timeout;
  const bool async = call.async;
  auto run = [comm = comm_, failed = failed_, options, body = std::move(body)] {
    try {
      if (comm->size() > 1) await_ranks(*comm, options);
      body(*comm, options);
    } catch (const Error& error) {
      const ErrorCode code = error.code();
      *failed = *failed || code == ErrorCode::timeout || code == ErrorCode::aborted || code == ErrorCode::mpi ||
                code == ErrorCode::peer_died;
      throw;
    }
  };
  auto work = c10::make_intrusive<LaneWork>(rank_, std::move(call), calls_, lane_, std::move(run));
  if (async)
    lane_->queue(work);
  else
    lane_->run(*work);
  return work;
}

}  // namespace tutti::process_group
