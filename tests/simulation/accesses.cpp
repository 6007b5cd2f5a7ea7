// SPDX-License-Identifier: BSD-3-Clause
// The functions that the compiler calls at each access to memory for the sanitizer of threads (-fsanitize=thread). Here
// they belong to the model of weak memory instead of that sanitizer, whose library is not linked.
#include "simulation/accesses.hpp"

#include <concepts>
#include <cstdint>

#include "simulation/caches.hpp"
#include "simulation/scheduler.hpp"
#include "simulation/shared_memory.hpp"

namespace tutti::simulation {
namespace {

/// Returns the weak memory, and the place of an address in it, if a rank runs and shares that memory.
WeakMemory* find_shared(const volatile void* address, Word& word) {
  WeakMemory* memory = WeakMemory::current();
  const Scheduler* scheduler = memory == nullptr ? nullptr : Scheduler::here();
  if (scheduler == nullptr) return nullptr;
  word = SharedMemory::current()->find(scheduler->rank(), const_cast<const void*>(address));
  return word.segment == SharedMemory::own ? nullptr : memory;
}

/// Returns the caches, and the place of an address in shared memory, if the access has a price.
Caches* find_price(const volatile void* address, Word& word) {
  Caches* caches = Caches::current();
  if (caches == nullptr) return nullptr;
  word = SharedMemory::current()->find(Scheduler::here()->rank(), const_cast<const void*>(address));
  return word.segment == SharedMemory::own ? nullptr : caches;
}

void pay(const void* address, std::size_t bytes, Access access) {
  Word word;
  Caches* caches = find_price(address, word);
  if (caches == nullptr) return;
  if (access == Access::read)
    caches->load(word, bytes, false);
  else
    caches->store(word, bytes);
}

/// Another rank may go on before an atomic access.
WeakMemory* begin_atomic(const volatile void* address, Word& word) {
  WeakMemory* memory = find_shared(address, word);
  if (memory != nullptr) Scheduler::here()->stop(4 * Scheduler::here()->manner().copy_stops);
  return memory;
}

std::memory_order order_of(int order, Site site, const char* operation) {
  return Orders::instance().use(site, operation, static_cast<std::memory_order>(order));
}

template <typename T>
T load(const volatile T* from, int order, Site site) {
  Word word;
  if (Caches* caches = find_price(from, word)) {
    caches->load(word, sizeof(T), true);
    return static_cast<T>(caches->seen(word, __atomic_load_n(from, __ATOMIC_SEQ_CST)));
  }
  WeakMemory* memory = begin_atomic(from, word);
  const T newest = __atomic_load_n(from, __ATOMIC_SEQ_CST);
  if (memory == nullptr) return newest;
  const Touch touch{word, sizeof(T), Access::atomic_read, site};
  return static_cast<T>(memory->load(touch, newest, order_of(order, site, "load"), false));
}

template <typename T, std::invocable<T> Change>
T change(volatile T* at, int order, Site site, const char* operation, bool reads, const Change& changed) {
  Word word;
  if (Caches* caches = find_price(at, word)) {
    if (reads)
      caches->change(word);
    else
      caches->store(word, sizeof(T));
    const T replaced = __atomic_load_n(at, __ATOMIC_SEQ_CST);
    caches->keep(word, replaced);
    __atomic_store_n(at, changed(replaced), __ATOMIC_SEQ_CST);
    return replaced;
  }
  WeakMemory* memory = begin_atomic(at, word);
  T before = __atomic_load_n(at, __ATOMIC_SEQ_CST);
  if (memory != nullptr) {
    const Touch touch{word, sizeof(T), Access::atomic_write, site};
    const std::uint64_t newest = memory->store(touch, before, changed(before), order_of(order, site, operation), reads);
    __atomic_store_n(at, static_cast<T>(newest), __ATOMIC_SEQ_CST);
    return before;
  }
  while (!__atomic_compare_exchange_n(at, &before, changed(before), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return before;
}

/// A weak one may fail for no reason, as on processors that reserve a line.
template <typename T>
bool compare_exchange(volatile T* at, T* expected, T wanted, int order, int failed, Site site, bool is_weak) {
  Word word;
  if (Caches* caches = find_price(at, word)) {
    caches->change(word);
    caches->keep(word, __atomic_load_n(at, __ATOMIC_SEQ_CST));
  }
  WeakMemory* memory = begin_atomic(at, word);
  if (memory == nullptr)
    return __atomic_compare_exchange_n(at, expected, wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  const std::memory_order used = order_of(order, site, "compare_exchange");
  const T newest = __atomic_load_n(at, __ATOMIC_SEQ_CST);
  if (newest == *expected && !(is_weak && Scheduler::here()->random().once_in(8))) {
    (void)memory->store({word, sizeof(T), Access::atomic_write, site}, newest, wanted, used, true);
    __atomic_store_n(at, wanted, __ATOMIC_SEQ_CST);
    return true;
  }
  const auto read = used == static_cast<std::memory_order>(order) ? static_cast<std::memory_order>(failed) : used;
  *expected = static_cast<T>(memory->load({word, sizeof(T), Access::atomic_read, site}, newest, read, true));
  return false;
}

}  // namespace

void touch_shared(const void* address, std::size_t bytes, Access access, Site site) {
  if (Caches::current() != nullptr) return pay(address, bytes, access);
  Word word;
  if (WeakMemory* memory = find_shared(address, word)) memory->touch({word, bytes, access, site});
}

void touch_any(const void* address, std::size_t bytes, Access access, Site site) {
  if (Caches::current() != nullptr) return pay(address, bytes, access);
  WeakMemory* memory = WeakMemory::current();
  const Scheduler* scheduler = memory == nullptr ? nullptr : Scheduler::here();
  if (scheduler == nullptr || bytes == 0) return;
  memory->touch({SharedMemory::current()->find(scheduler->rank(), address), bytes, access, site});
}

void touch_copy(void* to, const void* from, std::size_t bytes, Site site) {
  touch_any(from, bytes, Access::read, site);
  touch_any(to, bytes, Access::write, site);
}

void stream_to(void* to, std::size_t bytes, Site site) {
  WeakMemory* memory = WeakMemory::current();
  const Scheduler* scheduler = memory == nullptr ? nullptr : Scheduler::here();
  if (scheduler != nullptr)
    memory->begin_stream({SharedMemory::current()->find(scheduler->rank(), to), bytes, Access::write, site});
}

void end_streams(Site site) {
  WeakMemory* memory = WeakMemory::current();
  if (memory == nullptr || Scheduler::here() == nullptr) return;
  if (Orders::instance().use(site, "end of streams", std::memory_order_release) == std::memory_order_release)
    memory->end_streams();
}

void fence(std::memory_order order, Site site) {
  if (Caches* caches = Caches::current(); caches != nullptr && order == std::memory_order_seq_cst) caches->fence();
  WeakMemory* memory = WeakMemory::current();
  Scheduler* scheduler = Scheduler::here();
  if (memory == nullptr || scheduler == nullptr) return;
  scheduler->stop(4 * scheduler->manner().copy_stops);
  memory->fence(Orders::instance().use(site, "fence", order));
}

void erase_shared(const void* address, std::size_t bytes, Site site) {
  Word word;
  if (WeakMemory* memory = find_shared(address, word)) memory->touch({word, bytes, Access::write, site}, false);
}

void forget_own(const void* address, std::size_t bytes, Site site) {
  // Its next owner writes to it.
  WeakMemory* memory = WeakMemory::current();
  if (memory != nullptr && Scheduler::here() != nullptr)
    memory->touch({SharedMemory::own_word(address), bytes, Access::write, site}, false);
  if (WeakMemory* idle = WeakMemory::idle()) idle->forget(SharedMemory::own_word(address), bytes);
}

}  // namespace tutti::simulation

using namespace tutti::simulation;

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void* /*caller*/) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void** /*at*/, void* /*to*/) {}
void __tsan_vptr_read(void** /*from*/) {}

// Nearly all programs are played without weak memory.
#define TUTTI_TOUCH(name, bytes, access)                                                                               \
  void __tsan_##name(void* at) {                                                                                       \
    if (WeakMemory::current() != nullptr || Caches::current() != nullptr) touch_shared(at, bytes, access, TUTTI_SITE); \
  }
