// SPDX-License-Identifier: BSD-3-Clause
#include "training/parameter_server/one_sided.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tutti/error.hpp>

namespace tutti::detail::server {
namespace {

constexpr std::size_t batch_values = std::size_t{1} << 20U;
constexpr std::size_t most_rows = std::size_t{1} << 16U;
constexpr int hopeful_reads = 16;

}  // namespace

OneSidedRows::OneSidedRows(const Communicator& comm, const RowShape& shape)
    : comm_(services::share(comm)),
      shape_(shape),
      word_(comm.size()),
      window_(comm, shape),
      random_(static_cast<std::minstd_rand::result_type>(comm.rank() + 1)) {}

OneSidedRows::~OneSidedRows() {
  if (window_.broken()) (void)scratch_.release();
}

void OneSidedRows::check_usable() const {
  services::check_usable(comm_);
  if (window_.broken())
    throw Error(ErrorCode::invalid_communicator,
                fmt::format("ParameterServer, {}: an earlier pull or push did not finish; create a new server",
                            services::describe(comm_)));
}

std::size_t OneSidedRows::batch_rows() const {
  return std::clamp(batch_values / shape_.dim, std::size_t{1}, most_rows);
}

/// Random pauses let ranks that want the same rows go apart.
void OneSidedRows::back_off(RowWait& wait) {
  for (auto turns = 1 + random_() % 8; turns > 0; --turns) {
    window_.progress();
    wait.pause();
  }
}

void OneSidedRows::fence() {
  check_usable();
  window_.fence();
}

OneSidedRows::Claims OneSidedRows::claim(const Rows& rows) {
  scratch_->added.assign(rows.size(), RowWord::claim);
  scratch_->before.resize(rows.size());
  window_.add_words(rows, scratch_->added.data(), scratch_->before.data());
  window_.finish("push");
  Claims claims;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (word_.is_free(scratch_->before[i])) {
      claims.owned.push_back(rows[i]);
      claims.words.push_back(scratch_->before[i]);
    } else {
      claims.lost.push_back(rows[i]);
    }
  }
  return claims;
}

void OneSidedRows::start_undo(const Rows& lost) {
  if (lost.empty()) return;
  scratch_->added.assign(lost.size(), RowWord::unclaim);
  scratch_->after.resize(lost.size());
  window_.add_words(lost, scratch_->added.data(), scratch_->after.data());
}

void OneSidedRows::release(const Rows& rows, const Words& words, const Words& next) {
  if (rows.empty()) return;
  scratch_->added.resize(rows.size());
  scratch_->after.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) scratch_->added[i] = next[i] - words[i] - RowWord::claim;
  window_.add_words(rows, scratch_->added.data(), scratch_->after.data());
  window_.finish("push");
}

template <typename GradientOf>
OneSidedRows::Rows OneSidedRows::push_once(const Rows& rows, const GradientOf& gradient_of, const RowRule& rule,
                                           float rate) {
  Claims claims = claim(rows);
  const std::size_t dim = shape_.dim;
  scratch_->change.resize(claims.owned.size() * dim);
  scratch_->values.resize(claims.owned.size() * dim);
  Words next(claims.owned.size());
  for (std::size_t i = 0; i < claims.owned.size(); ++i) {
    const std::span<const float> gradient = gradient_of(claims.owned[i]);
    const float state = rule.next_state(RowWord::state(claims.words[i]), gradient);
    rule.change(state, gradient, rate, scratch_->change.data() + i * dim);
    next[i] = word_.next(claims.words[i], state);
  }
  window_.add_rows(claims.owned, scratch_->change.data(), scratch_->values.data());
  start_undo(claims.lost);
  window_.finish("push");
  release(claims.owned, claims.words, next);
  return std::move(claims.lost);
}

void OneSidedRows::push(const RowGradients& gradients, const RowRule& rule, float rate) {
  check_usable();
  const auto all = gradients.rows();
  const auto gradient_of = [&](std::int64_t row) {
    return gradients.gradient(static_cast<std::size_t>(std::ranges::lower_bound(all, row) - all.begin()));
  };
  for (std::size_t begin = 0; begin < all.size(); begin += batch_rows()) {
    const auto batch = all.subspan(begin, std::min(batch_rows(), all.size() - begin));
    RowWait wait(comm_, "push");
    for (Rows rows(batch.begin(), batch.end()); !rows.empty();) {
      rows = push_once(rows, gradient_of, rule, rate);
      if (!rows.empty()) back_off(wait);
    }
  }
}

template <typename Take>
OneSidedRows::Rows OneSidedRows::read_whole(const Rows& rows, const Take& take) {
  Words& before = scratch_->before;
  before.resize(rows.size());
  window_.read_words(rows, before.data());
  window_.finish("pull");
  Rows left;
  Rows& free = scratch_->rows;
  free.clear();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool is_free = word_.is_free(before[i]);
    before[kept] = before[i];
    kept += is_free ? 1 : 0;
    (is_free ? free : left).push_back(rows[i]);
  }
  if (free.empty()) return left;
  scratch_->values.resize(free.size() * shape_.dim);
  scratch_->after.resize(free.size());
  window_.get_rows(free, scratch_->values.data());
  window_.finish("pull");
  window_.read_words(free, scratch_->after.data());
  window_.finish("pull");
  for (std::size_t i = 0; i < free.size(); ++i) {
    if (scratch_->after[i] == before[i])
      take(free[i], scratch_->values.data() + i * shape_.dim);
    else
      left.push_back(free[i]);
  }
  std::ranges::sort(left);
  return left;
}

template <typename Take>
OneSidedRows::Rows OneSidedRows::read_claimed(const Rows& rows, const Take& take) {
  Claims claims = claim(rows);
  scratch_->values.resize(claims.owned.size() * shape_.dim);
  window_.get_rows(claims.owned, scratch_->values.data());
  start_undo(claims.lost);
  window_.finish("pull");
  for (std::size_t i = 0; i < claims.owned.size(); ++i) take(claims.owned[i], scratch_->values.data() + i * shape_.dim);
  release(claims.owned, claims.words, claims.words);
  return std::move(claims.lost);
}

template <typename Take>
void OneSidedRows::pull_batch(Rows rows, const Take& take) {
  RowWait wait(comm_, "pull");
  for (int tries = 0; !rows.empty(); ++tries) {
    // After that many tries a row is busy all the time: read it under a claim.
    rows = tries < hopeful_reads ? read_whole(rows, take) : read_claimed(rows, take);
    if (!rows.empty()) back_off(wait);
  }
}

void OneSidedRows::pull(std::span<const std::int64_t> rows, std::span<float> out) {
  check_usable();
  const std::vector<Occurrence> sorted = sort_rows(rows);
  const auto take = [&](std::int64_t row, const float* values) {
    auto at = std::ranges::lower_bound(sorted, row, {}, &Occurrence::row);
    for (; at != sorted.end() && at->row == row; ++at)
      std::copy_n(values, shape_.dim, out.data() + at->position * shape_.dim);
  };
  Rows batch;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (batch.empty() || batch.back() != sorted[i].row) batch.push_back(sorted[i].row);
    const bool ends = i + 1 == sorted.size() || (batch.size() == batch_rows() && sorted[i + 1].row != sorted[i].row);
    if (ends) pull_batch(std::exchange(batch, {}), take);
  }
}

std::unique_ptr<RowAccess> make_one_sided(const Communicator& comm, const RowShape& shape) {
  return std::make_unique<OneSidedRows>(comm, shape);
}

}  // namespace tutti::detail::server
