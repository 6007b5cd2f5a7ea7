// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/device_lookups.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <optional>
#include <tutti/error.hpp>

namespace tutti::detail {

CopyStream::CopyStream() : handle_(device::required_runtime("a stream for copies").create_stream()) {}
CopyStream::~CopyStream() { device::runtime()->destroy_stream(handle_); }

namespace {

std::size_t indices_of(const kernels::TableLookups& lookups, std::size_t bags) {
  return static_cast<std::size_t>(lookups.offsets[bags] - lookups.offsets[0]);
}

/// Returns true if each bag has one index, as in every batch of such a model. Rows that are divided among ranks may
/// have as many indices as bags by chance.
bool has_one_each(const kernels::TableLookups& lookups, std::size_t bags) {
  if (indices_of(lookups, bags) != bags) return false;
  std::int64_t difference = 0;
  for (std::size_t b = 0; b < bags; ++b) difference |= lookups.offsets[b + 1] - lookups.offsets[b] - 1;
  return difference == 0;
}

/// The room for the indices of bags. Those with one index each take as much in every batch; others have room for up to
/// an eighth more, so that most batches have the same places, and graphs are launched again.
std::size_t room_for(std::size_t indices, bool is_one_each) {
  constexpr std::size_t least = 1024;
  if (is_one_each) return indices;
  if (indices <= least) return least;
  const std::size_t step = std::max<std::size_t>(std::bit_floor(indices - 1) / 8, 1);
  return (indices + step - 1) / step * step;
}

}  // namespace

/// Places arrays one after the other. Given memory, it also writes them.
class DeviceLookups::Packer {
 public:
  Packer(std::size_t batch, std::byte* pinned, std::byte* on_device)
      : batch_(batch), pinned_(pinned), device_(on_device) {}

  /// Places `count` values, which write(to) fills in pinned memory; returns their address on the device.
  template <typename T, typename Write>
  T* place(std::size_t count, const Write& write) {
    constexpr std::size_t alignment = 256;
    const std::size_t at = bytes_;
    bytes_ += (count * sizeof(T) + alignment - 1) / alignment * alignment;
    if (pinned_ == nullptr) return nullptr;
    write(reinterpret_cast<T*>(pinned_ + at));
    return reinterpret_cast<T*>(device_ + at);
  }
  /// Copies `count` values to the beginning of `room` of them.
  template <typename T>
  T* place_copy(const T* from, std::size_t count, std::size_t room) {
    return place<T>(room, [&](T* to) {
      if (count > 0) std::memcpy(to, from, count * sizeof(T));
    });
  }

  Packed place_lookups(const kernels::TableLookups& from, kernels::IndexType type, std::size_t bags, bool is_one_each) {
    Packed to;
    const std::int64_t first = from.offsets[0];
    const std::size_t count = indices_of(from, bags);
    to.indices = room_for(count, is_one_each);
    to.lookups.offsets = is_one_each ? one_each() : place<std::int64_t>(bags + 1, [&](std::int64_t* offsets) {
      for (std::size_t b = 0; b <= bags; ++b) offsets[b] = from.offsets[b] - first;
    });
    const std::size_t width = index_bytes(type);
    const auto* indices = static_cast<const std::byte*>(from.indices) + static_cast<std::size_t>(first) * width;
    to.lookups.indices = place_copy(count > 0 ? indices : nullptr, count * width, to.indices * width);
    if (from.weights != nullptr) to.lookups.weights = place_copy(from.weights + first, count, to.indices);
    return to;
  }

  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  /// The offsets of all bags of one index each, for all tables that have such bags.
  const std::int64_t* one_each() {
    if (!one_each_)
      one_each_ = place<std::int64_t>(batch_ + 1, [&](std::int64_t* to) { std::iota(to, to + batch_ + 1, 0); });
    return *one_each_;
  }

