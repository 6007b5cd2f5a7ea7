// SPDX-License-Identifier: BSD-3-Clause
#include "huge_array.hpp"

#include <sys/mman.h>

#include <string>
#include <tutti/error.hpp>
#include <utility>

namespace dlrm {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20U;

std::size_t rounded(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

HugeArray::HugeArray(std::size_t count) : count_(count) {
  if (count == 0) {
    return;
  }
  const std::size_t bytes = count * sizeof(float);
  const bool huge = bytes >= huge_page;
  mapped_ = rounded(bytes, huge ? huge_page : 4096);
  // One huge page more than needed, so that a range aligned to huge pages fits; what surrounds it is given back.
  const std::size_t reserve = huge ? mapped_ + huge_page : mapped_;
  void* raw = ::mmap(nullptr, reserve, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) {
    throw tutti::Error(tutti::ErrorCode::out_of_memory,
                       "no memory for " + std::to_string(bytes) + " bytes of embedding rows; use more ranks");
  }
  auto* start = static_cast<std::byte*>(raw);
  if (huge) {
    const std::size_t address = reinterpret_cast<std::size_t>(start);
    const std::size_t skip = rounded(address, huge_page) - address;
    if (skip > 0) {
      ::munmap(start, skip);
    }
    if (skip < huge_page) {
      ::munmap(start + skip + mapped_, huge_page - skip);
    }
    start += skip;
    (void)::madvise(start, mapped_, MADV_HUGEPAGE);
  }
  data_ = reinterpret_cast<float*>(start);
}

HugeArray::~HugeArray() {
  if (data_ != nullptr) {
    ::munmap(data_, mapped_);
  }
}

HugeArray::HugeArray(HugeArray&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      count_(std::exchange(other.count_, 0)),
      mapped_(std::exchange(other.mapped_, 0)) {}

HugeArray& HugeArray::operator=(HugeArray&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(count_, other.count_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

}  // namespace dlrm
