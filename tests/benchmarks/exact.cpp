// SPDX-License-Identifier: BSD-3-Clause
// Exact sums beside sums that round. On one rank: adding local arrays, in a cache and from memory. On several
// (mpiexec -n 2 tutti_exact_benchmark): sums of all ranks beside an allreduce of as many float64.
#include <benchmark/benchmark.h>
#include <mpi.h>

#include <cmath>
#include <cstring>
#include <random>
#include <tutti/tutti.hpp>
#include <vector>

namespace tutti {
namespace {

std::vector<double> numbers(std::size_t count) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> distribution;
  std::vector<double> x(count);
  for (double& value : x) value = distribution(random);
  return x;
}

/// A sum as fast as the registers allow.
template <typename T>
T plain_sum(const std::vector<T>& x) {
  using Lanes [[gnu::vector_size(32)]] = T;
  constexpr std::size_t lanes = 32 / sizeof(T);
  Lanes sums[8] = {};
  std::size_t i = 0;
  for (; i + 8 * lanes <= x.size(); i += 8 * lanes)
    for (std::size_t k = 0; k < 8; ++k) {
      Lanes some;
      std::memcpy(&some, x.data() + i + k * lanes, sizeof some);
      sums[k] += some;
    }
  T sum = 0;
  for (const Lanes& some : sums)
    for (std::size_t j = 0; j < lanes; ++j) sum += some[j];
  for (; i < x.size(); ++i) sum += x[i];
  return sum;
}

template <typename T>
void note_rate(benchmark::State& state) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0) *
                          static_cast<std::int64_t>(sizeof(T)));
}

template <typename T>
std::vector<T> array_of(const benchmark::State& state) {
  const std::vector<double> x = numbers(static_cast<std::size_t>(state.range(0)));
  return {x.begin(), x.end()};
}

template <typename T>
void local_plain(benchmark::State& state) {
  const std::vector<T> x = array_of<T>(state);
  for (auto _ : state) benchmark::DoNotOptimize(plain_sum(x));
  note_rate<T>(state);
}

template <typename T>
void local_exact(benchmark::State& state) {
  const std::vector<T> x = array_of<T>(state);
  for (auto _ : state) {
    ExactSum sum;
    sum.add(x);
    benchmark::DoNotOptimize(sum.rounded());
  }
  note_rate<T>(state);
}

/// Sums of products, in bytes of one factor.
void local_dot(benchmark::State& state) {
  const std::vector<double> x = array_of<double>(state);
  const std::vector<double> y(x.rbegin(), x.rend());
  for (auto _ : state) {
    ExactSum sum;
    sum.add(ExactTerms(x).weighted(y));
    benchmark::DoNotOptimize(sum.rounded());
  }
  note_rate<double>(state);
}

/// Numbers of all exponents, for which no fixed place of splitting serves.
void local_any_exponent(benchmark::State& state) {
  std::vector<double> x = array_of<double>(state);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::ldexp(x[i], static_cast<int>(i * 37 % 1600) - 800);
  for (auto _ : state) {
    ExactSum sum;
    sum.add(x);
    benchmark::DoNotOptimize(sum.rounded());
  }
  note_rate<double>(state);
}

const Communicator& world() {
  static const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  return comm;
}

void all_plain(benchmark::State& state) {
  std::vector<double> x = numbers(static_cast<std::size_t>(state.range(0)));
  std::vector<double> sums(x.size());
  for (auto _ : state) allreduce(world(), x, sums, sum);
}

void all_exact(benchmark::State& state) {
  const std::vector<double> x = numbers(static_cast<std::size_t>(state.range(0)));
  std::vector<double> sums(x.size());
  for (auto _ : state) exact_sum(world(), x, sums);
}

void all_exact_persistent(benchmark::State& state) {
  const std::vector<double> x = numbers(static_cast<std::size_t>(state.range(0)));
  std::vector<double> sums(x.size());
  Request request = exact_sum_init(world(), x, sums);
  for (auto _ : state) {
    request.start();
    request.wait();
  }
}

void all_plain_persistent(benchmark::State& state) {
  const std::vector<double> x = numbers(static_cast<std::size_t>(state.range(0)));
  std::vector<double> sums(x.size());
  Request request = allreduce_init(world(), x, sums, sum);
  for (auto _ : state) {
    request.start();
    request.wait();
  }
}

/// The two allreduces of a sum in fixed point that first agrees on the largest number.
void all_two_messages(benchmark::State& state) {
  const std::vector<double> x = numbers(static_cast<std::size_t>(state.range(0)));
  std::vector<double> largest(x.size());
  std::vector<std::int64_t> words(4 * x.size());
  for (auto _ : state) {
    allreduce(world(), x, largest, max);
    allreduce(world(), std::span(words), sum);
  }
}

void lengths(benchmark::internal::Benchmark* all) {
  for (const std::int64_t count : {1'000, 3'000, 100'000, 20'000'000}) all->Arg(count);
}
/// As many calls on each rank; the median is that of runs in which both had a processor.
void calls(benchmark::internal::Benchmark* all) {
  for (const int fields : {1, 8, 64}) all->Arg(fields);
  all->Iterations(200)->Repetitions(101)->ReportAggregatesOnly();
}

void register_local() {
  benchmark::RegisterBenchmark("local plain float64", local_plain<double>)->Apply(lengths);
  benchmark::RegisterBenchmark("local exact float64", local_exact<double>)->Apply(lengths);
  benchmark::RegisterBenchmark("local plain float32", local_plain<float>)->Apply(lengths);
  benchmark::RegisterBenchmark("local exact float32", local_exact<float>)->Apply(lengths);
  benchmark::RegisterBenchmark("local exact dot", local_dot)->Apply(lengths);
  benchmark::RegisterBenchmark("local exact, any exponent", local_any_exponent)->Apply(lengths);
}

void register_global() {
  benchmark::RegisterBenchmark("allreduce", all_plain)->Apply(calls);
  benchmark::RegisterBenchmark("exact_sum", all_exact)->Apply(calls);
  benchmark::RegisterBenchmark("two allreduces", all_two_messages)->Apply(calls);
  benchmark::RegisterBenchmark("allreduce_init", all_plain_persistent)->Apply(calls);
  benchmark::RegisterBenchmark("exact_sum_init", all_exact_persistent)->Apply(calls);
}

class Silent final : public benchmark::BenchmarkReporter {
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& /*runs*/) override {}
};

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) {
  const tutti::Environment environment(argc, argv);
  benchmark::Initialize(&argc, argv);
  if (tutti::world().size() == 1)
    tutti::register_local();
  else
    tutti::register_global();
  tutti::Silent silent;
  if (tutti::world().rank() == 0)
    benchmark::RunSpecifiedBenchmarks();
  else
    benchmark::RunSpecifiedBenchmarks(&silent);
  return 0;
}
