// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/gradient_reducer.hpp>
#include <utility>

#include "training/reducer/state.hpp"

namespace tutti {

GradientReducer::GradientReducer(const Communicator& comm, ReducerOptions options)
    : state_(std::make_unique<State>(comm, std::move(options))) {}
GradientReducer::~GradientReducer() = default;
GradientReducer::GradientReducer(GradientReducer&&) noexcept = default;
GradientReducer& GradientReducer::operator=(GradientReducer&&) noexcept = default;

std::size_t GradientReducer::add(Parameter parameter) { return state_->add(std::move(parameter)); }
void GradientReducer::prepare() { state_->prepare(); }
Buffer GradientReducer::gradient(std::size_t i) const { return state_->gradient(i); }
std::size_t GradientReducer::layout() const { return state_->layouts; }
void GradientReducer::ready(std::size_t i) { state_->ready(i); }
void GradientReducer::progress() { state_->progress(); }
void GradientReducer::wait() { state_->wait(); }
bool GradientReducer::used(std::size_t i) const { return state_->used(i); }
void GradientReducer::set_sync(bool sync) { state_->set_sync(sync); }
bool GradientReducer::join() { return state_->join(); }
std::size_t GradientReducer::parameters() const { return state_->parameters.size(); }
const Parameter& GradientReducer::parameter(std::size_t i) const { return state_->parameter(i); }
const CommunicationHook& GradientReducer::hook() const { return state_->hook(); }
std::span<const GradientBucket> GradientReducer::buckets() const {
  if (!state_->buckets) return {};
  return state_->buckets->buckets();
}
std::string GradientReducer::map() const { return state_->map(); }
ReducerStatistics GradientReducer::statistics() const { return state_->statistics(); }
std::vector<std::byte> GradientReducer::save() const { return state_->save(); }
void GradientReducer::load(std::span<const std::byte> state) { state_->load(state); }

}  // namespace tutti
