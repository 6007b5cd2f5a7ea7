// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/error.hpp>

#include "blocking_sync.hpp"
#include "local_sync.hpp"
#include "reducer_sync.hpp"
#include "server_sync.hpp"
#include "sharded_sync.hpp"
#include "synchronizer.hpp"

namespace sgd {

template <typename Float>
std::unique_ptr<Synchronizer<Float>> make_synchronizer(const tutti::Communicator& comm, const Options& options,
                                                       const std::vector<Tensor<Float>>& tensors) {
  if (options.mode == "naive" || options.mode == "flat") {
    return std::make_unique<BlockingSync<Float>>(comm, options, tensors);
  }
  if (options.mode == "local") {
    return std::make_unique<LocalSync<Float>>(comm, options, tensors);
  }
  if (options.mode == "sharded") {
    return std::make_unique<ShardedSync<Float>>(comm, options, tensors);
  }
  if (options.mode != "parameter-server") {
    return std::make_unique<ReplicatedSync<Float>>(comm, options, tensors);
  }
  if constexpr (std::is_same_v<Float, float>) {
    return std::make_unique<ServerSync>(comm, options, tensors);
  } else {
    throw tutti::Error(tutti::ErrorCode::invalid_argument, "--mode=parameter-server holds fp32 parameters only");
  }
}

template std::unique_ptr<Synchronizer<float>> make_synchronizer(const tutti::Communicator&, const Options&,
                                                                const std::vector<Tensor<float>>&);
template std::unique_ptr<Synchronizer<double>> make_synchronizer(const tutti::Communicator&, const Options&,
                                                                 const std::vector<Tensor<double>>&);

}  // namespace sgd
