// SPDX-License-Identifier: BSD-3-Clause
#include "pooled_exchange.hpp"

#include <tutti/collectives/alltoallv.hpp>

namespace dlrm {

PooledExchange::PooledExchange(const tutti::Communicator& comm, const Placement& placement, std::size_t dim,
                               std::size_t max_batch)
    : comm_(&comm),
      placement_(&placement),
      dim_(dim),
      pooled_(max_batch * placement.tables_of(comm.rank()).size() * dim),
      vectors_(placement.tables()),
      gradients_(placement.tables()) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  const std::size_t max_slice = (max_batch + ranks - 1) / ranks;
  vector_blocks_.resize(max_slice * placement.tables() * dim);
  gradient_blocks_.resize(vector_blocks_.size());
  for (auto* list : {&owner_counts_, &owner_displs_, &sample_counts_, &sample_displs_}) {
    list->resize(ranks);
  }
}

void PooledExchange::set_batch(std::size_t batch) {
  if (batch == batch_) {
    return;
  }
  batch_ = batch;
  const std::size_t mine = placement_->tables_of(comm_->rank()).size();
  const std::size_t slice = batch_slice(batch, comm_->rank(), comm_->size()).size();
  std::size_t at = 0;
  for (int r = 0; r < comm_->size(); ++r) {
    const auto i = static_cast<std::size_t>(r);
    const auto theirs = batch_slice(batch, r, comm_->size());
    owner_counts_[i] = theirs.size() * mine * dim_;
    owner_displs_[i] = theirs.begin * mine * dim_;
    const auto& tables = placement_->tables_of(r);
    sample_counts_[i] = slice * tables.size() * dim_;
    sample_displs_[i] = at;
    for (std::size_t k = 0; k < tables.size(); ++k) {
      vectors_[tables[k]] = {vector_blocks_.data() + at + k * dim_, tables.size() * dim_};
      gradients_[tables[k]] = {gradient_blocks_.data() + at + k * dim_, tables.size() * dim_};
    }
    at += sample_counts_[i];
  }
}

void PooledExchange::start_forward(std::size_t batch) {
  set_batch(batch);
  request_ = tutti::ialltoallv(*comm_, pooled_, owner_counts_, owner_displs_, vector_blocks_, sample_counts_,
                               sample_displs_, {.memory = tutti::MemoryKind::host});
}

void PooledExchange::start_backward() {
  request_ = tutti::ialltoallv(*comm_, gradient_blocks_, sample_counts_, sample_displs_, pooled_, owner_counts_,
                               owner_displs_, {.memory = tutti::MemoryKind::host});
}

}  // namespace dlrm
