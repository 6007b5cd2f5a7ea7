// SPDX-License-Identifier: BSD-3-Clause
#include "support/interposer/settings.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace tutti::test::interposer {
namespace {

// Of constant initialization: calls come before the constructors of this library.
constinit std::array<std::atomic<std::uint64_t>, 3> counts{};

std::uint64_t number(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return otherwise;
  char* end = nullptr;
  const std::uint64_t value = std::strtoull(text, &end, 10);
  if (*end != '\0') give_up("not a number:", name);
  return value;
}

Settings read() {
  Settings read;
  read.kernel_copy_ns = number("TUTTI_TEST_KERNEL_COPY_NS", 0);
  read.kernel_copy_ns_per_kib = number("TUTTI_TEST_KERNEL_COPY_NS_PER_KIB", 0);
  read.kernel_copy_refused = number("TUTTI_TEST_KERNEL_COPY_REFUSED", 0) != 0;
  read.memory_copy_ns_per_kib = number("TUTTI_TEST_MEMORY_COPY_NS_PER_KIB", 0);
  read.memory_copy_from = number("TUTTI_TEST_MEMORY_COPY_FROM", read.memory_copy_from);
  read.message_ns = number("TUTTI_TEST_MESSAGE_NS", 0);
  read.report = number("TUTTI_TEST_INTERPOSER_REPORT", 0) != 0;
  return read;
}

std::uint64_t now_ns() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

std::uint64_t total(Call call) noexcept { return counts[static_cast<std::size_t>(call)].load(); }

__attribute__((destructor)) void report() {
  if (!settings().report) return;
  std::fprintf(stderr, "interposer: %llu kernel copies, %llu slowed memory copies, %llu messages\n",
               static_cast<unsigned long long>(total(Call::kernel_copy)),
               static_cast<unsigned long long>(total(Call::memory_copy)),
               static_cast<unsigned long long>(total(Call::message)));
}

}  // namespace

const Settings& settings() {
  static const Settings found = read();
  return found;
}

void count(Call call, std::uint64_t calls) noexcept {
  counts[static_cast<std::size_t>(call)].fetch_add(calls, std::memory_order_relaxed);
}

void wait_ns(std::uint64_t nanoseconds) noexcept {
  if (nanoseconds == 0) return;
  for (const std::uint64_t begin = now_ns(); now_ns() - begin < nanoseconds;) {
  }
}

void give_up(const char* what, const char* name) noexcept {
  std::fprintf(stderr, "interposer: %s %s\n", what, name);
  _exit(2);
}

}  // namespace tutti::test::interposer

extern "C" std::uint64_t tutti_test_interposer_count(int call) {
  using tutti::test::interposer::Call;
  return tutti::test::interposer::total(static_cast<Call>(call));
}
