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
  std::size_t group = 0;                 ///< number of the communicator
  std::size_t turn = 0;                  ///< goes up by one with the communicator, the algorithm and the length
  std::vector<bool> forms{false, true};  ///< whether the call is in place: the forms to try

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
inline std::vector<std::string> algorithm_names(Operation operation) {
  if (const char* only = std::getenv("TUTTI_TEST_BACKEND")) return {only};
  std::vector<std::string> names{"", "native"};
  if (communicators().front().size() > 1)
    for (const char* protocol : {"automatic", "line", "slots", "single_copy", "parts", "tree", "stream"})
      names.push_back(std::string("shm:") + protocol);
  for (const auto& algorithm : schedules::algorithms_of(operation)) names.emplace_back(algorithm.name);
  for (const auto& algorithm : schedules::hierarchical_algorithms_of(operation)) names.emplace_back(algorithm.name);
  return names;
}

/// Whether a test takes the whole product of its dimensions: with more ranks, which outnumber the cores of many a
/// machine, each call takes a hundred times as long.
inline bool takes_all() { return communicators().front().size() <= 2; }

/// True for one of three communicators, which depends on `number` and, by steps of nine, on the turn of the case; for
/// all where a test takes the whole product.
inline bool has_turn(const Case& c, std::size_t number) {
  return takes_all() || (c.turn / 9 + c.group + number) % 3 == 0;
}

/// False where the test is to end, since a call failed that no algorithm may refuse.
template <typename Body>
bool run_case(const Case& c, const Body& body) {
  try {
    body(c);
    return true;
  } catch (const Error& e) {
    // Whether an algorithm can do a call is decided alike on all ranks.
    const bool may_refuse = !c.options.algorithm.empty() && e.code() == ErrorCode::invalid_algorithm;
    EXPECT_TRUE(may_refuse) << c.describe() << ": " << e.what();
    return may_refuse;
  }
}

/// Calls body(case) for every communicator, algorithm and length until it gives false.
template <typename Body>
void for_each_triple(Operation operation, const Body& body) {
  std::size_t group = 0;
  for (const Communicator& comm : communicators()) {
    std::size_t row = group;
    for (const std::string& algorithm : algorithm_names(operation)) {
      std::size_t turn = row++;
      for (const std::size_t count : sizes()) {
        Case c{comm, {}, count, Mode::blocking, comm.rank(), comm.size()};
        c.options.algorithm = algorithm;
        c.group = group;
        c.turn = turn++;
        if (!body(c)) return;
      }
    }
    ++group;
  }
}

/// Every communicator, algorithm, length and mode, in place and not, with at most two ranks. With more, a communicator,
/// an algorithm and a length meet in one mode and one form by turns, and datatypes begin at different turns: any three
/// of algorithm, length, mode and form still meet at every number of ranks.
template <typename T = std::int8_t, typename Body>
void for_each_case(Operation operation, const Body& body) {
  const bool all = takes_all();
  for_each_triple(operation, [&](Case c) {
    c.turn += static_cast<std::size_t>(datatype_of<T>().kind());
    if (!all) c.forms = {(c.turn / 3 + c.group) % 2 != 0};
    for (const Mode mode : modes) {
      if (!all && c.turn % 3 != static_cast<std::size_t>(mode)) continue;
      c.mode = mode;
      if (!run_case(c, body)) return false;
    }
    return true;
  });
}

/// The same for a test that makes blocking calls only.
template <typename Body>
void for_each_blocking_case(Operation operation, const Body& body) {
  for_each_triple(operation, [&](const Case& c) { return run_case(c, body); });
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
  if constexpr (!IsPair<T>::value)
    if (got.empty() || std::memcmp(got.data(), expected.data(), got.size() * sizeof(T)) == 0) return;
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!is_same(got[i], expected[i])) {
      ADD_FAILURE() << c.describe() << ": element " << i << " of " << got.size() << " is wrong in iteration "
                    << iteration;
      return;
    }
}

}  // namespace tutti::test
