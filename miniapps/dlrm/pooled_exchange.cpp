// SPDX-License-Identifier: BSD-3-Clause
#include "pooled_exchange.hpp"

#include <algorithm>
#include <tutti/collectives/alltoallv.hpp>

namespace dlrm {

PooledExchange::PooledExchange(const tutti::Communicator& comm, const Placement& placement, std::size_t dim,
                               std::size_t max_batch)
    : comm_(&comm), placement_(&placement), dim_(dim) {
  const auto ranks = static_cast<std::size_t>(comm.size());
  const std::size_t mine = placement.tables_of(comm.rank()).size();
  const std::size_t max_slice = (max_batch + ranks - 1) / ranks;
  pooled_.resize(max_batch * mine * dim);
  blocks_.resize(max_slice * placement.tables() * dim);
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
    const Slice theirs = batch_slice(batch, r, comm_->size());
    owner_counts_[i] = theirs.size() * mine * dim_;
    owner_displs_[i] = theirs.begin * mine * dim_;
    sample_counts_[i] = slice * placement_->tables_of(r).size() * dim_;
    sample_displs_[i] = at;
    at += sample_counts_[i];
  }
}

template <typename Copy>
void PooledExchange::for_each_vector(Copy&& copy) const {
  const std::size_t slice = batch_slice(batch_, comm_->rank(), comm_->size()).size();
  const std::size_t features = placement_->tables() + 1;
  for (int r = 0; r < comm_->size(); ++r) {
    const auto& tables = placement_->tables_of(r);
    std::size_t block = sample_displs_[static_cast<std::size_t>(r)];
    for (std::size_t s = 0; s < slice; ++s) {
      for (const std::size_t t : tables) {
        copy(block, (s * features + 1 + t) * dim_);
        block += dim_;
      }
    }
  }
}

void PooledExchange::start_forward(std::size_t batch) {
  set_batch(batch);
  request_ = tutti::ialltoallv(*comm_, pooled_, owner_counts_, owner_displs_, blocks_, sample_counts_, sample_displs_,
                               {.memory = tutti::MemoryKind::host});
}

void PooledExchange::finish_forward(float* features) {
  request_.wait();
  for_each_vector([&](std::size_t block, std::size_t feature) {
    std::copy_n(blocks_.data() + block, dim_, features + feature);
  });
}

void PooledExchange::start_backward(const float* feature_gradients) {
  for_each_vector([&](std::size_t block, std::size_t feature) {
    std::copy_n(feature_gradients + feature, dim_, blocks_.data() + block);
  });
  request_ = tutti::ialltoallv(*comm_, blocks_, sample_counts_, sample_displs_, pooled_, owner_counts_, owner_displs_,
                               {.memory = tutti::MemoryKind::host});
}

void PooledExchange::finish_backward() { request_.wait(); }

}  // namespace dlrm
