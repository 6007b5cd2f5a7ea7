// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/races.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::simulation {
namespace {

constexpr std::array<const char*, 4> access_names{"read", "write", "atomic read", "atomic write"};

constexpr std::size_t index(Access access) { return static_cast<std::size_t>(access); }

constexpr bool conflict(Access a, Access b) {
  const bool are_atomic = a >= Access::atomic_read && b >= Access::atomic_read;
  const auto writes = [](Access access) { return access == Access::write || access == Access::atomic_write; };
  return !are_atomic && (writes(a) || writes(b));
}

/// The bytes of a granule that a range has, a bit for each.
std::uint8_t part_of(std::size_t first, std::size_t granule_bytes, std::size_t begin, std::size_t end) {
  unsigned bits = 0xFFU;
  if (begin > first) bits &= 0xFFU << (begin - first);
  if (end < first + granule_bytes) bits &= 0xFFU >> (first + granule_bytes - end);
  return static_cast<std::uint8_t>(bits);
}

bool overlap(const Touch& a, const Touch& b) {
  return a.begin.segment == b.begin.segment && a.begin.offset < b.begin.offset + b.bytes &&
         b.begin.offset < a.begin.offset + a.bytes;
}

}  // namespace

/// Calls `visit` for the granules of a range, page by page. makes: also where nobody has been.
template <typename Visit>
void Races::for_pages(const Word& begin, std::size_t bytes, bool makes, const Visit& visit) {
  const std::size_t end = (begin.offset + bytes + granule_bytes - 1) / granule_bytes;
  for (std::size_t first = begin.offset / granule_bytes; first < end;) {
    const std::size_t number = first / page_granules;
    const std::size_t last = std::min(end, (number + 1) * page_granules);
    const std::uint64_t key = static_cast<std::uint64_t>(begin.segment) << 48U ^ number;
    if (Page* page = makes ? &pages_.at(key) : pages_.find(key)) {
      page->traces.resize(page_granules * static_cast<std::size_t>(ranks_));
      visit(*page, first, last);
    }
    first = last;
  }
}

/// Those of all ranks.
Races::Trace* Races::traces_in(Page& page, std::size_t granule) const {
  return page.traces.data() + granule % page_granules * static_cast<std::size_t>(ranks_);
}

const Races::Trace* Races::racing(const Trace* traces, int ranks, int rank, const Clock& known, Access access,
                                  std::uint8_t bytes, std::size_t& other) {
  for (int r = 0; r < ranks; ++r) {
    if (r == rank) continue;
    for (other = 0; other < accesses; ++other)
      if (traces[r].step[other] > known[r] && (traces[r].bytes[other] & bytes) != 0 &&
          conflict(access, static_cast<Access>(other)))
        return traces + r;
  }
  return nullptr;
}

std::string Races::words(const Touch& touch, const Trace& trace, int rank, std::size_t other, std::size_t at) const {
  return fmt::format("nothing orders its {} at {:#x} and the {} of rank {} at {:#x}, of byte {:#x} of segment {}",
                     access_names[index(touch.access)], touch.site, access_names[other], rank, trace.site[other], at,
                     touch.begin.segment);
}

std::string Races::note(int rank, const Clock& known, const Touch& touch, bool makes) {
  if (std::string found = stream_under(rank, touch); !found.empty()) return found;
  std::string found;
  for_pages(touch.begin, touch.bytes, makes, [&](Page& page, std::size_t first, std::size_t last) {
    for (std::size_t granule = first; granule < last && found.empty(); ++granule)
      found = note_granule(rank, known, touch, page, granule);
  });
  return found;
}

std::string Races::note_granule(int rank, const Clock& known, const Touch& touch, Page& page, std::size_t granule) {
  Trace* traces = traces_in(page, granule);
  const std::size_t kind = index(touch.access);
  const std::uint8_t part =
      part_of(granule * granule_bytes, granule_bytes, touch.begin.offset, touch.begin.offset + touch.bytes);
  if (touch.access >= Access::atomic_read) page.atomics |= std::uint64_t{1} << granule % page_granules;
  Trace& mine = traces[rank];
  // Whoever has come between found this rank's access.
  const bool is_new = mine.step[kind] != known[rank];
  if (!is_new && (mine.bytes[kind] & part) == part) return {};
  std::size_t other = 0;
  if (const Trace* found = racing(traces, ranks_, rank, known, touch.access, part, other))
    return words(touch, *found, static_cast<int>(found - traces), other, granule * granule_bytes);
  mine.bytes[kind] = is_new ? part : static_cast<std::uint8_t>(mine.bytes[kind] | part);
  mine.step[kind] = known[rank];
  mine.site[kind] = touch.site;
  return {};
}

std::vector<std::size_t> Races::atomics_in(const Word& begin, std::size_t bytes) {
  std::vector<std::size_t> offsets;
  for_pages(begin, bytes, false, [&](const Page& page, std::size_t first, std::size_t last) {
    if (page.atomics == 0) return;
    for (std::size_t granule = first; granule < last; ++granule)
      if ((page.atomics >> granule % page_granules & 1U) != 0) offsets.push_back(granule * granule_bytes);
  });
  return offsets;
}

void Races::forget(const Word& begin, std::size_t bytes) {
  for_pages(begin, bytes, false, [this](Page& page, std::size_t first, std::size_t last) {
    std::fill(traces_in(page, first), traces_in(page, first) + (last - first) * static_cast<std::size_t>(ranks_),
              Trace{});
  });
}

std::string Races::begin_stream(int rank, const Clock& known, const Touch& touch) {
  auto& mine = streams_[static_cast<std::size_t>(rank)];
  const bool goes_on = !mine.empty() && mine.back().begin.segment == touch.begin.segment &&
                       mine.back().begin.offset + mine.back().bytes == touch.begin.offset;
  if (goes_on)
    mine.back().bytes += touch.bytes;
  else
    mine.push_back(touch);
  return note(rank, known, touch, true);
}

/// What was streamed comes now at the latest, and so as part of this step.
std::string Races::end_streams(int rank, const Clock& known) {
  std::string found;
  for (const Touch& touch : std::exchange(streams_[static_cast<std::size_t>(rank)], {}))
    if (found.empty()) found = note(rank, known, touch, true);
  return found;
}

std::string Races::stream_under(int rank, const Touch& touch) const {
  for (int r = 0; r < ranks_; ++r) {
    if (r == rank) continue;
    for (const Touch& stream : streams_[static_cast<std::size_t>(r)])
      if (overlap(stream, touch))
        return fmt::format(
            "rank {} has stored past its caches at {:#x}, and nothing says that it has ended before the {} "
            "at {:#x}",
            r, stream.site, access_names[index(touch.access)], touch.site);
  }
  return {};
}

}  // namespace tutti::simulation