  std::size_t batch_;
  std::byte* pinned_;
  std::byte* device_;
  std::size_t bytes_ = 0;
  std::optional<const std::int64_t*> one_each_;
};

DeviceLookups::DeviceLookups(const CollectionFacts& facts, device::StreamHandle copies)
    : facts_(&facts),
      copies_(copies),
      one_each_(facts.pieces().size()),
      all_(facts.pieces().size()),
      own_(facts.pieces().size()),
      counts_(facts.tables.size(), nullptr) {}

DeviceLookups::~DeviceLookups() {
  try {
    services::wait_for(uploaded_);
    services::wait_for_stream(facts_->device, facts_->stream());
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): a device that has failed uses no memory
  }
}

void DeviceLookups::pack(const BatchLookups& lookups, Packer& packer) {
  const std::size_t own = facts_->slice(batch_).size();
  const auto& pieces = facts_->pieces();
  for (std::size_t i = 0; i < pieces.size() && batch_ > 0; ++i) {
    const auto& all = lookups.all(i);
    all_[i] = packer.place_lookups(all, lookups.type(), batch_, one_each_[i]);
    if (!pieces[i].replica || own == 0) continue;
    const auto& from = lookups.own(i);
    if (from.indices != all.indices || from.weights != all.weights) {
      own_[i] = packer.place_lookups(from, lookups.type(), own, false);
      continue;
    }
    own_[i] = all_[i];
    own_[i].indices = room_for(indices_of(from, own), one_each_[i]);
    if (all_[i].lookups.offsets != nullptr) own_[i].lookups.offsets += from.offsets - all.offsets;
  }
  for (std::size_t t = 0; t < counts_.size(); ++t) {
    const auto& counts = lookups.counts(t);
    counts_[t] = counts.empty() ? nullptr : packer.place_copy(counts.data(), counts.size(), counts.size());
  }
}

void DeviceLookups::make_room(std::size_t bytes) {
  if (block_.size() >= bytes) return;
  services::wait_for_stream(facts_->device, facts_->stream());
  block_.reset();
  pinned_.reset();
  // An eighth more, so that a slightly larger batch does not move the block: then graphs would be captured again.
  const std::size_t wanted = bytes + bytes / 8;
  block_ = device::Pool::of(MemoryKind::device, facts_->device).acquire(wanted);
  pinned_ = device::Pool::of(MemoryKind::pinned, facts_->device).acquire(wanted);
  ++blocks_;
}

void DeviceLookups::upload(const BatchLookups& lookups, std::size_t batch) {
  auto& runtime = device::required_runtime("bags on a device");
  if (runtime.capture_of(facts_->stream()) != 0) {
    throw Error(ErrorCode::not_supported,
                "EmbeddingCollection: a batch cannot be copied to the device during a capture; call finish_input() "
                "before the capture begins");
  }
  batch_ = batch;
  type_ = lookups.type();
  services::wait_for(uploaded_);
  for (std::size_t i = 0; i < one_each_.size(); ++i) one_each_[i] = batch > 0 && has_one_each(lookups.all(i), batch);
  Packer measure(batch, nullptr, nullptr);
  pack(lookups, measure);
  make_room(measure.bytes());
  Packer packer(batch, pinned_.data(), block_.data());
  pack(lookups, packer);
  if (!use_is_noted_) note_use();
  use_is_noted_ = false;
  if (used_.is_recorded()) runtime.wait_event(copies_, used_.handle());
  if (packer.bytes() > 0) runtime.copy(block_.data(), pinned_.data(), packer.bytes(), copies_);
  uploaded_.record(facts_->device, copies_);
  runtime.wait_event(facts_->stream(), uploaded_.handle());
}

void DeviceLookups::note_use() {
  if (device::required_runtime("bags on a device").capture_of(facts_->stream()) != 0) return;
  used_.record(facts_->device, facts_->stream());
  use_is_noted_ = true;
}

std::uint64_t DeviceLookups::key() const {
  Hash hash;
  hash.add(blocks_).add(batch_).add(type_);
  const auto add = [&hash](const void* at) { hash.add(reinterpret_cast<std::uintptr_t>(at)); };
  for (const auto* list : {&all_, &own_})
    for (const Packed& packed : *list) {
      hash.add(packed.indices);
      add(packed.lookups.offsets);
      add(packed.lookups.indices);
      add(packed.lookups.weights);
    }
  for (const float* counts : counts_) add(counts);
  return hash.value();
}

}  // namespace tutti::detail
