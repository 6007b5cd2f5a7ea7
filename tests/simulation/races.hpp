// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "simulation/clocks.hpp"
#include "simulation/orders.hpp"
#include "simulation/scheduler.hpp"
#include "simulation/sparse.hpp"

namespace tutti::simulation {

enum class Access : std::uint8_t { read, write, atomic_read, atomic_write };

/// One rank's access to a range.
struct Touch {
  Word begin;
  std::size_t bytes;
  Access access;
  Site site;
};

/// The last accesses of each rank to each byte, so that two of different ranks are seen that nothing orders and of
/// which one writes: a race, by vector clocks as in FastTrack (Flanagan and Freund, PLDI 2009). Accesses by atomic
/// operations do not race with one another.
class Races {
 public:
  explicit Races(int ranks) : ranks_(ranks), streams_(static_cast<std::size_t>(ranks)) {}

  /// Notes an access of a rank that knows so much. Returns the access that races with it, in words, or "". Where
  /// `makes` is false, it is noted only where others have been.
  [[nodiscard]] std::string note(int rank, const Clock& known, const Touch& touch, bool makes);
  /// The eight bytes of a range that atomic operations have used, by their offsets.
  [[nodiscard]] std::vector<std::size_t> atomics_in(const Word& begin, std::size_t bytes);
  /// The memory has another use from now on.
  void forget(const Word& begin, std::size_t bytes);

  /// A store past the caches, which may come at any time until its rank ends its streams.
  [[nodiscard]] std::string begin_stream(int rank, const Clock& known, const Touch& touch);
  [[nodiscard]] std::string end_streams(int rank, const Clock& known);

 private:
  static constexpr std::size_t accesses = 4;
  static constexpr std::size_t granule_bytes = 8;
  static constexpr std::size_t page_granules = 64;
  /// The last accesses of one rank to eight bytes.
  struct Trace {
    std::array<std::uint32_t, accesses> step{};
    std::array<std::uint8_t, accesses> bytes{};  ///< a bit for each byte
    std::array<Site, accesses> site{};
  };
  struct Page {
    std::vector<Trace> traces;
    std::uint64_t atomics = 0;  ///< a bit for each granule that atomic operations have used
  };

  template <typename Visit>
  void for_pages(const Word& begin, std::size_t bytes, bool makes, const Visit& visit);
  [[nodiscard]] std::string note_granule(int rank, const Clock& known, const Touch& touch, Page& page,
                                         std::size_t granule);
  [[nodiscard]] Trace* traces_in(Page& page, std::size_t granule) const;
  [[nodiscard]] static const Trace* racing(const Trace* traces, int ranks, int rank, const Clock& known, Access access,
                                           std::uint8_t bytes, std::size_t& other);
  [[nodiscard]] std::string stream_under(int rank, const Touch& touch) const;
  [[nodiscard]] std::string words(const Touch& touch, const Trace& trace, int rank, std::size_t other,
                                  std::size_t at) const;

  const int ranks_;
  Sparse<Page> pages_;
  std::vector<std::vector<Touch>> streams_;  ///< by rank, those that have not ended
};

}  // namespace tutti::simulation
