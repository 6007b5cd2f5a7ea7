// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/checksums.hpp"

#include <utility>

namespace tutti::detail {

Checksums::Checksums(Context& comm, BufferUses&& data) : comm_(comm), data_(std::move(data)) {}

void Checksums::sum_given(const flight::Note& note) noexcept {
  if (note.recorder == nullptr) return;
  note.recorder->sum(note.number, comm_.flight.next_sums(flight::digest_of(data_.read), ++runs_));
  flight::record_place(note, note.recorder, comm_.flight.row());
}

void Checksums::sum_taken(const flight::Note& note) const noexcept {
  if (note.recorder == nullptr) return;
  note.recorder->sum_taken(note.number, flight::digest_of(data_.written));
}

void Checksums::pack() { sum_given(noted_->note()); }

void Checksums::unpack() { sum_taken(noted_->note()); }

}  // namespace tutti::detail
