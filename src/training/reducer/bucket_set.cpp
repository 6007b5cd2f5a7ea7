// SPDX-License-Identifier: BSD-3-Clause
#include "training/reducer/bucket_set.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include "collectives/services.hpp"

namespace tutti::detail::reducer {
namespace {

ParameterSize size_of(const Parameter& parameter) {
  return {std::accumulate(parameter.shape.begin(), parameter.shape.end(), std::size_t{1}, std::multiplies<>()),
          parameter.type};
}

/// Waits until everything on the stream is done.
void finish(const Stream& stream) {
  services::wait_for_stream(device::runtime()->device_of(stream.handle), stream.handle);
}

void read_back(std::byte* to, const std::byte* from, std::size_t bytes, MemoryKind memory, const Stream& stream) {
  if (memory != MemoryKind::device) {
    kernels::copy(to, from, bytes);
    return;
  }
  device::runtime()->copy(to, from, bytes, stream.handle);
  finish(stream);
}

}  // namespace

BucketSet::BucketSet(const Communicator& comm, std::span<const Parameter> parameters, const BucketRules& rules)
    : parameters_(parameters), rules_(rules), slots_(parameters.size()) {
  for (const Parameter& parameter : parameters) {
    sizes_.push_back(size_of(parameter));
    bytes_ += padded_bytes(sizes_.back());
    homes_.push_back(static_cast<std::byte*>(parameter.gradient));
  }
  block_ = tutti::allocate(comm, bytes_, rules.memory);
  earlier_.resize((rules.passes - 1) * bytes_);
  if (!rules_.separate) return;
  separate_ = std::make_unique<std::byte[]>(bytes_);
  std::size_t offset = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (homes_[i] == nullptr) homes_[i] = separate_.get() + offset;
    offset += padded_bytes(sizes_[i]);
  }
}

void BucketSet::arrange(const BucketPlan& plan) {
  const bool moves = buckets_ && std::find(homes_.begin(), homes_.end(), nullptr) != homes_.end();
  const std::vector<Slot> old = slots_;
  if (buckets_ && !moves) zero(static_cast<std::byte*>(block_.data()), bytes_);
  std::fill(earlier_.begin(), earlier_.end(), std::byte{0});  // the gaps of the new buckets
  lay_out(plan);
  if (moves) move_gradients(old);
}

/// Goes through the host: the buckets are laid out again once or twice in a run.
void BucketSet::move_gradients(const std::vector<Slot>& old) {
  auto* block = static_cast<std::byte*>(block_.data());
  std::vector<std::byte> before(bytes_);
  read_back(before.data(), block, bytes_, rules_.memory, rules_.stream);
  std::vector<std::byte> after(bytes_, std::byte{0});
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (lives_in_bucket(i) && sizes_[i].count > 0)
      std::memcpy(after.data() + (slots_[i].data - block), before.data() + (old[i].data - block), sizes_[i].bytes());
  copy(block, after.data(), bytes_);
  if (rules_.memory == MemoryKind::device) finish(rules_.stream);
}

void BucketSet::copy(std::byte* to, const std::byte* from, std::size_t bytes) const {
  if (rules_.memory == MemoryKind::device)
    device::runtime()->copy(to, from, bytes, rules_.stream.handle);
  else
    kernels::copy(to, from, bytes);
}

void BucketSet::zero(std::byte* to, std::size_t bytes) const {
  if (rules_.memory == MemoryKind::device)
    device::runtime()->fill_zero(to, bytes, rules_.stream.handle);
  else
    std::memset(to, 0, bytes);
}

void BucketSet::lay_out(const BucketPlan& plan) {
  auto laid_out = std::make_unique<std::vector<GradientBucket>>();
  auto* next = static_cast<std::byte*>(block_.data());
  for (const std::vector<std::size_t>& members : plan) {
    const DatatypeKind type = sizes_[members[0]].type;
    const bool is_in_place = rules_.in_place && !rules_.separate && members.size() == 1 && !lives_in_bucket(members[0]);
    std::byte* const begin = is_in_place ? homes_[members[0]] : next;
    GradientBucket bucket;
    bucket.index = laid_out->size();
    bucket.op = rules_.op;
    const std::vector<std::size_t> offsets = entry_offsets(sizes_, members);
    for (std::size_t k = 0; k < members.size(); ++k) {
      const std::size_t i = members[k];
      bucket.entries.push_back({i, offsets[k], sizes_[i].count, parameters_[i].shape});
      slots_[i] = {bucket.index, begin + offsets[k] * Datatype(type).size()};
      next += padded_bytes(sizes_[i]);
    }
    bucket.data = Buffer(begin, offsets.back() + bucket.entries.back().count, type, rules_.memory);
    bucket.stream = rules_.stream;
    for (std::size_t pass = 0; pass + 1 < rules_.passes; ++pass)
      bucket.earlier.emplace_back(earlier(begin, pass), bucket.data.count, type);
    laid_out->push_back(std::move(bucket));
  }
  buckets_ = std::move(laid_out);
}

std::byte* BucketSet::gradient(std::size_t parameter) const {
  return lives_in_bucket(parameter) ? slots_[parameter].data : homes_[parameter];
}

void BucketSet::copy_in(std::size_t parameter) const {
  std::byte* const from = gradient(parameter);
  std::byte* const to = slots_[parameter].data;
  if (from != to && sizes_[parameter].count > 0) copy(to, from, sizes_[parameter].bytes());
}

std::byte* BucketSet::earlier(const std::byte* in_block, std::size_t pass) {
  return earlier_.data() + pass * bytes_ + (in_block - static_cast<const std::byte*>(block_.data()));
}

void BucketSet::keep(std::size_t parameter, std::size_t pass) {
  const std::size_t bytes = sizes_[parameter].bytes();
  if (bytes > 0) kernels::copy(earlier(slots_[parameter].data, pass), gradient(parameter), bytes);
}

void BucketSet::copy_out(std::size_t parameter) const {
  std::byte* const from = slots_[parameter].data;
  std::byte* const to = gradient(parameter);
  if (from != to && sizes_[parameter].count > 0) copy(to, from, sizes_[parameter].bytes());
}

void BucketSet::clear(std::size_t parameter) const {
  if (sizes_[parameter].count > 0) zero(slots_[parameter].data, sizes_[parameter].bytes());
}

void BucketSet::keep_memory() noexcept {
  defer_free(std::move(block_));
  defer_free(std::shared_ptr<std::byte[]>(std::move(separate_)));
  defer_free(std::shared_ptr<std::vector<GradientBucket>>(std::move(buckets_)));
}

std::string shape_text(std::span<const std::size_t> shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::string map_text(std::span<const GradientBucket> buckets, std::span<const Parameter> parameters,
                     std::size_t first_number) {
  std::string text = fmt::format("{:>6}  {:>12}  {:<8}  {}\n", "bucket", "bytes", "type", "parameters");
  for (const GradientBucket& bucket : buckets) {
    std::string head = fmt::format("{:>6}  {:>12}  {:<8}", bucket.index, bucket.data.count * bucket.data.type.size(),
                                   datatype_name(bucket.data.type.kind()));
    for (const BucketEntry& entry : bucket.entries) {
      text += fmt::format("{}  {} {} {}\n", head, entry.parameter + first_number, parameters[entry.parameter].name,
                          shape_text(entry.shape));
      head.assign(head.size(), ' ');
    }
  }
  return text;
}

}  // namespace tutti::detail::reducer
