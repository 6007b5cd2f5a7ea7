// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/trace/part.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <span>

namespace tutti::detail::trace {
namespace {

template <std::size_t n>
std::string text_of(const std::array<char, n>& text) {
  return {text.data(), strnlen(text.data(), n)};
}

/// A file, mapped to be read.
class Mapping {
 public:
  Mapping(const std::string& path, std::string& problem) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat facts {};
    if (file < 0)
      problem = fmt::format("cannot be read: {}", std::strerror(errno));
    else if (fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0)
      map(file, static_cast<std::size_t>(facts.st_size));
    if (file >= 0) close(file);
  }
  ~Mapping() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  [[nodiscard]] std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(data_), bytes_}; }

 private:
  void map(int file, std::size_t bytes) {
    void* data = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED) return;
    data_ = data;
    bytes_ = bytes;
  }
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

template <typename Record>
Record record_at(const std::byte* slot) {
  Record record;
  std::memcpy(&record, slot, sizeof record);
  return record;
}

std::int64_t time_of(std::uint64_t ticks) { return static_cast<std::int64_t>(ticks); }

bool is_sound(const CallRecord& record) { return flight::is_sound(record.facts, record.head.state); }

void add_call(Part& part, const CallRecord& record, SlotNumber number) {
  if (!is_sound(record)) return;
  part.calls.push_back({.facts = record.facts,
                        .state = record.head.state,
                        .thread = record.head.number,
                        .slot = number,
                        .begin = time_of(record.begin),
                        .wait = time_of(record.wait),
                        .end = time_of(record.end)});
}

void add_blocks(Part& part, const BlocksRecord& record) {
  constexpr std::uint32_t most_ranks = 1U << 24U;
  if (record.count > BlocksRecord::most || record.first >= most_ranks) return;
  Blocks& blocks = part.blocks[record.call];
  std::vector<std::uint64_t>& bytes = record.is_taken != 0 ? blocks.taken : blocks.given;
  if (bytes.size() == record.first)
    bytes.insert(bytes.end(), record.bytes.begin(), record.bytes.begin() + record.count);
}

/// Adds the record of a slot, and returns how many slots it takes.
std::size_t add_record(Part& part, const std::byte* slot, std::size_t left, SlotNumber number) {
  const auto head = record_at<RecordHead>(slot);
  const bool has_two = left >= 2;
  switch (head.kind) {
    case Kind::call:
      add_call(part, record_at<CallRecord>(slot), number);
      return 1;
    case Kind::range:
      if (!has_two) return 1;
      {
        const auto record = record_at<RangeRecord>(slot);
        part.ranges.push_back({text_of(record.name), head.number, time_of(record.begin), time_of(record.end)});
      }
      return 2;
    case Kind::text:
      if (has_two) part.texts[head.text] = text_of(record_at<TextRecord>(slot).text);
      return 2;
    case Kind::communicator: {
      const auto record = record_at<CommunicatorRecord>(slot);
      part.communicators[head.number] = {record.mark, record.rank, record.size, text_of(record.name)};
      return 1;
    }
    case Kind::transfer: {
      const auto record = record_at<TransferRecord>(slot);
      part.transfers.push_back({record.group, record.is_recv != 0, record.peer, record.tag, record.bytes});
      return 1;
    }
    case Kind::offset: {
      const auto record = record_at<OffsetRecord>(slot);
      part.offsets.push_back({record.own, record.other, record.round_trip});
      return 1;
    }
    case Kind::blocks:
      add_blocks(part, record_at<BlocksRecord>(slot));
      return 1;
    case Kind::none:
      break;
  }
  return 1;
}

}  // namespace

const Communicator& Part::communicator(const TracedCall& call) const {
  static const Communicator unknown{};
  const auto found = communicators.find(call.facts.communicator);
  return found == communicators.end() ? unknown : found->second;
}

const std::string& Part::text(flight::TextNumber number) const {
  static const std::string none;
  const auto found = texts.find(number);
  return found == texts.end() ? none : found->second;
}

std::span<const Transfer> Part::messages(const TracedCall& group) const {
  const auto [first, last] = std::equal_range(transfers.begin(), transfers.end(), Transfer{.group = group.slot},
                                              [](const Transfer& a, const Transfer& b) { return a.group < b.group; });
  return {first, last};
}

std::int64_t Part::held_from(const TracedCall& call) const {
  return call.facts.form == flight::Form::blocking ? call.begin : call.wait;
}

std::int64_t Part::held_until(const TracedCall& call) const {
  return call.end != 0 ? call.end : std::max(seen, call.begin);
}

std::optional<PartHeader> read_header(const std::string& path) {
  PartHeader header;
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  if (!file || header.magic != part_magic) return std::nullopt;
  return header;
}

std::optional<Part> read_part(const std::string& path, std::string& problem) {
  problem = "no part of a trace";
  const Mapping mapping(path, problem);
  const std::span<const std::byte> bytes = mapping.bytes();
  if (bytes.size() < header_bytes) return std::nullopt;
  Part part;
  part.header = record_at<PartHeader>(bytes.data());
  if (part.header.magic != part_magic) return std::nullopt;
  if (part.header.version != part_version) {
    problem = fmt::format("a part of version {}; this program reads version {}", part.header.version, part_version);
    return std::nullopt;
  }
  part.host = text_of(part.header.host);
  part.seen = time_of(part.header.seen.ticks);
  const std::size_t slots = std::min<std::size_t>((bytes.size() - header_bytes) / slot_bytes, part.header.slots);
  for (std::size_t slot = 0; slot < slots;)
    slot += add_record(part, bytes.data() + header_bytes + slot * slot_bytes, slots - slot,
                       static_cast<SlotNumber>(slot) + 1);
  std::stable_sort(part.transfers.begin(), part.transfers.end(),
                   [](const Transfer& a, const Transfer& b) { return a.group < b.group; });
  for (const TracedCall& call : part.calls) part.seen = std::max({part.seen, call.begin, call.end});
  return part;
}

}  // namespace tutti::detail::trace
