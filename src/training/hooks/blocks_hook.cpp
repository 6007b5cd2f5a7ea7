// SPDX-License-Identifier: BSD-3-Clause
#include "training/hooks/blocks_hook.hpp"

#include <numeric>
#include <tutti/collectives/allgatherv.hpp>
#include <tutti/collectives/alltoallv.hpp>
#include <tutti/embedding_collection.hpp>
#include <tutti/request.hpp>
#include <vector>

#include "collectives/services.hpp"
#include "training/hooks/partition.hpp"

namespace tutti::training {

namespace {

std::vector<std::size_t> begins_of(const std::vector<std::size_t>& counts) {
  std::vector<std::size_t> begins(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), std::size_t{0});
  return begins;
}

}  // namespace

/// The sum of one bucket over blocks. Its requests refer to its memory, so that it stays where it is.
class BlocksBucket {
 public:
  BlocksBucket(const Communicator& comm, const GradientBucket& bucket, std::size_t blocks)
      : comm_(comm),
        bucket_(bucket),
        blocks_(blocks),
        divided_(partition_of({&bucket, 1}, comm.size()).front()),
        part_(divided_.end(comm.rank()) - divided_.begin(comm.rank())) {
    if (comm.size() > 1) make_requests();
  }

  void start() {
    stage_ = Stage::exchange;
    if (comm_.size() == 1) return;
    pack();
    exchange_.start();
  }

  bool test() {
    if (stage_ == Stage::exchange) {
      if (comm_.size() > 1 && !exchange_.test()) return false;
      add();
      stage_ = Stage::gather;
      if (comm_.size() > 1) gather_.start();
    }
    return comm_.size() == 1 || gather_.test();
  }

  [[nodiscard]] std::size_t bytes() const { return own() * bucket_.data.count * size(); }

 private:
  enum class Stage { exchange, gather };

  [[nodiscard]] std::size_t size() const { return bucket_.data.type.size(); }
  [[nodiscard]] std::size_t own() const { return bucket_.earlier.size() + 1; }
  [[nodiscard]] const std::byte* block(std::size_t i) const {
    return static_cast<const std::byte*>(i < bucket_.earlier.size() ? bucket_.earlier[i].data : bucket_.data.data);
  }
  [[nodiscard]] Buffer buffer(std::vector<std::byte>& memory) const {
    return {memory.data(), memory.size() / size(), bucket_.data.type, MemoryKind::host};
  }

  /// Rank r gets its part of each block of this rank. Persistent, since ranks start the second stages of different
  /// buckets in different orders.
  void make_requests() {
    std::vector<std::size_t> sent = divided_.counts(comm_.size());
    for (std::size_t& count : sent) count *= own();
    std::vector<std::size_t> received;
    for (int r = 0; r < comm_.size(); ++r) received.push_back(sample_slice(blocks_, r, comm_.size()).size() * part_);
    packed_.resize(own() * bucket_.data.count * size());
    arrived_.resize(blocks_ * part_ * size());
    sum_.resize(part_ * size());
    const Options options{.memory = MemoryKind::host};
    const Buffer from = buffer(packed_);
    const Buffer to = buffer(arrived_);
    const Buffer sum = buffer(sum_);
    exchange_ = alltoallv_init(comm_, from, sent, begins_of(sent), to, received, begins_of(received), options);
    gather_ = allgatherv_init(comm_, sum, bucket_.data, divided_.counts(comm_.size()), divided_.displs(comm_.size()),
                              options);
  }

  void pack() {
    std::byte* to = packed_.data();
    for (int r = 0; r < comm_.size(); ++r) {
      const std::size_t begin = divided_.begin(r) * size();
      const std::size_t bytes = divided_.end(r) * size() - begin;
      for (std::size_t i = 0; i < own() && bytes > 0; ++i, to += bytes) kernels::copy(to, block(i) + begin, bytes);
    }
  }

  void add() {
    const bool is_alone = comm_.size() == 1;
    std::vector<const void*> inputs;
    for (std::size_t i = 0; i < blocks_; ++i)
      inputs.push_back(is_alone ? block(i) : arrived_.data() + i * part_ * size());
    kernels::combine_exactly(bucket_.data.type, inputs, is_alone ? bucket_.data.data : sum_.data(), part_,
                             bucket_.op == ReduceKind::avg ? blocks_ : 1);
  }

  const Communicator& comm_;
  const GradientBucket& bucket_;
  std::size_t blocks_;
  BucketPartition divided_;
  std::size_t part_;                  ///< elements of this rank's part
  std::vector<std::byte> packed_{};   ///< [rank][own block][part]
  std::vector<std::byte> arrived_{};  ///< [block][part]
  std::vector<std::byte> sum_{};
  Request exchange_{};
  Request gather_{};
  Stage stage_ = Stage::gather;
};

BlocksHook::BlocksHook(std::size_t blocks) : blocks_(blocks) {}
BlocksHook::~BlocksHook() = default;

void BlocksHook::prepare(std::span<const Communicator> comms, std::span<const GradientBucket> buckets) {
  buckets_.clear();
  for (const GradientBucket& bucket : buckets)
    buckets_.push_back(std::make_unique<BlocksBucket>(comms[bucket.index % comms.size()], bucket, blocks_));
}

void BlocksHook::start(std::size_t bucket) { buckets_[bucket]->start(); }
bool BlocksHook::test(std::size_t bucket) { return buckets_[bucket]->test(); }
std::size_t BlocksHook::bytes(std::size_t bucket) const { return buckets_[bucket]->bytes(); }

}  // namespace tutti::training
