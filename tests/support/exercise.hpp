// SPDX-License-Identifier: BSD-3-Clause
// Runs a collective in all its forms: on the whole and on parts of the ranks, by every algorithm, blocking, nonblocking
// and persistent, with data that change between the iterations.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <tutti/tutti.hpp>
#include <vector>

#include "schedules/registry.hpp"
#include "support/pattern.hpp"

namespace tutti::test {

enum class Mode { blocking, nonblocking, persistent };
inline constexpr Mode modes[] = {Mode::blocking, Mode::nonblocking, Mode::persistent};

struct Case {
  const Communicator& comm;
  Options options;
  std::size_t count = 0;
  Mode mode = Mode::blocking;
  int rank = 0;
  int size = 1;

  [[nodiscard]] std::string describe() const {
    return "algorithm '" + options.algorithm + "', count " + std::to_string(count) + ", mode " +
           std::to_string(static_cast<int>(mode)) + ", rank " + std::to_string(rank) + " of " + std::to_string(size);
  }
};

/// The communicators that a collective is tested on: all ranks, all in reverse order, and this rank's half.
inline const std::vector<Communicator>& communicators() {
  static const std::vector<Communicator> all = [] {
    std::vector<Communicator> made;
    made.push_back(Communicator::duplicate(MPI_COMM_WORLD));
    const int rank = made.front().rank();
    if (made.front().size() > 1) {
      made.push_back(made.front().split(0, -rank));
      made.push_back(made.front().split(rank % 2, rank));
    }
    return made;
  }();
  return all;
}

inline const std::vector<std::size_t>& sizes() {
  static const std::vector<std::size_t> all{0, 1, 2, 7, 64, 1023, 20'011};
  return all;
}

/// Every algorithm of an operation by name, the protocols of shared memory, the planner's choice, and the host MPI's
/// own. With one rank all of them are one local copy. TUTTI_TEST_BACKEND names the one backend to try instead.
inline std::vector<std::string> algorithm_names(schedules::Operation operation) {
  if (const char* only = std::getenv("TUTTI_TEST_BACKEND")) return {only};
  std::vector<std::string> names{"", "native"};
  if (communicators().front().size() > 1)
    for (const char* protocol : {"automatic", "line", "slots", "single_copy"})
      names.push_back(std::string("shm:") + protocol);
  for (const auto& algorithm : schedules::algorithms_of(operation)) names.emplace_back(algorithm.name);
  for (const auto& algorithm : schedules::hierarchical_algorithms_of(operation)) names.emplace_back(algorithm.name);
  return names;
}

template <typename Body>
void for_each_case(schedules::Operation operation, const Body& body) {
  for (const Communicator& comm : communicators())
    for (const std::string& algorithm : algorithm_names(operation))
      for (const std::size_t count : sizes())
        for (const Mode mode : modes) {
          Options options;
          options.algorithm = algorithm;
          Case c{comm, options, count, mode, comm.rank(), comm.size()};
          try {
            body(c);
          } catch (const Error& e) {
            // Whether an algorithm can do a call is decided alike on all ranks.
            const bool may_refuse = !algorithm.empty() && e.code() == ErrorCode::invalid_algorithm;
            EXPECT_TRUE(may_refuse) << c.describe() << ": " << e.what();
            if (!may_refuse) return;
          }
        }
}

inline constexpr int iterations = 3;

/// Calls fill(i), the collective in the wanted mode, and verify(i), for several iterations.
template <typename Blocking, typename Nonblocking, typename Init, typename Fill, typename Verify>
void exercise(Mode mode, const Blocking& blocking, const Nonblocking& nonblocking, const Init& init, const Fill& fill,
              const Verify& verify) {
  Request persistent = mode == Mode::persistent ? init() : Request();
  for (int i = 0; i < iterations; ++i) {
    fill(i);
    if (mode == Mode::blocking) {
      blocking();
    } else if (mode == Mode::nonblocking) {
      Request request = nonblocking();
      if (i % 2 == 0) {
        request.wait();
      } else {
        while (!request.test()) std::this_thread::yield();
      }
    } else {
      persistent.start();
      persistent.wait();
    }
    verify(i);
  }
}

/// Bit for bit; the padding of pairs is nobody's.
template <typename T>
bool is_same(const T& a, const T& b) {
  if constexpr (IsPair<T>::value)
    return a == b;
  else
    return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// Compares without flooding the output: the first difference is reported.
template <typename T>
void expect_equal(const std::vector<T>& got, const std::vector<T>& expected, const Case& c, int iteration) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!is_same(got[i], expected[i])) {
      ADD_FAILURE() << c.describe() << ": element " << i << " of " << got.size() << " is wrong in iteration "
                    << iteration;
      return;
    }
}

}  // namespace tutti::test
