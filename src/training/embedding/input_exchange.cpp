// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/input_exchange.hpp"

#include <cstring>
#include <numeric>
#include <tutti/collectives/alltoallv.hpp>

namespace tutti::detail {

namespace {

constexpr MemoryKind host = MemoryKind::host;

}  // namespace

void InputExchange::Counts::place() {
  total = 0;
  for (std::size_t r = 0; r < sizes.size(); ++r) {
    begins[r] = total;
    total += sizes[r];
  }
}

InputExchange::InputExchange(const CollectionFacts& facts) : facts_(&facts), arrived_(facts.pieces().size()) {
  for (auto* counts : {&sent_lengths_, &sent_indices_, &arriving_lengths_, &arriving_indices_})
    counts->resize(static_cast<std::size_t>(facts.ranks));
}

void InputExchange::pack(const EmbeddingInput& input) {
  batch_ = input.batch;
  type_ = input.index_type;
  sent_.clear();
  const std::size_t bags = facts_->slice(batch_).size();
  for (int r = 0; r < facts_->ranks; ++r) {
    const std::size_t indices = sent_.count;
    const auto& pieces = facts_->map.of_rank(r);
    for (const Piece& piece : pieces) {
      const std::size_t t = piece.shard.table;
      select_lookups(
          input.tables[t], type_,
          {0, bags, facts_->tables[t].rows, piece.shard.table_rows(), facts_->options.policy, facts_->options.weighted},
          sent_);
    }
    const auto i = static_cast<std::size_t>(r);
    sent_lengths_.sizes[i] = pieces.size() * bags;
    sent_indices_.sizes[i] = sent_.count - indices;
    arriving_lengths_.sizes[i] = facts_->pieces().size() * sample_slice(batch_, r, facts_->ranks).size();
  }
  sent_lengths_.place();
  sent_indices_.place();
  arriving_lengths_.place();
}

Request InputExchange::start_lengths(const Communicator& comm) {
  lengths_.resize(arriving_lengths_.total);
  return ialltoallv(comm, sent_.lengths, sent_lengths_.sizes, sent_lengths_.begins, lengths_, arriving_lengths_.sizes,
                    arriving_lengths_.begins, {.memory = host});
}

void InputExchange::count_arriving() {
  for (std::size_t r = 0; r < arriving_indices_.sizes.size(); ++r) {
    const auto* first = lengths_.data() + arriving_lengths_.begins[r];
    arriving_indices_.sizes[r] =
        std::accumulate(first, first + arriving_lengths_.sizes[r], std::size_t{0},
                        [](std::size_t sum, std::int32_t length) { return sum + static_cast<std::size_t>(length); });
  }
  arriving_indices_.place();
}

Request InputExchange::start_indices(const Communicator& comm) {
  count_arriving();
  const std::size_t bytes = index_bytes(type_);
  indices_.resize(arriving_indices_.total * bytes);
  const Datatype type = type_ == kernels::IndexType::int32 ? DatatypeKind::int32 : DatatypeKind::int64;
  return ialltoallv(comm, ConstBuffer(sent_.indices.data(), sent_.count, type, host), sent_indices_.sizes,
                    sent_indices_.begins, Buffer(indices_.data(), arriving_indices_.total, type, host),
                    arriving_indices_.sizes, arriving_indices_.begins, {.memory = host});
}

Request InputExchange::start_weights(const Communicator& comm) {
  weights_.resize(arriving_indices_.total);
  return ialltoallv(comm, ConstBuffer(sent_.weights.data(), sent_.count), sent_indices_.sizes, sent_indices_.begins,
                    Buffer(weights_.data(), weights_.size()), arriving_indices_.sizes, arriving_indices_.begins,
                    {.memory = host});
}

void InputExchange::unpack(BatchLookups& lookups) {
  const std::size_t bytes = index_bytes(type_);
  std::vector<std::size_t> at = arriving_indices_.begins;
  for (std::size_t i = 0; i < arrived_.size(); ++i) {
    OwnedLookups& to = arrived_[i];
    to.offsets.assign(1, 0);
    to.offsets.reserve(batch_ + 1);
    to.indices.clear();
    to.weights.clear();
    for (int r = 0; r < facts_->ranks; ++r) {
      const auto source = static_cast<std::size_t>(r);
      const std::size_t samples = sample_slice(batch_, r, facts_->ranks).size();
      const auto* length = lengths_.data() + arriving_lengths_.begins[source] + i * samples;
      const std::int64_t before = to.offsets.back();
      for (std::size_t s = 0; s < samples; ++s) to.offsets.push_back(to.offsets.back() + length[s]);
      const auto count = static_cast<std::size_t>(to.offsets.back() - before);
      const std::byte* first = indices_.data() + at[source] * bytes;
      to.indices.insert(to.indices.end(), first, first + count * bytes);
      if (facts_->options.weighted) {
        const float* weight = weights_.data() + at[source];
        to.weights.insert(to.weights.end(), weight, weight + count);
      }
      at[source] += count;
    }
    const bool weighted =
        facts_->options.weighted && facts_->tables[facts_->pieces()[i].shard.table].pooling != kernels::Pooling::max;
    lookups.set_all(i, to.view(weighted));
  }
}

}  // namespace tutti::detail
