// SPDX-License-Identifier: BSD-3-Clause
#include "training/parameter_server/window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <tutti/environment.hpp>
#include <tutti/error.hpp>

namespace tutti::detail::server {
namespace {

/// The places of some rows or words at a target. MPI keeps the type alive until the operations that use it are done.
class TargetType {
 public:
  TargetType(std::span<const MPI_Aint> places, int length, MPI_Datatype of) {
    check_mpi(MPI_Type_create_hindexed_block(static_cast<int>(places.size()), length, places.data(), of, &type_),
              "MPI_Type_create_hindexed_block");
    check_mpi(MPI_Type_commit(&type_), "MPI_Type_commit");
  }
  ~TargetType() { MPI_Type_free(&type_); }
  TargetType(const TargetType&) = delete;
  TargetType& operator=(const TargetType&) = delete;
  [[nodiscard]] MPI_Datatype handle() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

MPI_Info window_info() {
  MPI_Info info = MPI_INFO_NULL;
  check_mpi(MPI_Info_create(&info), "MPI_Info_create");
  MPI_Info_set(info, "accumulate_ordering", "none");
  MPI_Info_set(info, "accumulate_ops", "same_op_no_op");
  MPI_Info_set(info, "same_size", "true");
  MPI_Info_set(info, "same_disp_unit", "true");
  return info;
}

MPI_Win allocate_window(const Communicator& comm, std::size_t bytes, void*& base) {
  MPI_Win window = MPI_WIN_NULL;
  MPI_Info info = window_info();
  services::mpi_barrier(comm);
  const int code = MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, info, services::private_mpi(comm), &base, &window);
  MPI_Info_free(&info);
  for (const int other : all_values(comm, code))
    if (other != MPI_SUCCESS)
      throw Error(
          ErrorCode::out_of_memory,
          fmt::format("ParameterServer, {}: MPI_Win_allocate of {} bytes a rank failed; use fewer rows, or more "
                      "ranks",
                      services::describe(comm), bytes));
  return window;
}

}  // namespace

RowWindow::RowWindow(const Communicator& comm, const RowShape& shape) : comm_(services::share(comm)), shape_(shape) {
  window_ = allocate_window(comm_, shape_.bytes(), base_);
  check_mpi(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
  check_mpi(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
  std::memset(base_, 0, shape_.bytes());
  fence();
}

RowWindow::~RowWindow() {
  // The other ranks need not come here if an exception is under way on this one.
  if (!mpi_is_usable() || broken_ || std::uncaught_exceptions() > exceptions_) return;
  try {
    // MPI_Win_free waits for all ranks inside MPI, so no rank may enter before all have come.
    services::mpi_barrier(comm_);
  } catch (const Error&) {
    return;
  }
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

template <typename Start>
void RowWindow::for_each_target(std::span<const std::int64_t> rows, bool words, const Start& start) {
  broken_ = true;
  for (std::size_t begin = 0; begin < rows.size();) {
    const int target = shape_.owner(rows[begin]);
    places_.clear();
    std::size_t end = begin;
    for (; end < rows.size() && shape_.owner(rows[end]) == target; ++end)
      places_.push_back(static_cast<MPI_Aint>(words ? shape_.word_offset(rows[end]) : shape_.row_offset(rows[end])));
    const TargetType type(places_, words ? 1 : static_cast<int>(shape_.dim), words ? MPI_UINT64_T : MPI_FLOAT);
    MPI_Request request = MPI_REQUEST_NULL;
    start(begin, static_cast<int>(end - begin), target, type.handle(), &request);
    requests_.push_back(request);
    targets_.push_back(target);
    ++messages_;
    begin = end;
  }
}

void RowWindow::add_words(std::span<const std::int64_t> rows, const std::uint64_t* added, std::uint64_t* found) {
  for_each_target(rows, true, [&](std::size_t at, int n, int target, MPI_Datatype there, MPI_Request* request) {
    check_mpi(MPI_Rget_accumulate(added + at, n, MPI_UINT64_T, found + at, n, MPI_UINT64_T, target, 0, 1, there,
                                  MPI_SUM, window_, request),
              "MPI_Rget_accumulate");
  });
}

void RowWindow::read_words(std::span<const std::int64_t> rows, std::uint64_t* found) {
  for_each_target(rows, true, [&](std::size_t at, int n, int target, MPI_Datatype there, MPI_Request* request) {
    check_mpi(MPI_Rget_accumulate(nullptr, 0, MPI_UINT64_T, found + at, n, MPI_UINT64_T, target, 0, 1, there, MPI_NO_OP,
                                  window_, request),
              "MPI_Rget_accumulate");
  });
}

void RowWindow::get_rows(std::span<const std::int64_t> rows, float* values) {
  for_each_target(rows, false, [&](std::size_t at, int n, int target, MPI_Datatype there, MPI_Request* request) {
    check_mpi(MPI_Rget(values + at * shape_.dim, n * static_cast<int>(shape_.dim), MPI_FLOAT, target, 0, 1, there,
                       window_, request),
              "MPI_Rget");
  });
}

void RowWindow::add_rows(std::span<const std::int64_t> rows, const float* added, float* found) {
  for_each_target(rows, false, [&](std::size_t at, int n, int target, MPI_Datatype there, MPI_Request* request) {
    const int values = n * static_cast<int>(shape_.dim);
    check_mpi(MPI_Rget_accumulate(added + at * shape_.dim, values, MPI_FLOAT, found + at * shape_.dim, values,
                                  MPI_FLOAT, target, 0, 1, there, MPI_SUM, window_, request),
              "MPI_Rget_accumulate");
  });
}

void RowWindow::finish(const char* what) {
  RowWait wait(comm_, what);
  int done = 0;
  while (true) {
    check_mpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE),
              "MPI_Testall");
    if (done != 0) break;
    tutti::progress();
    wait.pause();
  }
  requests_.clear();
  // All requests are complete. The standard's memory model wants the flush, which waits for nothing.
  std::ranges::sort(targets_);
  targets_.erase(std::unique(targets_.begin(), targets_.end()), targets_.end());
  for (const int target : targets_) check_mpi(MPI_Win_flush(target, window_), "MPI_Win_flush");
  targets_.clear();
  ++trips_;
  broken_ = false;
}

void RowWindow::fence() {
  check_mpi(MPI_Win_flush_all(window_), "MPI_Win_flush_all");
  check_mpi(MPI_Win_sync(window_), "MPI_Win_sync");
  services::mpi_barrier(comm_);
  check_mpi(MPI_Win_sync(window_), "MPI_Win_sync");
}

void RowWindow::progress() {
  int found = 0;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, services::private_mpi(comm_), &found, MPI_STATUS_IGNORE),
            "MPI_Iprobe");
}

}  // namespace tutti::detail::server
