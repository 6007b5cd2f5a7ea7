/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that ends in one of the ways that MPI allows. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static MPI_Comm reversed = MPI_COMM_NULL;
static MPI_Request request = MPI_REQUEST_NULL;
static int one = 1;
static int sum = 0;
static int mistakes = 0;

static void expect_sum(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  if (sum != size) ++mistakes;
  sum = -1;
}

/* A call of each form. */
static void make_calls(MPI_Comm comm) {
  MPI_Request call = MPI_REQUEST_NULL;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  expect_sum(comm);
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &call);
  MPI_Wait(&call, MPI_STATUS_IGNORE);
  expect_sum(comm);
#if MPI_VERSION >= 4
  MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &call);
  MPI_Start(&call);
  MPI_Wait(&call, MPI_STATUS_IGNORE);
  expect_sum(comm);
  MPI_Request_free(&call);
#endif
}

static void split(MPI_Comm* comm) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, comm);
}

static void tell(void) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) puts(mistakes == 0 ? "a right end" : "a wrong end");
  fflush(stdout);
}

/* Inside MPI_Finalize: calls on communicators that are there, and on new ones. */
static int use_all(MPI_Comm self, int key, void* value, void* extra) {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm part = MPI_COMM_NULL;
  make_calls(MPI_COMM_WORLD);
  make_calls(reversed);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  make_calls(copy);
  MPI_Comm_free(&copy);
  split(&part);
  make_calls(part);
  MPI_Comm_free(&part);
  MPI_Comm_free(&reversed);
  tell();
  return MPI_SUCCESS;
}

static int end_call(MPI_Comm self, int key, void* value, void* extra) {
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_sum(MPI_COMM_WORLD);
  tell();
  return MPI_SUCCESS;
}

static void set_attribute(MPI_Comm_delete_attr_function* at_end) {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}

/* A child that ends by exit() runs the handlers of this process, too. */
static void fork_child(void) {
  int status = 0;
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, reversed, &request);
  const pid_t child = fork();
  if (child == 0) exit(0);
  waitpid(child, &status, 0);
  if (status != 0) ++mistakes;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_sum(reversed);
  make_calls(reversed);
}

static void finalize(void) {
  int is_finalized = 0;
  MPI_Initialized(&is_finalized);
  if (!is_finalized) return;
  MPI_Finalized(&is_finalized);
  if (!is_finalized) MPI_Finalize();
}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  split(&reversed);
  if (strcmp(way, "in_attribute") == 0) {
    set_attribute(use_all);
  } else if (strcmp(way, "outstanding") == 0) {
    set_attribute(end_call);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  } else {
    make_calls(reversed);
    if (strcmp(way, "fork") == 0) fork_child();
    tell();
    if (strcmp(way, "exit") == 0) {
      atexit(finalize);
      exit(0);
    }
  }
  MPI_Finalize();
  return 0;
}
