// SPDX-License-Identifier: BSD-3-Clause
#include "training/reducer/saved.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <string>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/collectives/bcast.hpp>
#include <tutti/error.hpp>

#include "collectives/services.hpp"

namespace tutti::detail::reducer {
namespace {

constexpr std::uint64_t mark = 0x3144455254545554ULL;  ///< "TUTTRED1"

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorCode::io,
              "gradient reducer, argument state: " + what + "; pass the bytes that save() returned, after prepare()");
}

class Writer {
 public:
  void number(std::uint64_t value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
  }
  template <typename T>
  void list(const std::vector<T>& values) {
    number(values.size());
    for (const T& value : values) {
      if constexpr (std::is_same_v<T, double>)
        number(std::bit_cast<std::uint64_t>(value));
      else
        number(static_cast<std::uint64_t>(value));
    }
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    if (bytes_.size() < sizeof value) fail("it is truncated");
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_ = bytes_.subspan(sizeof value);
    return value;
  }
  template <typename T>
  std::vector<T> list() {
    const std::uint64_t count = number();
    if (count > bytes_.size() / sizeof(std::uint64_t)) fail("it is truncated");
    std::vector<T> values;
    values.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      if constexpr (std::is_same_v<T, double>)
        values.push_back(std::bit_cast<double>(number()));
      else
        values.push_back(static_cast<T>(number()));
    }
    return values;
  }
  std::vector<std::byte> rest() const { return {bytes_.begin(), bytes_.end()}; }

 private:
  std::span<const std::byte> bytes_;
};

void check_permutation(std::span<const std::size_t> list, std::size_t parameters) {
  std::vector<bool> seen(parameters, false);
  for (const std::size_t i : list) {
    if (i >= parameters || seen[i])
      fail(fmt::format("it is not the state of a reducer with {} parameters", parameters));
    seen[i] = true;
  }
  if (list.size() != parameters) fail(fmt::format("it is not the state of a reducer with {} parameters", parameters));
}

}  // namespace

std::vector<std::byte> encode(const Saved& saved) {
  Writer out;
  out.number(mark);
  out.number(saved.steps);
  out.number(saved.order_settled ? 1 : 0);
  out.number(saved.rebuilt ? 1 : 0);
  out.list(saved.order);
  out.number(saved.plan.size());
  for (const auto& bucket : saved.plan) out.list(bucket);
  out.list(saved.tuner.candidates);
  out.list(saved.tuner.best);
  out.number(saved.tuner.current);
  out.number(saved.tuner.step);
  out.number(saved.tuner.chosen);
  std::vector<std::byte> bytes = out.take();
  bytes.insert(bytes.end(), saved.hook.begin(), saved.hook.end());
  return bytes;
}

Saved decode(std::span<const std::byte> bytes, std::size_t parameters) {
  Reader in(bytes);
  if (in.number() != mark) fail("it is not the state of a reducer");
  Saved saved;
  saved.steps = in.number();
  saved.order_settled = in.number() != 0;
  saved.rebuilt = in.number() != 0;
  saved.order = in.list<std::size_t>();
  const std::uint64_t buckets = in.number();
  if (buckets > parameters) fail("it is damaged");
  std::vector<std::size_t> all;
  for (std::uint64_t b = 0; b < buckets; ++b) {
    saved.plan.push_back(in.list<std::size_t>());
    if (saved.plan.back().empty()) fail("it is damaged");
    all.insert(all.end(), saved.plan.back().begin(), saved.plan.back().end());
  }
  check_permutation(saved.order, parameters);
  check_permutation(all, parameters);
  saved.tuner.candidates = in.list<std::size_t>();
  saved.tuner.best = in.list<double>();
  saved.tuner.current = in.number();
  saved.tuner.step = in.number();
  saved.tuner.chosen = in.number();
  if (saved.tuner.best.size() != saved.tuner.candidates.size()) fail("it is damaged");
  saved.hook = in.rest();
  return saved;
}

Saved agreed_state(const Communicator& comm, std::span<const std::byte> bytes, std::size_t parameters) {
  Saved saved;
  std::string problem;
  try {
    saved = decode(bytes, parameters);
  } catch (const Error& e) {
    problem = e.what();
  }
  // All but the hook's state is equal on all ranks.
  Saved common = saved;
  common.hook.clear();
  const std::vector<std::byte> text = encode(common);
  const std::uint64_t mine = hash_bytes(text);
  std::uint64_t on_root = mine;
  bcast(comm, Buffer(&on_root, 1), 0);
  std::int64_t verdict = !problem.empty() ? 2 : mine != on_root ? 1 : 0;
  allreduce(comm, &verdict, 1, max);
  if (verdict == 0) return saved;
  if (!problem.empty()) throw Error(ErrorCode::io, problem);
  if (verdict == 2)
    throw Error(ErrorCode::io,
                "gradient reducer, argument state: it is damaged on another rank; see the error of that rank");
  throw Error(ErrorCode::mismatch,
              "gradient reducer, argument state: the ranks' states are not from the same save(); load one checkpoint "
              "on all ranks");
}

}  // namespace tutti::detail::reducer
