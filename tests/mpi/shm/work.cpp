// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/shm/work.hpp"

#include <algorithm>

namespace tutti::test {

void Work::fill(int iteration) {
  iteration_ = iteration;
  std::fill(recv_.begin(), recv_.end(), 0);
  for (int r = 0; r < size_; ++r) {
    const auto [offset, n] = given(r);
    for (std::size_t i = 0; i < n; ++i) send_[offset + i] = element(rank_, block_for(r), i);
  }
}

void Work::verify(const std::string& what) const {
  for (int from = 0; from < size_; ++from) {
    const auto [offset, n] = taken(from);
    for (std::size_t i = 0; i < n; ++i) {
      const Element got = operation_ == Operation::bcast ? send_[offset + i] : recv_[offset + i];
      if (got == expected(from, i)) continue;
      ADD_FAILURE() << what << ": " << name() << " of " << count_ << ", root " << root_ << ", rank " << rank_ << " of "
                    << size_ << ": element " << i << " of what rank " << from << " gave is " << got << ", not "
                    << expected(from, i);
      return;
    }
  }
}

}  // namespace tutti::test
