// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <tutti/error.hpp>
#include <tutti/parameter_server.hpp>

#include "training/parameter_server/access.hpp"

namespace tutti {

struct ParameterServer::State {
  Communicator comm;
  detail::server::RowShape shape;
  detail::server::RowRule rule;
  std::unique_ptr<detail::server::RowAccess> access;
};

namespace {

using namespace detail;
using namespace detail::server;

/// The arguments that must be equal on all ranks.
struct Arguments {
  std::int64_t rows;
  std::uint64_t dim;
  float epsilon;
  std::uint8_t optimizer;
  std::uint8_t direct;
};

const char* first_difference(const Arguments& a, const Arguments& b) {
  if (a.rows != b.rows) return "argument rows";
  if (a.dim != b.dim) return "argument dim";
  if (a.optimizer != b.optimizer) return "option optimizer";
  if (std::bit_cast<std::uint32_t>(a.epsilon) != std::bit_cast<std::uint32_t>(b.epsilon)) return "option epsilon";
  if (a.direct != b.direct) return "option direct";
  return nullptr;
}

/// Throws the same on all ranks: first if the arguments differ, then if they are wrong.
void check(const Communicator& comm, const Arguments& mine) {
  const std::vector<Arguments> all = all_values(comm, mine);
  for (std::size_t r = 1; r < all.size(); ++r)
    if (const char* what = first_difference(all[0], all[r]))
      throw Error(ErrorCode::mismatch, fmt::format("ParameterServer, {}: {} differs between ranks 0 and {}; pass the "
                                                   "same on every rank",
                                                   services::describe(comm), what, r));
  const auto refuse = [&](const std::string& problem) {
    throw Error(ErrorCode::invalid_argument, fmt::format("ParameterServer, {}: {}", services::describe(comm), problem));
  };
  constexpr std::uint64_t most_dim = std::uint64_t{1} << 30U;
  constexpr double most_bytes = 1e14;
  if (mine.rows < 0) refuse(fmt::format("argument rows is {}; pass 0 or more", mine.rows));
  if (mine.dim < 1 || mine.dim > most_dim)
    refuse(fmt::format("argument dim is {}; pass a number from 1 to {}", mine.dim, most_dim));
  if (static_cast<double>(mine.rows) * static_cast<double>(mine.dim + 2) * sizeof(float) > most_bytes)
    refuse(fmt::format("arguments rows and dim are {} and {}: more than memory can hold", mine.rows, mine.dim));
  if (mine.optimizer > static_cast<std::uint8_t>(ServerOptimizer::row_wise_adagrad))
    refuse(fmt::format("option optimizer is {}; pass sgd or row_wise_adagrad", mine.optimizer));
}

void check_request(const ParameterServer::State& server, const char* call, std::span<const std::int64_t> rows,
                   std::size_t values, const char* argument) {
  services::check_usable(server.comm);
  if (values != rows.size() * server.shape.dim)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}, {}: argument {} has {} values for {} rows of {}; pass {}", call,
                            services::describe(server.comm), argument, values, rows.size(), server.shape.dim,
                            rows.size() * server.shape.dim));
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i] < 0 || rows[i] >= server.shape.rows)
      throw Error(ErrorCode::index_out_of_range,
                  fmt::format("{}, {}: argument rows has {} at position {}; pass rows from 0 to {}", call,
                              services::describe(server.comm), rows[i], i, server.shape.rows - 1));
}

ParameterServer::State& whole(const std::unique_ptr<ParameterServer::State>& state) {
  if (!state)
    throw Error(ErrorCode::invalid_argument,
                "this ParameterServer is empty because it was moved from; use the object that it was moved to");
  return *state;
}

}  // namespace

ParameterServer::ParameterServer(const Communicator& comm, std::int64_t rows, std::size_t dim,
                                 const ParameterServerOptions& options) {
  services::check_usable(comm);
  check(comm, {rows, dim, options.epsilon, static_cast<std::uint8_t>(options.optimizer),
               static_cast<std::uint8_t>(options.direct ? 1 : 0)});
  const RowShape shape(rows, dim, comm.size());
  std::unique_ptr<RowAccess> access;
  if (options.direct) access = make_direct(comm, shape);
  if (!access) access = make_one_sided(comm, shape);
  state_ = std::make_unique<State>(
      State{services::share(comm), shape, {options.optimizer, options.epsilon}, std::move(access)});
}

ParameterServer::~ParameterServer() = default;
ParameterServer::ParameterServer(ParameterServer&&) noexcept = default;
ParameterServer& ParameterServer::operator=(ParameterServer&&) noexcept = default;

void ParameterServer::pull(std::span<const std::int64_t> rows, std::span<float> out) const {
  State& server = whole(state_);
  check_request(server, "pull", rows, out.size(), "out");
  server.access->pull(rows, out);
}

void ParameterServer::push(std::span<const std::int64_t> rows, std::span<const float> gradients, float learning_rate) {
  State& server = whole(state_);
  check_request(server, "push", rows, gradients.size(), "gradients");
  server.access->push(RowGradients(rows, gradients, server.shape.dim), server.rule, learning_rate);
}

void ParameterServer::fence() {
  State& server = whole(state_);
  services::check_usable(server.comm);
  server.access->fence();
}

void ParameterServer::progress() {
  State& server = whole(state_);
  services::check_usable(server.comm);
  server.access->progress();
}

std::span<float> ParameterServer::local() {
  State& server = whole(state_);
  return {server.access->local(), server.shape.count(server.comm.rank()) * server.shape.dim};
}

std::int64_t ParameterServer::first_row() const {
  const State& server = whole(state_);
  return server.shape.first(server.comm.rank());
}

std::int64_t ParameterServer::rows() const { return whole(state_).shape.rows; }
std::size_t ParameterServer::dim() const { return whole(state_).shape.dim; }
std::string ParameterServer::path() const { return whole(state_).access->name(); }

}  // namespace tutti
