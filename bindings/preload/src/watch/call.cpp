// SPDX-License-Identifier: BSD-3-Clause
#include "watch/call.hpp"

#include <algorithm>
#include <cctype>

#include "types.hpp"

namespace tutti::preload {

namespace flight = tutti::detail::flight;

std::string mpi_name(Collective which, Form form) {
  std::string name(flight::call_name(which));
  if (form == Form::nonblocking) return "MPI_I" + name;
  name.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(name.front())));
  return "MPI_" + name + (form == Form::init ? "_init" : "");
}

WatchedCall::WatchedCall(flight::Call call, Form form, MPI_Comm comm, int peer, int tag, MPI_Datatype type,
                         MPI_Count count)
    : handle_(comm), form_(form), place_(current_place()), comm_(communicators().find(comm)) {
  const Type* facts = type == MPI_DATATYPE_NULL ? nullptr : type_of(type);
  const auto items = static_cast<std::uint64_t>(std::max<MPI_Count>(count, 0));
  const int named_peer = peer == MPI_ANY_SOURCE ? flight::any : std::max(peer, -1);
  begin({.bytes = facts == nullptr ? 0 : facts->size * items,
         .peer = named_peer,
         .tag = tag == MPI_ANY_TAG ? flight::any : tag,
         .call = call,
         .form = form});
}

WatchedCall::WatchedCall(flight::Call call, Form form, MPI_Comm comm, const Description& description)
    : handle_(comm), form_(form), place_(current_place()) {
  const auto [known, sequence] = communicators().next(comm);
  comm_ = known;
  begin({.bytes = description.all.bytes, .sequence = sequence, .peer = description.root, .call = call, .form = form});
}

void WatchedCall::begin(const flight::Facts& facts) {
  facts_ = facts;
  auto* recorder = flight::Recorder::instance();
  if (recorder == nullptr || !comm_) return;
  facts_.communicator = comm_->row;
  facts_.site = recorder->text(place_);
  if (form_ == Form::init && facts_.sequence == 0) return;  // a message that is not started
  note_ = {recorder,
           recorder->begin(facts_, form_ == Form::blocking ? flight::State::running : flight::State::outstanding)};
}

WatchedCall::~WatchedCall() { note_.end(flight::State::done); }

int WatchedCall::compare(const std::string& name, const Description& description) {
  if (!comm_) return MPI_SUCCESS;
  const std::uint64_t number = begin_comparison(handle_, *comm_, facts_.sequence, name, place_, description);
  return form_ == Form::blocking ? finish_comparison(number) : tutti::preload::compare();
}

void WatchedCall::hand_over(MPI_Request request, RequestedCall call) {
  call.facts = facts_;
  call.place = place_;
  call.is_persistent = form_ == Form::init;
  call.is_started = !call.is_persistent;
  if (call.is_persistent) std::exchange(note_, {}).end(flight::State::done);
  if (!is_checked()) call.sent = call.received = {};
  call.note = std::exchange(note_, {});
  watched_requests().add(request, std::move(call));
}

}  // namespace tutti::preload
