// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/shm/work.hpp"

#include <algorithm>

namespace tutti::test {

void Work::fill(int iteration) {
  iteration_ = iteration;
  std::fill(recv_.begin(), recv_.end(), 0);
  for (int r = 0; r < size_; ++r) {
    const auto [offset, n] = given(r);
    const Line line = contribution(rank_, block_for(r));
    Element* to = send_.data() + offset;
    for (std::size_t i = 0; i < n; ++i) to[i] = line.at(i);
  }
}

void Work::verify(const std::string& what) const {
  for (int from = 0; from < size_; ++from) {
    const auto [offset, n] = taken(from);
    const Line line = expected(from);
    const Element* got = (operation_ == Operation::bcast ? send_ : recv_).data() + offset;
    Element differences = 0;
    for (std::size_t i = 0; i < n; ++i) differences |= got[i] ^ line.at(i);
    if (differences == 0) continue;
    std::size_t i = 0;
    while (got[i] == line.at(i)) ++i;
    ADD_FAILURE() << what << ": " << name() << " of " << count_ << ", root " << root_ << ", rank " << rank_ << " of "
                  << size_ << ": element " << i << " of what rank " << from << " gave is " << got[i] << ", not "
                  << line.at(i);
    return;
  }
}

}  // namespace tutti::test
