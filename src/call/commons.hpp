// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

namespace tutti::detail {

/// What the communicators of the same processes, in the same order, share of a backend: lots, which later communicators
/// take so that their state need not be made from nothing. Each rank has its own view, which may end at another time
/// than the others'.
class Commons {
 public:
  Commons() = default;
  virtual ~Commons() = default;
  Commons(const Commons&) = delete;
  Commons& operator=(const Commons&) = delete;

  /// On rank 0, before the ranks meet: sets a lot aside for a new communicator. Returns 0 if there is none. Any thread.
  [[nodiscard]] virtual std::uint64_t set_aside() noexcept = 0;
  /// On rank 0: returns a lot of which no other rank has heard.
  virtual void put_back(std::uint64_t lot) noexcept = 0;
  /// On any rank that has heard of a lot and cannot use it: tells the ranks that wait there.
  virtual void give_up(std::uint64_t lot, int rank) noexcept = 0;
};

/// The lot that all ranks of a new communicator have heard of. Given up at the end, unless a state has taken it.
class Lot {
 public:
  Lot() = default;
  Lot(std::shared_ptr<Commons> commons, std::uint64_t number, int rank)
      : commons_(std::move(commons)), number_(number), rank_(rank) {}
  ~Lot() {
    if (commons_) commons_->give_up(number_, rank_);
  }
  Lot(Lot&&) noexcept = default;
  Lot& operator=(Lot&& other) noexcept {
    std::swap(commons_, other.commons_);
    std::swap(number_, other.number_);
    std::swap(rank_, other.rank_);
    return *this;
  }
  Lot(const Lot&) = delete;
  Lot& operator=(const Lot&) = delete;

  explicit operator bool() const noexcept { return commons_ != nullptr; }
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  /// Tells that a state has taken it.
  void take() noexcept { commons_.reset(); }

 private:
  std::shared_ptr<Commons> commons_{};
  std::uint64_t number_ = 0;
  int rank_ = 0;
};

}  // namespace tutti::detail
