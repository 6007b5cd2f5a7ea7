// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace tutti::preload {

/// Constants of Fortran that are variables of the MPI there, known by their addresses.
enum class Sentinel { in_place, bottom, status_ignore, statuses_ignore, unweighted, weights_empty };

[[nodiscard]] bool is(Sentinel sentinel, const void* address);

}  // namespace tutti::preload

#ifdef OPEN_MPI

namespace tutti::preload {

static_assert(std::is_same_v<MPI_Fint, int>, "arrays of Fortran's INTEGER go on to C as they are");

inline void from_fortran(MPI_Fint value, MPI_Comm& handle) { handle = PMPI_Comm_f2c(value); }
inline void from_fortran(MPI_Fint value, MPI_Datatype& handle) { handle = PMPI_Type_f2c(value); }
inline void from_fortran(MPI_Fint value, MPI_Op& handle) { handle = PMPI_Op_f2c(value); }
inline void from_fortran(MPI_Fint value, MPI_Group& handle) { handle = PMPI_Group_f2c(value); }
inline void from_fortran(MPI_Fint value, MPI_Info& handle) { handle = PMPI_Info_f2c(value); }
inline void from_fortran(MPI_Fint value, MPI_Request& handle) { handle = PMPI_Request_f2c(value); }
inline void from_fortran(MPI_Fint value, MPI_Message& handle) { handle = PMPI_Message_f2c(value); }

inline MPI_Fint to_fortran(MPI_Comm handle) { return PMPI_Comm_c2f(handle); }
inline MPI_Fint to_fortran(MPI_Datatype handle) { return PMPI_Type_c2f(handle); }
inline MPI_Fint to_fortran(MPI_Op handle) { return PMPI_Op_c2f(handle); }
inline MPI_Fint to_fortran(MPI_Request handle) { return PMPI_Request_c2f(handle); }
inline MPI_Fint to_fortran(MPI_Message handle) { return PMPI_Message_c2f(handle); }

inline bool has_statuses(int code) { return code == MPI_SUCCESS || code == MPI_ERR_IN_STATUS; }

/// Handles of which the other arguments say how many there are. Those that the call changes go back to the program.
template <typename Handle>
class Handles {
 public:
  explicit Handles(void* address) : address_(static_cast<MPI_Fint*>(address)) {}
  Handle* first(int count) {
    for (int i = 0; i < count; ++i) from_fortran(address_[i], before_.emplace_back());
    handles_ = before_;
    return handles_.data();
  }
  void end(int /*code*/) {
    for (std::size_t i = 0; i < handles_.size(); ++i)
      if (handles_[i] != before_[i]) address_[i] = to_fortran(handles_[i]);
  }

 private:
  MPI_Fint* address_;
  std::vector<Handle> before_{};
  std::vector<Handle> handles_{};
};

class Statuses {
 public:
  explicit Statuses(void* address) : address_(static_cast<MPI_Fint*>(address)) {}
  MPI_Status* first(int count) {
    if (is(Sentinel::statuses_ignore, address_) || is(Sentinel::status_ignore, address_)) return MPI_STATUSES_IGNORE;
    statuses_.resize(static_cast<std::size_t>(std::max(count, 0)));
    for (std::size_t i = 0; i < statuses_.size(); ++i) PMPI_Status_f2c(at(i), &statuses_[i]);
    return statuses_.data();
  }
  void end(int code) {
    for (std::size_t i = 0; has_statuses(code) && i < statuses_.size(); ++i) PMPI_Status_c2f(&statuses_[i], at(i));
  }

 private:
  [[nodiscard]] MPI_Fint* at(std::size_t i) const { return address_ + i * (sizeof(MPI_Status) / sizeof(MPI_Fint)); }

  MPI_Fint* address_;
  std::vector<MPI_Status> statuses_{};
};

/// A logical value that the call sets.
class Flag {
 public:
  explicit Flag(void* address) : address_(static_cast<MPI_Fint*>(address)) {}
  int* value() { return &value_; }
  void end(int code) {
    if (code == MPI_SUCCESS) *address_ = value_ != 0 ? truth() : 0;
  }

