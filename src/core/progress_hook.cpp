// SPDX-License-Identifier: BSD-3-Clause
#include "core/progress_hook.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <string_view>

#include "core/host_mpi.hpp"
#include "core/mpi_call.hpp"

// libtutti-mpi is loaded into programs without an MPI too, where an address that is needed would end them: this one is
// not, and nothing else refers to it.
#pragma weak MPI_Pcontrol

namespace tutti::detail::progress_hook {

thread_local constinit Here here{};

namespace {

/// MPICH's interface, which its headers have from 4.3 on, and the library of the program perhaps before the headers
/// that this one was compiled with.
using AsyncPoll = int (*)(void* thing);
using AsyncStart = int (*)(AsyncPoll poll, void* state, int stream);
using RequestIsComplete = int (*)(MPI_Request request);
constexpr int async_goes_on = 0;       // MPIX_ASYNC_NOPROGRESS
constexpr int async_done = 1;          // MPIX_ASYNC_DONE
constexpr int no_stream = 0x3c000000;  // MPIX_STREAM_NULL

/// Open MPI's, of libopen-pal.
using OpalCallback = int (*)();
using OpalRegister = int (*)(OpalCallback callback);

struct Hook {
  Finding finding{};
  AsyncStart async_start = nullptr;
  RequestIsComplete is_complete = nullptr;
  OpalRegister opal_register = nullptr;
  OpalRegister opal_unregister = nullptr;
};

std::atomic<int> operations{0};
std::atomic<bool> armed{false};
std::atomic<Step> the_step{nullptr};
/// MPIX_Request_is_complete, which test() asks inside the hook; null: MPI_Test may be called there.
std::atomic<RequestIsComplete> complete_without_progress{nullptr};

template <typename Function>
Function symbol(const char* name) {
  if (void* found = dlsym(RTLD_DEFAULT, name)) return reinterpret_cast<Function>(found);
  // An MPI that a module of an interpreter has brought is not in the scope of the whole program.
  Dl_info mpi{};
  if (dladdr(reinterpret_cast<const void*>(&MPI_Pcontrol), &mpi) == 0) return nullptr;
  void* library = dlopen(mpi.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  void* found = dlsym(library, name);
  dlclose(library);  // it stays, as this library needs it
  return reinterpret_cast<Function>(found);
}

bool has_threads() {
  int level = MPI_THREAD_SINGLE;
  return MPI_Query_thread(&level) == MPI_SUCCESS && level == MPI_THREAD_MULTIPLE;
}

/// MPICH with one lock for all of its calls holds the lock while it calls a step, in MPI_THREAD_MULTIPLE. Its text
/// names what it was configured with; device ch4 has a lock for each interface unless it was told otherwise.
bool has_one_lock() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return true;
  const std::string_view version(text, static_cast<std::size_t>(length));
  const auto has = [version](std::string_view word) { return version.find(word) != std::string_view::npos; };
  return !has("ch4") || has("thread-cs=global");
}

Hook look() {
  Hook hook;
#ifndef MPI_ABI_VERSION  // MPICH's library with the ABI of MPI 5 has no extensions
  hook.async_start = symbol<AsyncStart>("MPIX_Async_start");
  hook.is_complete = symbol<RequestIsComplete>("MPIX_Request_is_complete");
#endif
  if (hook.async_start != nullptr && hook.is_complete != nullptr) {
    if (has_threads() && has_one_lock())
      hook.finding.text = "MPIX_Async_start is not used: this MPI may hold one lock in all calls of its threads";
    else
      hook.finding = {true, "MPIX_Async_start"};
    return hook;
  }
  if (host_is_open_mpi()) {
    hook.opal_register = symbol<OpalRegister>("opal_progress_register");
    hook.opal_unregister = symbol<OpalRegister>("opal_progress_unregister");
    hook.finding = {hook.opal_register != nullptr && hook.opal_unregister != nullptr, "opal_progress_register"};
    if (!hook.finding.is_usable) hook.finding.text = "this Open MPI exports no opal_progress_register";
    return hook;
  }
  hook.finding.text =
      "the host MPI calls no functions of others in its progress (MPICH does from 4.3 on, and Open MPI)";
  return hook;
}

const Hook& hook() {
  static const Hook found = look();
  return found;
}

/// MPICH and Open MPI may come here again while a step calls them.
void take_step() noexcept {
  if (here.is_inside || here.pauses > 0) return;
  here.is_inside = true;
  the_step.load(std::memory_order_relaxed)();
  here.is_inside = false;
}

int poll_of_mpich(void* /*thing*/) noexcept {
  if (here.is_inside) return async_goes_on;
  if (operations.load() <= 0) {
    armed.store(false);
    // Whoever adds an operation now sees that the poll is not armed, or is seen here.
    if (operations.load() <= 0 || armed.exchange(true)) return async_done;
  }
  take_step();
  return async_goes_on;
}

int poll_of_open_mpi() noexcept {
  if (operations.load(std::memory_order_relaxed) > 0) take_step();
  return 0;
}

void arm() noexcept {
  if (here.is_inside || armed.load() || armed.exchange(true)) return;
  const Hook& found = hook();
  const int code = found.async_start != nullptr ? found.async_start(poll_of_mpich, nullptr, no_stream)
                                                : found.opal_register(poll_of_open_mpi);
  if (code != 0) armed.store(false);  // out of memory: the next operation tries again
}

}  // namespace

const Finding& find() { return hook().finding; }

void add(Step step) noexcept {
  the_step.store(step, std::memory_order_relaxed);
  complete_without_progress.store(hook().is_complete, std::memory_order_relaxed);
  operations.fetch_add(1);
  arm();
}

void remove(int ended) noexcept { operations.fetch_sub(ended); }

// MPICH's poll ends by itself: MPI_Finalize calls it until it does.
void end() noexcept {
  operations.store(0);
  if (armed.load() && hook().opal_unregister != nullptr) {
    hook().opal_unregister(poll_of_open_mpi);
    armed.store(false);
  }
}

bool is_armed() noexcept { return armed.load(); }

void look_into_mpi(MPI_Comm comm) {
  if (is_inside()) return;
  int found = 0;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE), "MPI_Iprobe");
}

int test(MPI_Request& request, int& done, MPI_Status* status) noexcept {
  done = 0;
  if (const RequestIsComplete is_complete = complete_without_progress.load(std::memory_order_relaxed);
      is_complete != nullptr && here.is_inside && is_complete(request) == 0)
    return MPI_SUCCESS;
  return MPI_Test(&request, &done, status);
}

}  // namespace tutti::detail::progress_hook
