// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <string>
#include <unordered_map>

#include "operation/signature.hpp"
#include "schedules/registry.hpp"

namespace tutti::detail {

struct Backend;
class Trial;

/// The decision for one signature: immutable and shared by all its executions. Holds the schedule of operations with
/// uniform counts; v-forms make theirs at each binding.
struct Plan {
  Signature signature{};
  const Backend* backend = nullptr;
  std::uint8_t protocol = 0;                        ///< the backend's own number for it
  std::uint64_t digest = 0;                         ///< digest_of() the signature and the protocol
  std::string way{};                                ///< "shm:slots", "mpi:ring", "native"
  std::uint16_t way_text = 0;                       ///< number of the way's name in the flight recorder
  bool goes_on_alone = true;                        ///< once started it needs no call of the library on each rank
  double expected = 0;                              ///< time of a call with this count, predicted or measured, seconds
  const schedules::Algorithm* algorithm = nullptr;  ///< present if the backend runs schedules
  schedules::Starts starts{};                       ///< by which a hierarchical algorithm chooses its phases
  std::size_t joined_bytes = 0;                     ///< up to which it joins the blocks between two nodes
  std::size_t slot_most = 0;  ///< v-forms in shared memory: the longest block that takes a slot, in bytes
  std::shared_ptr<const schedules::Schedule> schedule{};
  std::shared_ptr<const Plan> part{};       ///< present if the call is divided: another backend's plan for a piece
  std::shared_ptr<const Plan> last_part{};  ///< for the last piece, which may be shorter
  std::size_t pieces = 1;                   ///< number of pieces; all but the last are `part`
  std::shared_ptr<const Plan> spare{};      ///< persistent calls: the plan if the backend has no turn left
  std::shared_ptr<Trial> trial{};           ///< present while calls find out which way is the fastest
};

/// The plans of one communicator. Plans follow from shared facts alone, so a rank may drop and rebuild them.
class PlanCache {
 public:
  /// Valid until the next call.
  template <typename Make>
  const std::shared_ptr<const Plan>& get(const Signature& signature, Make&& make) {
    std::shared_ptr<const Plan>& recent = recent_[place_of(signature)];
    if (recent && recent->signature == signature) return recent;
    auto found = plans_.find(signature);
    if (found == plans_.end()) {
      if (plans_.size() >= capacity) plans_.clear();
      found = plans_.emplace(signature, make(signature)).first;
    }
    recent = found->second;
    return recent;
  }
  /// Replaces the plan of a signature if there is one. Takes no memory.
  void replace(const Signature& signature, const std::shared_ptr<const Plan>& plan) {
    const auto found = plans_.find(signature);
    if (found != plans_.end()) found->second = plan;
    std::shared_ptr<const Plan>& recent = recent_[place_of(signature)];
    if (recent && recent->signature == signature) recent = plan;
  }
  [[nodiscard]] std::size_t size() const { return plans_.size(); }
  void clear() {
    plans_.clear();
    recent_ = {};
  }

 private:
  static constexpr std::size_t capacity = 4096;
  std::unordered_map<Signature, std::shared_ptr<const Plan>, SignatureHash> plans_;
  // Programs repeat a few calls in turn, so these are found without hashing the whole signature.
  static constexpr std::size_t recent_places = 64;
  [[nodiscard]] static std::size_t place_of(const Signature& s) {
    const std::size_t mixed = s.count * 0x9E3779B97F4A7C15ULL + static_cast<std::size_t>(s.operation) * 5 +
                              static_cast<std::size_t>(s.kind) * 3 + static_cast<std::size_t>(s.type.kind());
    return (mixed ^ mixed >> 32U) % recent_places;
  }
  std::array<std::shared_ptr<const Plan>, recent_places> recent_{};
};

}  // namespace tutti::detail
