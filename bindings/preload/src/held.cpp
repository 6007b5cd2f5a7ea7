// SPDX-License-Identifier: BSD-3-Clause
#include "held.hpp"

#include <cstddef>
#include <map>
#include <mutex>

namespace tutti::preload {
namespace {

/// Handles in use by outstanding calls. Some MPIs give one handle several times, so that the program may free it as
/// often.
template <typename Kind>
class Uses {
 public:
  using Handle = typename Kind::Handle;

  static Uses& of_process() {
    static auto* all = new Uses;  // calls may end after the statics of this file
    return *all;
  }
  void add(Handle handle) {
    const std::lock_guard lock(mutex_);
    ++of_[handle].calls;
  }
  /// Returns how often the program has freed the handle, once the last call has ended.
  int remove(Handle handle) {
    const std::lock_guard lock(mutex_);
    const auto found = of_.find(handle);
    if (--found->second.calls > 0) return 0;
    const int frees = found->second.frees;
    of_.erase(found);
    return frees;
  }
  /// False for a handle that is not in use.
  bool note_free(Handle handle) {
    const std::lock_guard lock(mutex_);
    const auto found = of_.find(handle);
    if (found == of_.end()) return false;
    ++found->second.frees;
    return true;
  }

 private:
  struct Use {
    std::size_t calls = 0;
    int frees = 0;
  };
  std::mutex mutex_{};
  std::map<Handle, Use> of_{};
};

}  // namespace

template <typename Kind>
void hold(typename Kind::Handle handle) {
  Uses<Kind>::of_process().add(handle);
}

/// The MPI frees outside the lock: functions of the program that delete attributes may free other handles.
template <typename Kind>
void release(typename Kind::Handle handle) {
  for (int frees = Uses<Kind>::of_process().remove(handle); frees > 0; --frees) {
    typename Kind::Handle freed = handle;
    Kind::free(&freed);
  }
}

template <typename Kind>
int free_unless_held(typename Kind::Handle* handle) {
  if (handle == nullptr || !Uses<Kind>::of_process().note_free(*handle)) return Kind::free(handle);
  *handle = Kind::null();
  return MPI_SUCCESS;
}

template void hold<TypeHandle>(MPI_Datatype);
template void hold<OpHandle>(MPI_Op);
template void release<TypeHandle>(MPI_Datatype);
template void release<OpHandle>(MPI_Op);
template int free_unless_held<TypeHandle>(MPI_Datatype*);
template int free_unless_held<OpHandle>(MPI_Op*);

}  // namespace tutti::preload
