// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <tutti/error.hpp>
#include <tutti/parameter_server.hpp>

#include "call/agreement.hpp"
#include "training/parameter_server_access.hpp"

namespace tutti {

struct ParameterServer::State {
  std::shared_ptr<detail::Context> comm;
  detail::server::RowShape shape;
  detail::server::RowRule rule;
  std::unique_ptr<detail::server::RowAccess> access;
};

namespace {

using namespace detail;
using namespace detail::server;

struct Wish {
  std::int64_t rows;
  std::uint64_t dim;
  float epsilon;
  std::uint8_t optimizer;
  std::uint8_t direct;
};

const char* first_difference(const Wish& a, const Wish& b) {
  if (a.rows != b.rows) return "argument rows";
  if (a.dim != b.dim) return "argument dim";
  if (a.optimizer != b.optimizer) return "option optimizer";
  if (std::bit_cast<std::uint32_t>(a.epsilon) != std::bit_cast<std::uint32_t>(b.epsilon)) return "option epsilon";
  if (a.direct != b.direct) return "option direct";
  return nullptr;
}

/// On all ranks alike: first that they agree, then what they agree on.
void check(const Context& comm, const Wish& mine) {
  const std::vector<Wish> all = all_gather(comm, mine);
  for (std::size_t r = 1; r < all.size(); ++r)
    if (const char* what = first_difference(all[0], all[r]))
      throw Error(ErrorCode::mismatch, fmt::format("ParameterServer, {}: {} differs between ranks 0 and {}; make it "
                                                   "equal",
                                                   comm.describe(), what, r));
  const auto refuse = [&](const std::string& problem) {
    throw Error(ErrorCode::invalid_argument, fmt::format("ParameterServer, {}: {}", comm.describe(), problem));
  };
  constexpr std::uint64_t most_dim = std::uint64_t{1} << 30U;
  constexpr double most_bytes = 1e14;
  if (mine.rows < 0) refuse(fmt::format("argument rows is {}; pass a number from 0", mine.rows));
  if (mine.dim < 1 || mine.dim > most_dim)
    refuse(fmt::format("argument dim is {}; pass a number from 1 to {}", mine.dim, most_dim));
  if (static_cast<double>(mine.rows) * static_cast<double>(mine.dim + 2) * sizeof(float) > most_bytes)
    refuse(fmt::format("arguments rows and dim are {} and {}: more than memory can hold", mine.rows, mine.dim));
  if (mine.optimizer > static_cast<std::uint8_t>(ServerOptimizer::row_wise_adagrad))
    refuse(fmt::format("option optimizer is {}; pass sgd or row_wise_adagrad", mine.optimizer));
}

void check_request(const ParameterServer::State& server, const char* call, std::span<const std::int64_t> rows,
                   std::size_t values, const char* argument) {
  server.comm->check_usable();
  if (values != rows.size() * server.shape.dim)
    throw Error(ErrorCode::invalid_argument, fmt::format("{}, {}: argument {} has {} values for {} rows of {}; pass {}",
                                                         call, server.comm->describe(), argument, values, rows.size(),
                                                         server.shape.dim, rows.size() * server.shape.dim));
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i] < 0 || rows[i] >= server.shape.rows)
      throw Error(ErrorCode::index_out_of_range,
                  fmt::format("{}, {}: argument rows has {} at position {}; pass rows from 0 to {}", call,
                              server.comm->describe(), rows[i], i, server.shape.rows - 1));
}

ParameterServer::State& whole(const std::unique_ptr<ParameterServer::State>& state) {
  if (!state)
    throw Error(ErrorCode::invalid_argument, "this ParameterServer is empty: it has been moved from; use the new one");
  return *state;
}

}  // namespace

ParameterServer::ParameterServer(const Communicator& comm, std::int64_t rows, std::size_t dim,
                                 const ParameterServerOptions& options) {
  const std::shared_ptr<Context> state = comm.state();
  state->check_usable();
  check(*state, {rows, dim, options.epsilon, static_cast<std::uint8_t>(options.optimizer),
                 static_cast<std::uint8_t>(options.direct ? 1 : 0)});
  const RowShape shape(rows, dim, state->size);
  std::unique_ptr<RowAccess> access;
  if (options.direct) access = make_direct(state, shape);
  if (!access) access = make_one_sided(state, shape);
  state_ = std::make_unique<State>(State{state, shape, {options.optimizer, options.epsilon}, std::move(access)});
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
  server.comm->check_usable();
  server.access->fence();
}

void ParameterServer::progress() {
  State& server = whole(state_);
  server.comm->check_usable();
  server.access->progress();
}

std::span<float> ParameterServer::local() {
  State& server = whole(state_);
  return {server.access->local(), server.shape.count(server.comm->rank) * server.shape.dim};
}

std::int64_t ParameterServer::first_row() const {
  const State& server = whole(state_);
  return server.shape.first(server.comm->rank);
}

std::int64_t ParameterServer::rows() const { return whole(state_).shape.rows; }
std::size_t ParameterServer::dim() const { return whole(state_).shape.dim; }
std::string ParameterServer::path() const { return whole(state_).access->name(); }

}  // namespace tutti
