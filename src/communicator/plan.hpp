// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <unordered_map>

#include "algorithms/registry.hpp"
#include "backends/shm/protocol.hpp"
#include "communicator/signature.hpp"

namespace tutti::detail {

enum class Backend : std::uint8_t { mpi, native, shm };

/// The decision for one signature: immutable, shared by all executions of it. The schedule is there for operations
/// with uniform counts; the v-forms make theirs at each binding.
struct Plan {
  Signature signature{};
  Backend backend = Backend::mpi;
  shm::Protocol protocol = shm::Protocol::automatic;     ///< of the shm backend
  const algorithms::Algorithm* algorithm = nullptr;      ///< of the mpi backend
  std::shared_ptr<const algorithms::Schedule> schedule{};
};

/// The plans of one communicator. Plans follow from shared facts alone, so a rank may drop and remake them.
class PlanCache {
 public:
  template <typename Make>
  std::shared_ptr<const Plan> get(const Signature& signature, Make&& make) {
    if (last_ && last_->signature == signature) return last_;
    auto found = plans_.find(signature);
    if (found == plans_.end()) {
      if (plans_.size() >= capacity) plans_.clear();
      found = plans_.emplace(signature, make(signature)).first;
    }
    last_ = found->second;
    return last_;
  }
  [[nodiscard]] std::size_t size() const { return plans_.size(); }

 private:
  static constexpr std::size_t capacity = 4096;
  std::unordered_map<Signature, std::shared_ptr<const Plan>, SignatureHash> plans_;
  std::shared_ptr<const Plan> last_;
};

}  // namespace tutti::detail
