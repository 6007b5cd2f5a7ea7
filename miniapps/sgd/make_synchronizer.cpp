// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/error.hpp>

#include "blocking_sync.hpp"
#include "local_sync.hpp"
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
  throw tutti::Error(tutti::ErrorCode::invalid_argument, "--mode=" + options.mode + " is unknown");
}

template std::unique_ptr<Synchronizer<float>> make_synchronizer(const tutti::Communicator&, const Options&,
                                                                const std::vector<Tensor<float>>&);
template std::unique_ptr<Synchronizer<double>> make_synchronizer(const tutti::Communicator&, const Options&,
                                                                 const std::vector<Tensor<double>>&);

}  // namespace sgd
