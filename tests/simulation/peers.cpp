// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/peers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sstream>
#include <stdexcept>

namespace tutti::simulation {
namespace {

constexpr std::size_t line = 64;
constexpr std::size_t in_line = 56;
/// Calls before a slot is used again.
constexpr std::size_t turns = 2;

using Numbers = std::vector<int>;

bool goes_up(Operation operation) { return operation != Operation::bcast; }
bool goes_down(Operation operation) { return operation != Operation::reduce; }

/// The memory of all ranks: slots of a flag and data, in one line if the data fit it and the peer wants that.
class Slots {
 public:
  Slots(const PeerCall& call, int slots, bool is_inline)
      : bytes_(call.bytes),
        count_(call.bytes / sizeof(double)),
        slots_(static_cast<std::size_t>(slots)),
        data_at_(is_inline && call.bytes <= in_line ? sizeof(std::uint64_t) : line),
        slot_bytes_((data_at_ + bytes_ + line - 1) / line * line),
        all_bytes_(static_cast<std::size_t>(call.ranks) * slots_ * turns * slot_bytes_),
        memory_(static_cast<std::byte*>(std::aligned_alloc(line, all_bytes_))),
        calls_(static_cast<std::size_t>(call.ranks)) {
    if (memory_ == nullptr) throw std::bad_alloc();
    std::memset(memory_, 0, all_bytes_);
  }
  ~Slots() { std::free(memory_); }
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  [[nodiscard]] void* memory() { return memory_; }
  [[nodiscard]] std::size_t memory_bytes() const { return all_bytes_; }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  void begin(int rank) { turn_ = ++calls_[static_cast<std::size_t>(rank)]; }
  void put(int rank, int slot, const double* data) {
    write(rank, slot, data);
    tell(rank, slot);
  }
  void write(int rank, int slot, const double* data) {
    if (bytes_ > 0) std::memcpy(at(rank, slot) + data_at_, data, bytes_);
  }
  void tell(int rank, int slot) { flag(rank, slot).store(turn_, std::memory_order_release); }
  void await(int rank, int slot) {
    while (flag(rank, slot).load(std::memory_order_acquire) != turn_) {
    }
  }
  void get(int rank, int slot, double* to) {
    if (bytes_ > 0) std::memcpy(to, at(rank, slot) + data_at_, bytes_);
  }
  void add(int rank, int slot, double* to) {
    const auto* data = reinterpret_cast<const double*>(at(rank, slot) + data_at_);
    for (std::size_t i = 0; i < count_; ++i) to[i] += data[i];
  }

 private:
  std::byte* at(int rank, int slot) {
    const std::size_t number = (static_cast<std::size_t>(rank) * slots_ + static_cast<std::size_t>(slot)) * turns;
    return memory_ + (number + turn_ % turns) * slot_bytes_;
  }
  std::atomic<std::uint64_t>& flag(int rank, int slot) {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(at(rank, slot));
  }

  std::size_t bytes_;
  std::size_t count_;
  std::size_t slots_;
  std::size_t data_at_;
  std::size_t slot_bytes_;
  std::size_t all_bytes_;
  std::byte* memory_;
  std::vector<std::uint64_t> calls_;
  std::uint64_t turn_ = 0;  ///< of all ranks: calls do not overlap
};

class Model : public NodePeer {
 public:
  Model(std::string name, const PeerCall& call, int slots, bool is_inline)
      : slots_(call, slots, is_inline), call_(call.operation), ranks_(call.ranks), name_(std::move(name)) {}
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] void* memory() override { return slots_.memory(); }
  [[nodiscard]] std::size_t memory_bytes() const override { return slots_.memory_bytes(); }
  void make(int rank, const double* in, double* out) override {
    slots_.begin(rank);
    std::vector<double> sum(in, in + slots_.count());
    if (call_ == Operation::bcast && rank == 0) std::memcpy(sum.data(), out, slots_.bytes());
    play(rank, sum.data());
    if (slots_.bytes() > 0) std::memcpy(out, sum.data(), slots_.bytes());
  }

 protected:
  virtual void play(int rank, double* sum) = 0;
  Slots slots_;
  const Operation call_;
  const int ranks_;