#define TUTTI_PLAIN(bytes)                                \
  TUTTI_TOUCH(read##bytes, bytes, Access::read)           \
  TUTTI_TOUCH(write##bytes, bytes, Access::write)         \
  TUTTI_TOUCH(unaligned_read##bytes, bytes, Access::read) \
  TUTTI_TOUCH(unaligned_write##bytes, bytes, Access::write)
TUTTI_PLAIN(1)
TUTTI_PLAIN(2)
TUTTI_PLAIN(4)
TUTTI_PLAIN(8)
TUTTI_PLAIN(16)
#undef TUTTI_PLAIN
#undef TUTTI_TOUCH
void __tsan_read_range(void* from, std::size_t bytes) { touch_shared(from, bytes, Access::read, TUTTI_SITE); }
void __tsan_write_range(void* to, std::size_t bytes) { touch_shared(to, bytes, Access::write, TUTTI_SITE); }

#define TUTTI_CHANGE(bits, T, name, after)                                                                        \
  T __tsan_atomic##bits##_##name(volatile T* at, T value, int order) {                                            \
    return change(at, order, TUTTI_SITE, #name, true, [value]([[maybe_unused]] T before) -> T { return after; }); \
  }
#define TUTTI_ATOMIC(bits, T)                                                                                       \
  T __tsan_atomic##bits##_load(const volatile T* from, int order) { return load(from, order, TUTTI_SITE); }         \
  void __tsan_atomic##bits##_store(volatile T* at, T value, int order) {                                            \
    change(at, order, TUTTI_SITE, "store", false, [value](T) -> T { return value; });                               \
  }                                                                                                                 \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* at, T* expected, T wanted, int order, int failed) { \
    return compare_exchange(at, expected, wanted, order, failed, TUTTI_SITE, false) ? 1 : 0;                        \
  }                                                                                                                 \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* at, T* expected, T wanted, int order, int failed) {   \
    return compare_exchange(at, expected, wanted, order, failed, TUTTI_SITE, true) ? 1 : 0;                         \
  }                                                                                                                 \
  TUTTI_CHANGE(bits, T, exchange, value)                                                                            \
  TUTTI_CHANGE(bits, T, fetch_add, static_cast<T>(before + value))                                                  \
  TUTTI_CHANGE(bits, T, fetch_sub, static_cast<T>(before - value))                                                  \
  TUTTI_CHANGE(bits, T, fetch_and, static_cast<T>(before & value))                                                  \
  TUTTI_CHANGE(bits, T, fetch_or, static_cast<T>(before | value))
TUTTI_ATOMIC(8, std::uint8_t)
TUTTI_ATOMIC(16, std::uint16_t)
TUTTI_ATOMIC(32, std::uint32_t)
TUTTI_ATOMIC(64, std::uint64_t)
#undef TUTTI_ATOMIC
#undef TUTTI_CHANGE

void __tsan_atomic_signal_fence(int /*order*/) {}
void __tsan_atomic_thread_fence(int order) { fence(static_cast<std::memory_order>(order), TUTTI_SITE); }

}  // extern "C"
