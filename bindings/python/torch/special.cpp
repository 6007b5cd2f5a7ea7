// SPDX-License-Identifier: BSD-3-Clause
// Messages, sums of sparse tensors, and the barrier that names the ranks that are missing.
#include <numeric>
#include <tutti/collectives/allgather.hpp>
#include <tutti/collectives/allgatherv.hpp>
#include <tutti/point_to_point.hpp>

#include "backend.hpp"
#include "tensors.hpp"

namespace tutti::process_group {
namespace {

using c10d::OpType;

/// Gathers the ranks' tensors, which differ in their first dimension only.
at::Tensor gather_rows(const Communicator& comm, const tutti::Options& options, const at::Tensor& rows,
                       const std::vector<std::int64_t>& numbers) {
  std::vector<std::int64_t> shape = rows.sizes().vec();
  std::int64_t width = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) width *= shape[i];
  std::vector<std::size_t> counts;
  std::vector<std::size_t> places;
  std::size_t place = 0;
  for (const std::int64_t number : numbers) {
    counts.push_back(static_cast<std::size_t>(number * width));
    places.push_back(place);
    place += counts.back();
  }
  shape[0] = std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
  const at::Tensor all = at::empty(shape, rows.options());
  const at::Tensor sent = rows.contiguous();
  allgatherv(comm, buffer_of(sent), buffer_of(all), counts, places, options);
  return all;
}

void sum_sparse(const Communicator& comm, const tutti::Options& options, at::Tensor& tensor) {
  const at::Tensor mine = tensor.coalesce();
  const std::vector<std::int64_t> number{mine._nnz()};
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(comm.size()));
  allgather(comm, number, numbers, options);
  const at::Tensor indices = gather_rows(comm, options, mine.indices().t(), numbers);
  const at::Tensor values = gather_rows(comm, options, mine.values(), numbers);
  tensor.copy_(at::sparse_coo_tensor(indices.t(), values, tensor.sizes()).coalesce());
}

bool has_come(c10d::Store& store, const std::string& key, std::chrono::milliseconds timeout) {
  try {
    store.wait({key}, timeout);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

/// Throws unless rank 0 says that all ranks have come. The text is gloo's, which programs know.
void check_passed(c10d::Store& store, int rank, const std::string& key, std::chrono::milliseconds timeout) {
  TORCH_CHECK(has_come(store, key, timeout) && store.get_to_str(key) == "all", "Rank ", rank,
              " successfully reached monitoredBarrier, but received errors while waiting for send/recv from rank 0. "
              "Please check rank 0 logs for faulty rank.");
}

/// Throws unless all ranks have come, with the first rank that has not, or with all of these. Texts as gloo's.
void name_missing(c10d::Store& store, int size, const std::string& round, std::chrono::milliseconds timeout,
                  bool wait_all_ranks) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + timeout;
  std::vector<int> missing;
  for (int rank = 1; rank < size && (missing.empty() || wait_all_ranks); ++rank) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    TORCH_CHECK(left.count() > 0 || !missing.empty(), "Rank 0 timed out in monitoredBarrier after ", timeout.count(),
                " ms.");
    if (!has_come(store, round + std::to_string(rank), std::max(left, std::chrono::milliseconds(1))))
      missing.push_back(rank);
  }
  TORCH_CHECK(missing.size() != 1 || wait_all_ranks, "[Rank 0]: Rank ", missing.empty() ? 0 : missing[0],
              " failed to pass monitoredBarrier in ", timeout.count(), " ms");
  TORCH_CHECK(missing.empty(), "[Rank 0]: Ranks ", c10::Join(", ", missing), " failed to pass monitoredBarrier in ",
              timeout.count(), " ms");
}

}  // namespace

Works Backend::allreduce_sparse(Tensors& tensors, const c10d::AllreduceOptions& opts) {
  TORCH_CHECK(tensors.size() == 1 && tensors[0].is_sparse(), "tutti: allreduce_sparse takes one sparse tensor");
  TORCH_CHECK(opts.reduceOp == c10d::ReduceOp::SUM,
              "tutti: allreduce_sparse: unsupported reduction operation; only SUM "
              "works with sparse tensors");
  return make(call_of(OpType::_ALLREDUCE_SPARSE, "tutti:all_reduce", tensors, tensors, opts),
              [tensor = tensors[0]](const Communicator& comm, const tutti::Options& options) {
                at::Tensor held = tensor;
                sum_sparse(comm, options, held);
              });
}

Works Backend::message(C10dCall call, int peer, int tag, bool sends) {
  TORCH_CHECK(messages_, "tutti: the process group has been destroyed");
  TORCH_CHECK(tag >= 0 && tag <= 32767, "tutti: invalid tag ", tag, "; tags are 0 to 32767");
  auto work = c10::make_intrusive<Message>(rank_, std::move(call), messages_);
  messages_->start(work, peer, tag, sends);
  return work;
}

Works Backend::send(Tensors& tensors, int dest, int tag) {
  only(tensors, "send");
  return message({OpType::SEND, "tutti:send", tensors, tensors, options_->timeout}, dest, tag, true);
}

Works Backend::recv(Tensors& tensors, int source, int tag) {
  only(tensors, "recv");
  return message({OpType::RECV, "tutti:recv", tensors, tensors, options_->timeout}, source, tag, false);
}

Works Backend::recvAnysource(Tensors& tensors, int tag) {
  only(tensors, "recvAnysource");
  return message({OpType::RECVANYSOURCE, "tutti:recvAnySource", tensors, tensors, options_->timeout}, any_source, tag,
                 false);
}

void Backend::monitoredBarrier(const c10d::BarrierOptions& opts, bool wait_all_ranks) {
  const std::chrono::milliseconds timeout = limit(opts.timeout);
  const std::string round = "tutti/monitored/" + std::to_string(monitored_++) + "/";
  if (rank_ != 0) {
    store_->set(round + std::to_string(rank_), "here");
    check_passed(*store_, rank_, round + "done", timeout);
    return;
  }
  try {
    name_missing(*store_, size_, round, timeout, wait_all_ranks);
  } catch (...) {
    store_->set(round + "done", "failed");
    throw;
  }
  store_->set(round + "done", "all");
}

}  // namespace tutti::process_group
