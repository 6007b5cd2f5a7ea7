// SPDX-License-Identifier: BSD-3-Clause
#include "training/reducer/clip.hpp"

#include <cmath>
#include <string>
#include <tutti/collectives/allgather.hpp>
#include <tutti/error.hpp>
#include <tutti/kernels/norms.hpp>
#include <vector>

#include "collectives/services.hpp"
#include "training/hooks/sharding_hook.hpp"

namespace tutti {

namespace training {

namespace {

std::byte* begin_of(const GradientReducer& reducer, const Segment& segment) {
  const Buffer gradient = reducer.gradient(segment.parameter);
  return static_cast<std::byte*>(gradient.data) + segment.begin * gradient.type.size();
}

double squares_of_part(const GradientReducer& reducer, const BucketPartition& bucket, int rank) {
  double squares = 0;
  for (const Segment& segment : bucket.segments(rank))
    if (reducer.used(segment.parameter))
      squares += kernels::norm_part(kernels::Norm::l2, bucket.type, begin_of(reducer, segment), segment.count);
  return squares;
}

}  // namespace

double global_norm(const GradientReducer& reducer, const Communicator& comm, const Partition& partition) {
  std::vector<double> mine;
  for (const BucketPartition& bucket : partition) mine.push_back(squares_of_part(reducer, bucket, comm.rank()));
  std::vector<double> all(mine.size() * static_cast<std::size_t>(comm.size()));
  allgather(comm, mine, all);
  double squares = 0;
  for (const double part : all) squares += part;
  return std::sqrt(squares);
}

void scale_parts(const GradientReducer& reducer, const Partition& partition, int rank, double factor) {
  for (const BucketPartition& bucket : partition)
    for (const Segment& segment : bucket.segments(rank))
      if (reducer.used(segment.parameter))
        kernels::scale(bucket.type, begin_of(reducer, segment), segment.count, factor);
}

}  // namespace training

double clip_gradients(GradientReducer& reducer, const Communicator& comm, double max_norm) {
  if (!(max_norm > 0))
    throw Error(ErrorCode::invalid_argument,
                "clip_gradients: max_norm is " + std::to_string(max_norm) + "; it must be positive");
  if (reducer.parameters() > 0 && reducer.gradient(0).memory == MemoryKind::device)
    throw Error(ErrorCode::not_supported,
                "clip_gradients: gradients in device memory are not supported; clip them by a kernel of your own");
  const auto* sharding = dynamic_cast<const training::ShardingHook*>(&reducer.hook());
  const bool is_sharded = sharding != nullptr && sharding->reduced() != nullptr;
  const training::Partition partition =
      is_sharded ? *sharding->reduced() : training::partition_of(reducer.buckets(), comm.size());
  const double norm = training::global_norm(reducer, comm, partition);
  if (!(norm > max_norm)) return norm;
  const double factor = max_norm / norm;
  if (is_sharded) {
    training::scale_parts(reducer, partition, comm.rank(), factor);
    return norm;
  }
  for (std::size_t i = 0; i < reducer.parameters(); ++i) {
    const Buffer gradient = reducer.gradient(i);
    if (reducer.used(i)) kernels::scale(gradient.type, gradient.data, gradient.count, factor);
  }
  return norm;
}

}  // namespace tutti
