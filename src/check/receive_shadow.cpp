// SPDX-License-Identifier: BSD-3-Clause
#include "check/receive_shadow.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tutti::detail {

std::unique_ptr<ReceiveShadow> ReceiveShadow::of(const std::vector<Bytes>& parts, bool all_bytes) {
  if (parts.empty()) return nullptr;
  const std::byte* first = parts.front().data();
  const std::byte* last = first;
  std::size_t data = 0;
  for (const Bytes& part : parts) {
    first = std::min(first, part.data());
    last = std::max(last, part.data() + part.size());
    data += part.size();
  }
  const Bytes extent(first, last);
  if (extent.size() > std::max(most_bytes, all_bytes ? 4 * data : 0)) return nullptr;
  return std::make_unique<ReceiveShadow>(parts, extent);
}

ReceiveShadow::ReceiveShadow(std::vector<Bytes> parts, Bytes extent)
    : parts_(std::move(parts)), extent_(extent), memory_(std::make_shared<std::vector<std::byte>>(extent.size())) {}

void* ReceiveShadow::place_of(void* address) const {
  return memory_->data() + (static_cast<const std::byte*>(address) - extent_.data());
}

// What the call leaves alone is the same afterwards: in the first rank's result of an exscan, behind a short message.
void ReceiveShadow::begin() {
  for (const Bytes& part : parts_)
    std::memcpy(memory_->data() + (part.data() - extent_.data()), part.data(), part.size());
  digest_ = digest();
  was_changed_ = false;
}

void ReceiveShadow::end() {
  was_changed_ = digest() != digest_;
  for (const Bytes& part : parts_)
    std::memcpy(const_cast<std::byte*>(part.data()),  // NOLINT(cppcoreguidelines-pro-type-const-cast)
                memory_->data() + (part.data() - extent_.data()), part.size());
  digest_ = digest();
}

bool ReceiveShadow::is_changed() const { return was_changed_ || digest() != digest_; }

std::uint64_t ReceiveShadow::digest() const {
  Hash hash;
  for (const Bytes& part : parts_) hash.add(hash_bytes(part));
  return hash.value();
}

}  // namespace tutti::detail
