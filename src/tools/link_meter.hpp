// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "tools/link_measurement.hpp"

namespace tutti::tools {

/// One rank's part in measuring pairs that all work at the same time. Every member is collective.
class Meter {
 public:
  explicit Meter(MPI_Comm comm) : comm_(comm), outgoing_(long_bytes), incoming_(long_bytes) {
    MPI_Comm_rank(comm, &rank_);
  }
  [[nodiscard]] int rank() const { return rank_; }

  /// The time of a message: half of the way there and back, of several after one another.
  [[nodiscard]] double one_way(const Pairs& pairs, int times, int bytes = short_bytes) {
    return worst(pairs, times, [this, bytes](int partner, bool is_first) {
      for (int i = 0; i < burst; ++i) {
        if (is_first) MPI_Send(outgoing_.data(), bytes, MPI_BYTE, partner, tag, comm_);
        MPI_Recv(incoming_.data(), bytes, MPI_BYTE, partner, tag, comm_, MPI_STATUS_IGNORE);
        if (!is_first) MPI_Send(outgoing_.data(), bytes, MPI_BYTE, partner, tag, comm_);
      }
      return 0.5 / burst;
    });
  }
  /// What each of many short messages that go both ways adds, for one of its ends.
  [[nodiscard]] double gap(const Pairs& pairs, int times) {
    const auto exchanges = [this](int messages) {
      return [this, messages](int partner, bool) {
        exchange({&partner, 1}, short_bytes, messages);
        return 1.0;
      };
    };
    return (worst(pairs, times, exchanges(2 * burst)) - worst(pairs, times, exchanges(burst))) / (2 * burst);
  }
  /// The rate of a rank while all these pairs exchange long messages, in bytes/s.
  [[nodiscard]] double rate(const Pairs& pairs, int times) {
    const double seconds = worst(pairs, times, [this](int partner, bool) {
      exchange({&partner, 1}, long_bytes, 1);
      return 1.0;
    });
    return long_bytes / seconds;
  }
  /// The rate of a long message while its receiver sends none back, in bytes/s.
  [[nodiscard]] double passing_rate(const Pairs& pairs, int times) {
    return long_bytes / one_way(pairs, times, long_bytes);
  }
  /// The rate of one rank that exchanges long messages with several at once.
  [[nodiscard]] double several_rate(int hub, std::span<const int> partners, int times) {
    const double seconds = worst_of(times, [&]() -> double {
      const double begin = MPI_Wtime();
      if (rank_ == hub)
        exchange(partners, long_bytes, 1);
      else if (std::find(partners.begin(), partners.end(), rank_) != partners.end())
        exchange({&hub, 1}, long_bytes, 1);
      return rank_ == hub ? MPI_Wtime() - begin : 0;
    });
    return static_cast<double>(partners.size()) * long_bytes / seconds;
  }
  /// The rate of one rank that only takes long messages from several at once, or only gives them, whichever is less.
  [[nodiscard]] double one_way_rate(int hub, std::span<const int> partners, int times) {
    const bool is_partner = std::find(partners.begin(), partners.end(), rank_) != partners.end();
    constexpr int bytes = long_bytes / 4;  // of up to 32 partners: as much memory as several_rate() takes
    const auto rate = [&](bool takes) {
      const double seconds = worst_of(times, [&]() -> double {
        const double begin = MPI_Wtime();
        const std::span<const int> others = rank_ == hub ? partners : std::span<const int>(&hub, is_partner ? 1 : 0);
        const bool receives = (rank_ == hub) == takes;
        transfer(receives ? others : others.first(0), receives ? others.first(0) : others, bytes, 1);
        return MPI_Wtime() - begin;
      });
      return static_cast<double>(partners.size()) * bytes / seconds;
    };
    return std::min(rate(true), rate(false));
  }
  /// The rate of a rank while all exchange long messages with several others at once, at most so many. Each with its
  /// own partners, of which it is one.
  [[nodiscard]] double rate_of_all(std::span<const int> partners, std::size_t most, int times) {
    const int bytes = long_bytes / static_cast<int>(most);
    const double seconds = worst_of(times, [&]() -> double {
      if (partners.empty()) return 0;
      const double begin = MPI_Wtime();
      exchange(partners, bytes, 1);
      return (MPI_Wtime() - begin) / static_cast<double>(partners.size());
    });
    return bytes / seconds;
  }

 private:
  static constexpr int short_bytes = 8;
  static constexpr int long_bytes = 1 << 20;
  static constexpr int burst = 16;
  static constexpr int tag = 17;

  /// All ranks begin together; the least over the times of the worst over the ranks.
  template <typename Once>
  [[nodiscard]] double worst_of(int times, const Once& once) {
    double least = 0;
    for (int i = 0; i < times + 2; ++i) {
      MPI_Barrier(comm_);
      double seconds = once();
      MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm_);
      constexpr int warm_ups = 2;
      if (i == warm_ups || (i > warm_ups && seconds < least)) least = seconds;
    }
    return least;
  }
  template <typename Work>
  [[nodiscard]] double worst(const Pairs& pairs, int times, const Work& work) {
    const auto [partner, is_first] = partner_in(pairs);
    return worst_of(times, [&, partner = partner, is_first = is_first]() -> double {
      if (partner < 0) return 0;
      const double begin = MPI_Wtime();
      const double share = work(partner, is_first);
      return share * (MPI_Wtime() - begin);
    });
  }
  [[nodiscard]] std::pair<int, bool> partner_in(const Pairs& pairs) const {
    for (const auto& [first, second] : pairs) {
      if (rank_ == first) return {second, true};
      if (rank_ == second) return {first, false};
    }
    return {-1, false};
  }
  void exchange(std::span<const int> partners, int bytes, int messages) {
    transfer(partners, partners, bytes, messages);
  }
  /// Takes that many messages from each source, and gives as many to each target.
  void transfer(std::span<const int> sources, std::span<const int> targets, int bytes, int messages) {
    std::vector<MPI_Request> requests;
    incoming_.resize(std::max(incoming_.size(), sources.size() * static_cast<std::size_t>(bytes)));
    char* into = incoming_.data();
    for (const int partner : sources) {
      for (int i = 0; i < messages; ++i)
        MPI_Irecv(into, bytes, MPI_BYTE, partner, tag, comm_, &requests.emplace_back());
      into += bytes;
    }
    for (int i = 0; i < messages; ++i)
      for (const int partner : targets)
        MPI_Isend(outgoing_.data(), bytes, MPI_BYTE, partner, tag, comm_, &requests.emplace_back());
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

  MPI_Comm comm_;
  int rank_ = 0;
  std::vector<char> outgoing_;
  std::vector<char> incoming_;
};

/// The latency between nodes, and the rate of each, while all these pairs of their ranks exchange. Collective.
[[nodiscard]] detail::Fabric::Distance measure_pairs(Meter& meter, const Pairs& pairs, const NodeRanks& nodes,
                                                     const LinkEffort& effort);

}  // namespace tutti::tools
