// SPDX-License-Identifier: BSD-3-Clause
#include "request.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <thread>

#include "arguments.hpp"

namespace nb = nanobind;

namespace tutti::python {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* in_use =
    "another thread is in a call on this request; one thread at a time may use a request: give each its own";

/// Operations under way whose Python object is gone. Never destroyed: the interpreter ends before static objects do.
struct Orphan {
  Request request;
  Held held;
};
std::vector<Orphan>& orphans() {
  static auto* const all = new std::vector<Orphan>;
  return *all;
}

/// Whether dropped requests are not looked after now, by as many. Under the interpreter's lock.
int forbidden = 0;

/// True if the operation is done, and its memory free or kept.
bool is_over(Orphan& orphan) {
  try {
    return orphan.request.test();
  } catch (const Error& error) {
    if (leaves_buffers_in_use(error.code())) keep_until_exit(std::move(orphan.held));
    return true;
  }
}

/// Yields at first, and sleeps for operations that take long.
class Pause {
 public:
  void operator()() {
    if (++polls_ < 200) return;
    if (polls_ < 20'000)
      sched_yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(20));
  }

 private:
  unsigned polls_ = 0;
};

}  // namespace

NoLookAfter::NoLookAfter() noexcept { ++forbidden; }
NoLookAfter::~NoLookAfter() { --forbidden; }

// To complete one runs Python: reductions, and what ends with the arrays. That may drop further requests.
void look_after_dropped_requests() {
  if (forbidden > 0 || orphans().empty()) return;
  const NoLookAfter once;
  std::vector<Orphan> looked_at = std::exchange(orphans(), {});
  std::erase_if(looked_at, is_over);
  std::ranges::move(looked_at, std::back_inserter(orphans()));
}

void keep_until_exit(Held&& held) {
  static auto* const kept = new std::vector<Held>;
  kept->push_back(std::move(held));
}

PythonRequest::PythonRequest(Request request, Held held, nb::object result, bool is_receive)
    : request_(std::move(request)), held_(std::move(held)), result_(std::move(result)), is_receive_(is_receive) {
  look_after_dropped_requests();
}

PythonRequest::~PythonRequest() {
  if (request_.pending()) orphans().push_back({std::move(request_), std::move(held_)});
  look_after_dropped_requests();
}

void PythonRequest::release_if_done() {
  if (!request_.valid()) held_ = Held{};
}

bool PythonRequest::test_for_a_while(long nanoseconds) {
  const auto end = Clock::now() + std::chrono::nanoseconds(nanoseconds);
  for (Pause pause; !request_.test(); pause())
    if (Clock::now() > end) return false;
  return true;
}

bool PythonRequest::test(nb::handle stream) {
  const Turn turn(busy_, ErrorCode::invalid_request, in_use);
  const Stream order = stream_from(stream);
  const bool done = without_lock(held_, [&] { return request_.test(order); });
  if (done) release_if_done();
  return done;
}

nb::object PythonRequest::wait(nb::handle stream) {
  const Turn turn(busy_, ErrorCode::invalid_request, in_use);
  const Stream order = stream_from(stream);
  if (order.kind != StreamKind::none) {
    without_lock(held_, [&] { request_.wait(order); });
  } else {
    constexpr long between_signals = 20'000'000;
    while (!without_lock(held_, [&] { return test_for_a_while(between_signals); }))
      if (PyErr_CheckSignals() != 0) nb::raise_python_error();
  }
  release_if_done();
  return result();
}

void PythonRequest::start() {
  const Turn turn(busy_, ErrorCode::invalid_request, in_use);
  without_lock(held_, [&] { request_.start(); });
}

nb::object PythonRequest::result() const { return is_receive_ ? nb::cast(request_.status()) : result_; }

namespace {

void start_requests(const std::vector<PythonRequest*>& requests) {
  for (PythonRequest* request : requests) request->start();
}

/// Waits for all, also if one fails, and raises the first error.
nb::list wait_for_all(const std::vector<PythonRequest*>& requests) {
  nb::list results;
  std::exception_ptr first;
  for (PythonRequest* request : requests) {
    try {
      results.append(request->wait(nb::none()));
    } catch (const Error&) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
  return results;
}

bool test_all_of(const std::vector<PythonRequest*>& requests) {
  bool all = true;
  for (PythonRequest* request : requests) all = request->test(nb::none()) && all;
  return all;
}

/// Through the module that has asyncio, which a program may never need.
nb::object await(nb::handle request) { return nb::module_::import_("tutti._await").attr("iterate")(request); }

void bind_status(nb::module_& module) {
  nb::class_<Status>(module, "Status", "The result of a receive.")
      .def_ro("source", &Status::source, "The rank that sent the message.")
      .def_ro("tag", &Status::tag)
      .def_ro("count", &Status::count, "The length of the message, in elements.")
      .def("__repr__", [](const Status& status) {
        return "tutti.Status(source=" + std::to_string(status.source) + ", tag=" + std::to_string(status.tag) +
               ", count=" + std::to_string(status.count) + ")";
      });
}

}  // namespace

void bind_request(nb::module_& module) {
  bind_status(module);
  nb::class_<PythonRequest>(module, "Request",
                            "A running or persistent operation. It holds the operation's arrays until they are free; a "
                            "request that is dropped while its operation runs is completed by later calls. `await "
                            "request` waits within asyncio. One thread at a time may use a request.")
      .def("test", &PythonRequest::test, nb::arg("stream") = nb::none(),
           nb::sig("def test(self, stream: Stream | None = None) -> bool"),
           "Returns True once the operation is done; never blocks. With a stream of device memory: once later work on "
           "the stream is ordered after the operation. Raises Error if the operation failed.")
      .def("wait", &PythonRequest::wait, nb::arg("stream") = nb::none(),
           nb::sig("def wait(self, stream: Stream | None = None) -> typing.Any"),
           "Waits until the operation is done and returns the value of the blocking call: the array that was written, "
           "or the Status of a receive. Other threads of Python run meanwhile, and Ctrl-C interrupts it: the operation "
           "then goes on. With a stream of device memory the stream waits, not the host.")
      .def("start", &PythonRequest::start, "Starts a persistent operation again on the same arrays.")
      .def_prop_ro("result", &PythonRequest::result, nb::sig("def result(self) -> typing.Any"),
                   "The value that wait() returns; complete once the operation is done.")
      .def_prop_ro(
          "active", [](const PythonRequest& r) { return r.request().active(); },
          "True from the start of the operation until it has completed.")
      .def_prop_ro(
          "persistent", [](const PythonRequest& r) { return r.request().persistent(); },
          "True if the operation may be started again.")
      .def("__await__", await,
           nb::sig("def __await__(self) -> collections.abc.Generator[typing.Any, None, typing.Any]"));
  module.def("start_all", start_requests, nb::arg("requests"), "Starts persistent requests, in their order.");
  module.def("wait_all", wait_for_all, nb::arg("requests"),
             nb::sig("def wait_all(requests: collections.abc.Sequence[Request]) -> list[typing.Any]"),
             "Waits for all requests and returns the values of their wait(); raises the first error after all have "
             "ended.");
  module.def("test_all", test_all_of, nb::arg("requests"), "Returns True once all requests are done; never blocks.");
}

}  // namespace tutti::python