 private:
  std::string name_;
};

/// Groups of neighbours, level by level: a leader polls a line of each member, and the members poll one line of their
/// leader, or one each.
class Leaders final : public Model {
 public:
  Leaders(std::string name, const PeerCall& call, Numbers spans, bool one_each)
      : Model(std::move(name), call, static_cast<int>(spans.size()) + 2, true),
        spans_(std::move(spans)),
        one_each_(one_each) {}

 private:
  [[nodiscard]] int units(std::size_t level) const { return level == 0 ? 1 : spans_[level - 1]; }

  void play(int rank, double* sum) override {
    std::size_t level = 0;
    while (level < spans_.size() && rank % spans_[level] == 0) {
      if (goes_up(call_)) gather(rank, level, sum);
      ++level;
    }
    const bool is_root = level == spans_.size();
    if (!is_root && goes_up(call_)) slots_.put(rank, 0, sum);
    if (!goes_down(call_)) return;
    if (!is_root) receive(rank, level, sum);
    while (level-- > 0) release(rank, level, sum);
  }
  template <typename Visit>
  void for_members(int leader, std::size_t level, const Visit& visit) const {
    const int end = std::min(leader + spans_[level], ranks_);
    for (int member = leader + units(level); member < end; member += units(level)) visit(member);
  }
  void gather(int rank, std::size_t level, double* sum) {
    for_members(rank, level, [&](int member) {
      slots_.await(member, 0);
      slots_.add(member, 0, sum);
    });
  }
  void receive(int rank, std::size_t level, double* sum) {
    const int from = one_each_ ? rank : rank - rank % spans_[level];
    const int slot = one_each_ ? 1 : static_cast<int>(level) + 2;
    slots_.await(from, slot);
    slots_.get(from, slot, sum);
  }
  void release(int rank, std::size_t level, const double* sum) {
    if (!one_each_) return slots_.put(rank, static_cast<int>(level) + 2, sum);
    for_members(rank, level, [&](int member) { slots_.put(member, 1, sum); });
  }

  const Numbers spans_;
  const bool one_each_;
};

/// Flags go up and down k-ary trees in rank order; data have lines of their own, and all ranks copy a result from that
/// of rank 0.
class Kary final : public Model {
 public:
  Kary(std::string name, const PeerCall& call, int up, int down)
      : Model(std::move(name), call, 2, false), up_(up), down_(down) {}

 private:
  void play(int rank, double* sum) override {
    if (goes_up(call_)) {
      for (int child = up_ * rank + 1; child <= std::min(up_ * rank + up_, ranks_ - 1); ++child) {
        slots_.await(child, 0);
        slots_.add(child, 0, sum);
      }
      if (rank > 0) slots_.put(rank, 0, sum);
    }
    if (!goes_down(call_)) return;
    if (rank == 0) slots_.write(0, 1, sum);
    if (rank > 0) slots_.await((rank - 1) / down_, 1);
    if (down_ * rank + 1 < ranks_) slots_.tell(rank, 1);
    if (rank > 0) slots_.get(0, 1, sum);
  }

  const int up_;
  const int down_;
};

/// In each round every rank reads the sums of the ranks that differ from it in one digit, the digits being of mixed
/// radices.
class Radices final : public Model {
 public:
  Radices(std::string name, const PeerCall& call, Numbers radices)
      : Model(std::move(name), call, static_cast<int>(radices.size()), true), radices_(std::move(radices)) {}

 private:
  void play(int rank, double* sum) override {
    int stride = 1;
    for (std::size_t round = 0; round < radices_.size(); ++round) {
      const int radix = radices_[round];
      const int digit = rank / stride % radix;
      const int first = rank - digit * stride;
      slots_.put(rank, static_cast<int>(round), sum);
      for (int i = 1; i < radix; ++i) {
        const int other = first + (digit + i) % radix * stride;
        slots_.await(other, static_cast<int>(round));
        slots_.add(other, static_cast<int>(round), sum);
      }
      stride *= radix;
    }
  }

