// SPDX-License-Identifier: BSD-3-Clause
#include "training/reducer/saved.hpp"

#include <fmt/format.h>

#include <string>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/collectives/bcast.hpp>
#include <tutti/error.hpp>

#include "collectives/services.hpp"
#include "training/byte_stream.hpp"

namespace tutti::detail::reducer {
namespace {

constexpr std::uint64_t mark = 0x3144455254545554ULL;  ///< "TUTTRED1"

constexpr const char* subject = "gradient reducer, argument state";

void check_permutation(std::span<const std::size_t> list, std::size_t parameters, const training::ByteReader& in) {
  std::vector<bool> seen(parameters, false);
  bool is_permutation = list.size() == parameters;
  for (const std::size_t i : list) {
    is_permutation = is_permutation && i < parameters && !seen[i];
    if (is_permutation) seen[i] = true;
  }
  if (!is_permutation) in.fail(fmt::format("it is not the state of a reducer with {} parameters", parameters));
}

}  // namespace

std::vector<std::byte> encode(const Saved& saved) {
  training::ByteWriter out;
  out.value(mark);
  out.value(saved.steps);
  out.value(std::uint64_t{saved.order_settled});
  out.value(std::uint64_t{saved.rebuilt});
  out.list(saved.order);
  out.value(std::uint64_t{saved.plan.size()});
  for (const auto& bucket : saved.plan) out.list(bucket);
  out.list(saved.tuner.candidates);
  out.list(saved.tuner.best);
  out.value(std::uint64_t{saved.tuner.current});
  out.value(std::uint64_t{saved.tuner.step});
  out.value(std::uint64_t{saved.tuner.chosen});
  out.values(saved.hook.data(), saved.hook.size());
  return out.take();
}

Saved decode(std::span<const std::byte> bytes, std::size_t parameters) {
  training::ByteReader in(bytes, {subject, "; pass the bytes that save() returned, after prepare()", ErrorCode::io});
  in.expect(mark, "it is not the state of a reducer");
  Saved saved;
  saved.steps = in.value<std::uint64_t>();
  saved.order_settled = in.value<std::uint64_t>() != 0;
  saved.rebuilt = in.value<std::uint64_t>() != 0;
  saved.order = in.list<std::size_t>();
  const auto buckets = in.value<std::uint64_t>();
  if (buckets > parameters) in.fail("it is damaged");
  std::vector<std::size_t> all;
  for (std::uint64_t b = 0; b < buckets; ++b) {
    saved.plan.push_back(in.list<std::size_t>());
    if (saved.plan.back().empty()) in.fail("it is damaged");
    all.insert(all.end(), saved.plan.back().begin(), saved.plan.back().end());
  }
  check_permutation(saved.order, parameters, in);
  check_permutation(all, parameters, in);
  saved.tuner.candidates = in.list<std::size_t>();
  saved.tuner.best = in.list<double>();
  saved.tuner.current = in.value<std::uint64_t>();
  saved.tuner.step = in.value<std::uint64_t>();
  saved.tuner.chosen = in.value<std::uint64_t>();
  if (saved.tuner.best.size() != saved.tuner.candidates.size()) in.fail("it is damaged");
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
