// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <utility>

namespace tutti::preload {

/// The kinds of handles that a call holds. is_own(): whether the program has made the object, and may free it.
struct TypeHandle {
  using Handle = MPI_Datatype;
  static Handle null() { return MPI_DATATYPE_NULL; }
  static bool is_own(Handle handle);
  static int free(Handle* handle) { return PMPI_Type_free(handle); }
};
struct OpHandle {
  using Handle = MPI_Op;
  static Handle null() { return MPI_OP_NULL; }
  static bool is_own(Handle handle);
  static int free(Handle* handle) { return PMPI_Op_free(handle); }
};

/// Holds a handle against the program's free until release(), as often as it is held.
template <typename Kind>
void hold(typename Kind::Handle handle);
template <typename Kind>
void release(typename Kind::Handle handle);

/// Frees an object of the program, or leaves that to the last call that holds it.
template <typename Kind>
int free_unless_held(typename Kind::Handle* handle);

/// A handle of the program that stays usable in a call that outlives the program's free. A copy would not do: a user's
/// operation may know the datatype by its handle, and finds its attributes there.
template <typename Kind>
class Held {
 public:
  using Handle = typename Kind::Handle;

  explicit Held(Handle handle = Kind::null()) : handle_(handle) {}
  ~Held() {
    if (is_held_) release<Kind>(handle_);
  }
  Held(Held&& other) noexcept : handle_(other.handle_), is_held_(std::exchange(other.is_held_, false)) {}
  Held& operator=(Held&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(is_held_, other.is_held_);
    return *this;
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  void hold() {
    if (is_held_ || handle_ == Kind::null() || !Kind::is_own(handle_)) return;
    preload::hold<Kind>(handle_);
    is_held_ = true;
  }
  [[nodiscard]] Handle get() const { return handle_; }

 private:
  Handle handle_;
  bool is_held_ = false;
};

using HeldType = Held<TypeHandle>;
using HeldOp = Held<OpHandle>;

}  // namespace tutti::preload
