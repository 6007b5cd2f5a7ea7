// SPDX-License-Identifier: BSD-3-Clause
// Every collective with every datatype and operation on device buffers, in all forms, gives what it gives on the host.
#include "commbench/names.hpp"
#include "commbench/suite.hpp"
#include "gpu/trial.hpp"

namespace tutti::test::gpu {
namespace {

using commbench::all_operations;

class Collectives : public OnDevice {};

void expect_right(const Point& point, const Form& form, const std::string& algorithm = {}, int iterations = 1) {
  Trial trial(device_world(), point, form, algorithm);
  for (int i = 1; i <= iterations; ++i) {
    const std::string fault = trial.run(static_cast<std::uint64_t>(i));
    EXPECT_EQ(fault, "");
    if (!fault.empty()) return;
  }
}

template <typename Body>
void for_each_operation(const Body& body) {
  for (const Operation operation : all_operations)
    if (operation != Operation::barrier) body(operation);
}

/// With the stand-ins one is enough: what they take time for is the same for all.
std::vector<Datatype> common_types() {
  if (is_standin()) return {DatatypeKind::bfloat16};
  return {DatatypeKind::float32, DatatypeKind::bfloat16};
}

TEST_F(Collectives, EveryDatatypeAndOperation) {
  commbench::Settings settings;
  settings.operations.assign(all_operations.begin() + 1, all_operations.end());
  settings.types = commbench::parse_types({"all", "bytes(12)"});
  settings.ops = commbench::parse_ops({"all"});
  settings.memory = {MemorySpace::device};
  settings.modes = {Mode::blocking};
  settings.low = settings.high = std::size_t{1} << 16U;
  const std::size_t count = is_standin() ? 61 : 1023;
  const int ranks = device_world().size();
  const auto points = commbench::points_of(settings, ranks);
  ASSERT_GT(points.size(), 1000U);
  for (const Point& p : points) expect_right(point_of(p.operation, p.type, p.op, count, ranks), {});
}

TEST_F(Collectives, EveryForm) {
  const int ranks = device_world().size();
  for (const Datatype type : common_types())
    for (const std::size_t count : {0, 1, 1023})
      for (const Mode mode : {Mode::blocking, Mode::nonblocking, Mode::persistent})
        for (const bool streamed : {false, true})
          for (const bool in_place : {false, true})
            for_each_operation([&](Operation operation) {
              expect_right(point_of(operation, type, sum_of(operation), count, ranks), {mode, streamed, in_place}, {},
                           2);
            });
}

TEST_F(Collectives, ManyElements) {
  const int ranks = device_world().size();
  const std::size_t count = is_standin() ? 20'011 : 1'000'000;
  for (const Datatype type : {Datatype(DatatypeKind::float32), Datatype(DatatypeKind::bfloat16)})
    for (const bool in_place : {false, true})
      for_each_operation([&](Operation operation) {
        expect_right(point_of(operation, type, sum_of(operation), count, ranks), {Mode::blocking, true, in_place});
      });
}

TEST_F(Collectives, EveryWay) {
  const Communicator& comm = device_world();
  for_each_operation([&](Operation operation) {
    for (const Datatype type : common_types())
      for (const Mode mode : {Mode::blocking, Mode::nonblocking, Mode::persistent}) {
        Point point = point_of(operation, type, sum_of(operation), 1023, comm.size());
        point.mode = mode;
        const auto shape =
            commbench::make_shape(operation, point.bytes / point.type.size(),
                                  {comm.rank(), comm.size(), comm.size() - 1}, {commbench::Splits::Kind::uneven});
        const auto names = commbench::algorithm_names(comm, point, shape, comm.size() - 1, Accumulation::full);
        ASSERT_FALSE(names.empty()) << operation_name(operation);
        for (const std::string& name : names) expect_right(point, {mode, true, false}, name);
      }
  });
}

TEST_F(Collectives, ManagedMemory) {
  const int ranks = device_world().size();
  for_each_operation([&](Operation operation) {
    Point point = point_of(operation, DatatypeKind::float32, sum_of(operation), 1023, ranks);
    point.memory = MemorySpace::managed;
    expect_right(point, {});
  });
}

}  // namespace
}  // namespace tutti::test::gpu