  const Numbers radices_;
};

constexpr int greatest_radix = 16;

/// All ways to write a number as a product of radices.
std::vector<Numbers> products_of(int number) {
  if (number == 1) return {{}};
  std::vector<Numbers> all;
  for (int first = 2; first <= std::min(number, greatest_radix); ++first) {
    if (number % first != 0) continue;
    for (Numbers rest : products_of(number / first)) {
      rest.insert(rest.begin(), first);
      all.push_back(std::move(rest));
    }
  }
  return all;
}

/// Those whose digits follow the caches and sockets, as far as the ranks fill them.
std::vector<Numbers> radices_of(const PeerCall& call) {
  const int in_cache = std::min(call.ranks, call.prices.cores);
  if (call.ranks % in_cache != 0) return products_of(call.ranks);
  const int caches = call.ranks / in_cache;
  const int in_socket = std::min(caches, call.prices.caches);
  if (caches % in_socket != 0) return products_of(call.ranks);
  std::vector<Numbers> all;
  for (const Numbers& a : products_of(in_cache))
    for (const Numbers& b : products_of(in_socket))
      for (const Numbers& c : products_of(caches / in_socket)) {
        all.push_back(a);
        all.back().insert(all.back().end(), b.begin(), b.end());
        all.back().insert(all.back().end(), c.begin(), c.end());
      }
  return all;
}

/// The ranks of a last-level cache, of a socket and of the node, as far as they differ.
std::vector<Numbers> spans_of(const PeerCall& call) {
  const int cache = call.prices.cores;
  const int socket = cache * call.prices.caches;
  std::vector<Numbers> all;
  for (Numbers spans : {Numbers{cache, socket}, Numbers{cache}, Numbers{socket}, Numbers{}}) {
    spans.erase(std::remove_if(spans.begin(), spans.end(), [&](int span) { return span >= call.ranks; }), spans.end());
    spans.push_back(call.ranks);
    spans.erase(std::unique(spans.begin(), spans.end()), spans.end());
    if (std::find(all.begin(), all.end(), spans) == all.end()) all.push_back(std::move(spans));
  }
  return all;
}

Numbers numbers_in(const std::string& text) {
  Numbers numbers;
  std::istringstream stream(text);
  for (std::string number; std::getline(stream, number, ',');) numbers.push_back(std::stoi(number));
  return numbers;
}

}  // namespace

const std::vector<std::string>& peer_names() {
  static const std::vector<std::string> names{"xhc", "acoll", "release_gather", "ext_mpi"};
  return names;
}

std::vector<std::string> variants_of(const std::string& peer, const PeerCall& call) {
  std::vector<std::string> all;
  const auto add = [&](const Numbers& numbers) { all.push_back(fmt::format("{}:{}", peer, fmt::join(numbers, ","))); };
  if (peer == "xhc")
    for (const Numbers& spans : spans_of(call)) add(spans);
  if (peer == "acoll") add({std::min(call.prices.cores, call.ranks), call.ranks});
  if (peer == "release_gather")
    for (const int up : {2, 4, 8})
      for (const int down : {4, 8, 64}) add({up, down});
  const bool is_mixed = call.operation == Operation::barrier || call.operation == Operation::allreduce;
  if (peer == "ext_mpi" && is_mixed)
    for (const Numbers& radices : radices_of(call)) add(radices);
  return all;
}

// XHC: ompi/mca/coll/xhc; Katevenis et al., CLUSTER 2022 and ICPP 2023. acoll: ompi/mca/coll/acoll; the leaders of the
// last-level caches and rank 0. release_gather: src/mpid/ch4/shm/posix/release_gather; Jain et al., SC 2018. ext_mpi:
// github.com/eth-cscs/ext_mpi_collectives; Jocksch et al., IJHPCA 2025, which counts waits in the rounds of the data.
std::unique_ptr<NodePeer> make_peer(const std::string& variant, const PeerCall& call) {
  const std::string peer = variant.substr(0, variant.find(':'));
  const Numbers numbers = numbers_in(variant.substr(std::min(variant.size(), peer.size() + 1)));
  if (peer == "xhc") return std::make_unique<Leaders>(variant, call, numbers, false);
  if (peer == "acoll") return std::make_unique<Leaders>(variant, call, numbers, true);
  if (peer == "release_gather") return std::make_unique<Kary>(variant, call, numbers.at(0), numbers.at(1));
  if (peer == "ext_mpi") return std::make_unique<Radices>(variant, call, numbers);
  throw std::runtime_error(
      fmt::format("--way {}: name tutti, tutti:shm:…, or one of {}", variant, fmt::join(peer_names(), ", ")));
}

}  // namespace tutti::simulation
