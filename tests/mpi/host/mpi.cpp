// SPDX-License-Identifier: BSD-3-Clause
// The datatypes and operations behind MPI's handles.
#include <gtest/gtest.h>
#include <mpi.h>

#include <tutti/mpi.hpp>
#include <tutti/tutti.hpp>

namespace tutti::test {
namespace {

void expect(MPI_Datatype type, Datatype expected, const char* name) {
  EXPECT_EQ(datatype_from(type), expected) << name;
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(type, &lower, &extent);
  EXPECT_EQ(static_cast<std::size_t>(extent), expected.size()) << name;
}

TEST(DatatypeFrom, PredefinedTypes) {
#define EXPECT_TYPE(type, kind) expect(type, DatatypeKind::kind, #type)
  EXPECT_TYPE(MPI_CHAR, int8);
  EXPECT_TYPE(MPI_SIGNED_CHAR, int8);
  EXPECT_TYPE(MPI_UNSIGNED_CHAR, uint8);
  EXPECT_TYPE(MPI_BYTE, uint8);
  EXPECT_TYPE(MPI_SHORT, int16);
  EXPECT_TYPE(MPI_UNSIGNED_SHORT, uint16);
  EXPECT_TYPE(MPI_INT, int32);
  EXPECT_TYPE(MPI_UNSIGNED, uint32);
  expect(MPI_LONG, datatype_of<long>(), "MPI_LONG");
  expect(MPI_UNSIGNED_LONG, datatype_of<unsigned long>(), "MPI_UNSIGNED_LONG");
  EXPECT_TYPE(MPI_LONG_LONG, int64);
  EXPECT_TYPE(MPI_UNSIGNED_LONG_LONG, uint64);
  EXPECT_TYPE(MPI_INT8_T, int8);
  EXPECT_TYPE(MPI_UINT8_T, uint8);
  EXPECT_TYPE(MPI_INT64_T, int64);
  EXPECT_TYPE(MPI_UINT64_T, uint64);
  EXPECT_TYPE(MPI_AINT, int64);
  EXPECT_TYPE(MPI_FLOAT, float32);
  EXPECT_TYPE(MPI_DOUBLE, float64);
  EXPECT_TYPE(MPI_C_BOOL, logical8);
  EXPECT_TYPE(MPI_C_FLOAT_COMPLEX, complex64);
  EXPECT_TYPE(MPI_C_DOUBLE_COMPLEX, complex128);
  EXPECT_TYPE(MPI_FLOAT_INT, float32_int32);
  EXPECT_TYPE(MPI_DOUBLE_INT, float64_int32);
  EXPECT_TYPE(MPI_2INT, int32_int32);
  if (sizeof(long) == 8) {
    EXPECT_TYPE(MPI_LONG_INT, int64_int32);
  }
#undef EXPECT_TYPE
}

TEST(DatatypeFrom, TypesOfFortran) {
  if (MPI_INTEGER == MPI_DATATYPE_NULL) GTEST_SKIP() << "this MPI was built without Fortran";
  expect(MPI_INTEGER, DatatypeKind::int32, "MPI_INTEGER");
  expect(MPI_REAL, DatatypeKind::float32, "MPI_REAL");
  expect(MPI_DOUBLE_PRECISION, DatatypeKind::float64, "MPI_DOUBLE_PRECISION");
  expect(MPI_COMPLEX, DatatypeKind::complex64, "MPI_COMPLEX");
  expect(MPI_LOGICAL, DatatypeKind::logical32, "MPI_LOGICAL");
  expect(MPI_CHARACTER, DatatypeKind::int8, "MPI_CHARACTER");
  expect(MPI_2DOUBLE_PRECISION, DatatypeKind::float64_float64, "MPI_2DOUBLE_PRECISION");
  expect(MPI_2REAL, DatatypeKind::float32_float32, "MPI_2REAL");
  expect(MPI_2INTEGER, DatatypeKind::int32_int32, "MPI_2INTEGER");
}

TEST(DatatypeFrom, DerivedTypesWithoutGapsAreBytes) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(5, MPI_INT, &type);
  EXPECT_EQ(datatype_from(type), Datatype::bytes(20));
  MPI_Type_free(&type);
  MPI_Type_vector(3, 1, 2, MPI_INT, &type);
  EXPECT_THROW((void)datatype_from(type), Error);
  MPI_Type_free(&type);
  MPI_Type_create_resized(MPI_INT, 0, 8, &type);
  EXPECT_THROW((void)datatype_from(type), Error);
  MPI_Type_free(&type);
}

TEST(DatatypeFrom, TypesWithoutCounterpartAreRefused) {
  for (const MPI_Datatype type : {MPI_DATATYPE_NULL, MPI_LONG_DOUBLE, MPI_SHORT_INT, MPI_C_LONG_DOUBLE_COMPLEX}) {
    try {
      (void)datatype_from(type);
      ADD_FAILURE();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::invalid_datatype);
      EXPECT_NE(std::string(e.what()).find("argument type"), std::string::npos) << e.what();
    }
  }
}

void add(void* /*in*/, void* /*inout*/, int* /*count*/, MPI_Datatype* /*type*/) {}

TEST(ReduceOpFrom, PredefinedOperations) {
  EXPECT_EQ(reduce_op_from(MPI_SUM).kind(), ReduceKind::sum);
  EXPECT_EQ(reduce_op_from(MPI_PROD).kind(), ReduceKind::prod);
  EXPECT_EQ(reduce_op_from(MPI_MIN).kind(), ReduceKind::min);
  EXPECT_EQ(reduce_op_from(MPI_MAX).kind(), ReduceKind::max);
  EXPECT_EQ(reduce_op_from(MPI_LAND).kind(), ReduceKind::land);
  EXPECT_EQ(reduce_op_from(MPI_LOR).kind(), ReduceKind::lor);
  EXPECT_EQ(reduce_op_from(MPI_LXOR).kind(), ReduceKind::lxor);
  EXPECT_EQ(reduce_op_from(MPI_BAND).kind(), ReduceKind::band);
  EXPECT_EQ(reduce_op_from(MPI_BOR).kind(), ReduceKind::bor);
  EXPECT_EQ(reduce_op_from(MPI_BXOR).kind(), ReduceKind::bxor);
  EXPECT_EQ(reduce_op_from(MPI_MINLOC).kind(), ReduceKind::minloc);
  EXPECT_EQ(reduce_op_from(MPI_MAXLOC).kind(), ReduceKind::maxloc);
  MPI_Op own = MPI_OP_NULL;
  MPI_Op_create(add, 1, &own);
  for (const MPI_Op op : {own, MPI_OP_NULL, MPI_REPLACE, MPI_NO_OP}) EXPECT_THROW((void)reduce_op_from(op), Error);
  MPI_Op_free(&own);
}

/// What a program with MPI's handles gets is what the host MPI computes.
TEST(DatatypeFrom, CallWithConvertedHandles) {
  const auto comm = Communicator::duplicate(MPI_COMM_WORLD);
  std::vector<double> x(7, comm.rank() + 0.5);
  std::vector<double> expected(7);
  MPI_Allreduce(x.data(), expected.data(), 7, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  allreduce(comm, MPI_IN_PLACE, Buffer(x.data(), 7, datatype_from(MPI_DOUBLE)), reduce_op_from(MPI_MAX));
  EXPECT_EQ(x, expected);
}

}  // namespace
}  // namespace tutti::test
