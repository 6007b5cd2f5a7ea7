// SPDX-License-Identifier: BSD-3-Clause
#include "simulation/fiber.hpp"

#include <cxxabi.h>
#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace tutti::simulation {
namespace {

constexpr std::size_t stack_bytes = std::size_t{512} << 10U;
constexpr std::size_t page = 4096;

Fiber* current = nullptr;

/// Stacks are used again, because new ones would have to be mapped for each seed.
std::vector<void*>& free_stacks() {
  static std::vector<void*> stacks;
  return stacks;
}

void* take_stack() {
  auto& free = free_stacks();
  if (!free.empty()) {
    void* stack = free.back();
    free.pop_back();
    return stack;
  }
  void* stack = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED) throw std::bad_alloc();
  mprotect(stack, page, PROT_NONE);  // ends the program if the stack is too short
  return stack;
}

}  // namespace

Fiber::Fiber(std::function<void()> body) : body_(std::move(body)), stack_(take_stack()) {
  getcontext(&own_);
  own_.uc_stack.ss_sp = stack_;
  own_.uc_stack.ss_size = stack_bytes;
  own_.uc_link = nullptr;
  makecontext(&own_, enter, 0);
}

Fiber::~Fiber() { free_stacks().push_back(stack_); }

bool Fiber::is_inside() { return current != nullptr; }

Fiber::Exceptions& Fiber::exceptions_of_thread() { return *reinterpret_cast<Exceptions*>(abi::__cxa_get_globals()); }

void Fiber::enter() {
  current->body_();
  current->ended_ = true;
  yield();
}

void Fiber::resume() {
  current = this;
  std::swap(exceptions_of_thread(), exceptions_);
  swapcontext(&back_, &own_);
  std::swap(exceptions_of_thread(), exceptions_);
  current = nullptr;
}

void Fiber::yield() {
  Fiber& fiber = *current;
  swapcontext(&fiber.own_, &fiber.back_);
}

}  // namespace tutti::simulation
