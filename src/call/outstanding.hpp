// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "operation/buffer_use.hpp"

namespace tutti::detail {

struct Context;

/// A call of check mode whose end its owner has not seen yet.
class OutstandingCall {
 public:
  OutstandingCall() = default;
  virtual ~OutstandingCall() = default;
  OutstandingCall(const OutstandingCall&) = delete;
  OutstandingCall& operator=(const OutstandingCall&) = delete;

  /// Whether it has begun, and its owner has not seen its end.
  [[nodiscard]] virtual bool is_outstanding() const = 0;
  /// "iallreduce(float32, count 4, sum) at heat.c:41 in step()".
  [[nodiscard]] virtual std::string words() const = 0;
  [[nodiscard]] virtual const BufferUses& uses() const = 0;

 protected:
  /// Other threads see it between these: from the end of the last constructor to the begin of the first destructor.
  void enlist();
  void delist() noexcept;
};

/// Whether any call is registered.
[[nodiscard]] bool has_outstanding_calls() noexcept;

/// The words for the outstanding call, another than `self`, that writes memory which a new call uses, or uses memory
/// which that call writes; empty if there is none.
[[nodiscard]] std::string overlapping_call(const BufferUses& uses, const OutstandingCall* self = nullptr);

/// Lists the requests that were never completed on standard error, for the end of MPI.
void report_lost_requests();
/// The same for a communicator that was not freed; nothing for one that is not in check mode.
void report_lost_communicator(const Context& context);

}  // namespace tutti::detail