 private:
  /// The compiler's number for .TRUE.
  static MPI_Fint truth();

  MPI_Fint* address_;
  int value_ = 0;
};

/// Logical values that the call reads.
class Logicals {
 public:
  explicit Logicals(void* address) : address_(static_cast<const MPI_Fint*>(address)) {}
  [[nodiscard]] bool value() const { return *address_ != 0; }
  const int* first(int count) {
    for (int i = 0; i < count; ++i) values_.push_back(address_[i] != 0 ? 1 : 0);
    return values_.data();
  }
  void end(int /*code*/) {}

 private:
  const MPI_Fint* address_;
  std::vector<int> values_{};
};

/// The weights of a graph's edges.
class Weights {
 public:
  explicit Weights(void* address) : address_(static_cast<const int*>(address)) {}
  [[nodiscard]] const int* get() const {
    if (is(Sentinel::unweighted, address_)) return MPI_UNWEIGHTED;
    return is(Sentinel::weights_empty, address_) ? MPI_WEIGHTS_EMPTY : address_;
  }
  void end(int /*code*/) {}

 private:
  const int* address_;
};

/// An argument of Fortran, which is an address, as a parameter of a C function. end(code) gives back what the call has
/// set. Parameters that C does not tell apart, or of which other arguments say how many there are, are references to
/// the classes above.
template <typename Parameter>
class Argument;

template <typename Object>
class Argument<Object&> {
 public:
  explicit Argument(void* address) : object_(address) {}
  Object& get() { return object_; }
  void end(int code) { object_.end(code); }

 private:
  Object object_;
};

/// Arrays of integers and of addresses are the same in C. So is the integer that a call sets.
template <typename Element>
class PlainArgument {
 public:
  explicit PlainArgument(void* address) : address_(static_cast<Element*>(address)) {}
  Element* get() { return address_; }
  void end(int /*code*/) {}

 private:
  Element* address_;
};
template <>
class Argument<int*> : public PlainArgument<int> {
  using PlainArgument::PlainArgument;
};
template <>
class Argument<const int*> : public PlainArgument<const int> {
  using PlainArgument::PlainArgument;
};
template <>
class Argument<const MPI_Aint*> : public PlainArgument<const MPI_Aint> {
  using PlainArgument::PlainArgument;
};

template <>
class Argument<int> {
 public:
  explicit Argument(void* address) : value_(*static_cast<const MPI_Fint*>(address)) {}
  [[nodiscard]] int get() const { return value_; }
  void end(int /*code*/) {}

 private:
  int value_;
};

/// A buffer.
template <>
class Argument<void*> {
 public:
  explicit Argument(void* address) : address_(address) {
    if (is(Sentinel::in_place, address)) address_ = MPI_IN_PLACE;
    if (is(Sentinel::bottom, address)) address_ = MPI_BOTTOM;
  }
  [[nodiscard]] void* get() const { return address_; }
  void end(int /*code*/) {}

 private:
  void* address_;
};
template <>
class Argument<const void*> : public Argument<void*> {
  using Argument<void*>::Argument;
};

template <>
class Argument<MPI_Status*> : public Statuses {
 public:
  using Statuses::Statuses;
  MPI_Status* get() { return first(1); }
};

/// A handle: Open MPI's are addresses.
template <typename Object>
class Argument<Object*> {
 public:
  explicit Argument(void* address) { from_fortran(*static_cast<const MPI_Fint*>(address), value_); }
  [[nodiscard]] Object* get() const { return value_; }
  void end(int /*code*/) {}

 private:
  Object* value_ = nullptr;
};

/// A handle that the call sets.
template <typename Object>
class Argument<Object**> : public Handles<Object*> {
 public:
  using Handles<Object*>::Handles;
  Object** get() { return this->first(1); }
};

}  // namespace tutti::preload

#endif
