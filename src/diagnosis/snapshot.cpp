// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/snapshot.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>

#include "diagnosis/clock.hpp"

namespace tutti::detail::flight {
namespace {

constexpr std::uint32_t most_entries = 1U << 20U;

template <std::size_t n>
std::string text_of(const std::array<char, n>& text) {
  return {text.data(), strnlen(text.data(), n)};
}

/// Returns true if the counter has run on from one moment to the other, on one machine.
bool is_same_boot(const Moment& before, const Moment& after) {
  if (after.ticks <= before.ticks || after.monotonic <= before.monotonic) return false;
  const double monotonic = static_cast<double>(after.monotonic - before.monotonic);
  const double realtime = static_cast<double>(static_cast<std::int64_t>(after.realtime - before.realtime));
  constexpr double most_set = 2e9;  // by which clocks are set, nanoseconds
  return std::abs(realtime - monotonic) < most_set;
}

std::string text_at(const Parts<const std::byte>& parts, TextNumber number) {
  return number == 0 || number > text_rows ? std::string() : text_of(parts.texts[number - 1].text);
}

std::vector<SeenCommunicator> communicators_of(const Parts<const std::byte>& parts) {
  std::vector<SeenCommunicator> all;
  for (std::uint32_t i = 0; i < communicator_rows; ++i) {
    const CommunicatorRow& row = parts.communicators[i];
    all.push_back({row.mark.load(), row.rank, row.size, row.sequence.load(), row.number, text_of(row.name)});
  }
  return all;
}

/// Nothing if the entry was being written.
std::optional<SeenCall> call_of(const Parts<const std::byte>& parts, const Entry& entry, const Clock& clock) {
  SeenCall call;
  call.number = entry.number.load(std::memory_order_acquire);
  const bool is_call = call.number != 0 && row_of(entry.facts.communicator) < communicator_rows &&
                       is_sound(entry.facts, entry.state.load());
  if (!is_call) return std::nullopt;
  call.facts = entry.facts;
  call.state = entry.state.load();
  call.begin = clock.time(entry.begin);
  if (const std::uint64_t end = entry.end.load(); end != 0) {
    call.end = clock.time(end);
    if (!is_over(call.state)) call.state = State::done;
  }
  call.way = text_at(parts, entry.facts.way);
  call.site = text_at(parts, entry.facts.site);
  return call;
}

void read_checksums(const ChecksumRow& row, SeenCall& call) {
  if (row.number.load(std::memory_order_acquire) != call.number) return;
  call.has_taken = row.taken_number.load(std::memory_order_acquire) == call.number;
  call.sums = row.call;
}

bool is_recorder(const Header& header, std::size_t bytes, std::string& problem) {
  if (header.magic.load() != magic)
    problem = "no flight recorder";
  else if (header.version != version)
    problem = fmt::format("a flight recorder of version {}; this program reads version {}", header.version, version);
  else if (!std::has_single_bit(header.entries) || header.entries > most_entries ||
           bytes < bytes_for(header.entries, header.has_checksums != 0))
    problem = "a damaged flight recorder: its length does not fit its calls";
  else
    return true;
  return false;
}

/// Memory as strictly aligned as a recorder's.
class Copy {
 public:
  explicit Copy(std::size_t bytes)
      : data_(static_cast<std::byte*>(::operator new(std::max<std::size_t>(bytes, 1), alignment))), bytes_(bytes) {}
  ~Copy() { ::operator delete(data_, alignment); }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::align_val_t alignment{alignof(Header)};
  std::byte* data_;
  std::size_t bytes_;
};

}  // namespace

const SeenCommunicator& Snapshot::communicator(const SeenCall& call) const {
  static const SeenCommunicator gone{};
  const SeenCommunicator& row = communicators[row_of(call.facts.communicator)];
  return row.number == call.facts.communicator ? row : gone;
}

const SeenCall* Snapshot::current() const {
  const auto found = std::find_if(calls.rbegin(), calls.rend(), [](const SeenCall& call) { return holds(call.state); });
  return found == calls.rend() ? nullptr : &*found;
}

std::optional<Snapshot> read_snapshot(std::span<const std::byte> memory, const Moment& now, std::string& problem) {
  if (memory.size() < sizeof(Header)) {
    problem = "no flight recorder: too short";
    return std::nullopt;
  }
  const Copy copy(memory.size());
  std::memcpy(copy.data(), memory.data(), memory.size());
  const Parts<const std::byte> parts(copy.data());
  const Header& header = *parts.header;
  if (!is_recorder(header, memory.size(), problem)) return std::nullopt;
  const Moment& later = is_same_boot(header.seen, now) ? now : header.seen;
  const Clock clock(header.opened, later);
  Snapshot snapshot;
  snapshot.process = header.process;
  snapshot.world_rank = header.world_rank;
  snapshot.world_size = header.world_size;
  snapshot.ended = header.ended != 0;
  snapshot.job = header.job;
  snapshot.host = text_of(header.host);
  snapshot.command = text_of(header.command);
  snapshot.taken = clock.time(later.ticks);
  snapshot.total = header.next.load();
  snapshot.communicators = communicators_of(parts);
  for (std::uint32_t i = 0; i < header.entries; ++i) {
    auto call = call_of(parts, parts.entries[i], clock);
    if (!call) continue;
    if (header.has_checksums != 0) read_checksums(parts.checksums(header.entries)[i], *call);
    snapshot.calls.push_back(std::move(*call));
  }
  std::sort(snapshot.calls.begin(), snapshot.calls.end(),
            [](const SeenCall& a, const SeenCall& b) { return a.number < b.number; });
  return snapshot;
}

std::optional<Snapshot> read_snapshot(const std::string& path, std::string& problem) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat facts {};
  const bool is_readable = file >= 0 && fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) &&
                           static_cast<std::size_t>(facts.st_size) <= bytes_for(most_entries, true);
  std::vector<std::byte> bytes(is_readable ? static_cast<std::size_t>(facts.st_size) : 0);
  const ssize_t got = is_readable ? pread(file, bytes.data(), bytes.size(), 0) : -1;
  problem = file < 0 ? fmt::format("cannot be read: {}", std::strerror(errno)) : "no flight recorder";
  if (file >= 0) close(file);
  if (got < 0) return std::nullopt;
  bytes.resize(static_cast<std::size_t>(got));
  return read_snapshot(bytes, Moment::now(), problem);
}

}  // namespace tutti::detail::flight
