// SPDX-License-Identifier: BSD-3-Clause
// Mistakes of programs, one for each argument, and a program of many calls without any.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank;
static int size;

static void both_send(void) {
  int mine = rank;
  int theirs = -1;
  MPI_Send(&mine, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
  MPI_Recv(&theirs, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void one_without(void) {
  if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);
}

static void changed_buffer(void) {
  int values[4] = {1, 2, 3, 4};
  MPI_Request request;
  if (rank == 0) {
    MPI_Isend(values, 4, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    values[2] = 7;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(values, 4, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void changed_gift(void) {
  int values[4] = {1, 2, 3, 4};
  MPI_Request request;
  MPI_Ibcast(values, 4, MPI_INT, 0, MPI_COMM_WORLD, &request);
  if (rank == 0) values[3] = 7;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void early_receive(void) {
  int values[4] = {1, 2, 3, 4};
  MPI_Request request;
  if (rank == 1) {
    MPI_Irecv(values, 4, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    values[2] = 7;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(values, 4, MPI_INT, 1, 0, MPI_COMM_WORLD);
  }
}

// Of three starts, the buffer is used too early in the last.
static void early_start(void) {
  int values[4] = {1, 2, 3, 4};
  MPI_Request request;
  if (rank == 1) MPI_Recv_init(values, 4, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
  for (int i = 0; i < 3; ++i) {
    if (rank == 1) MPI_Start(&request);
    if (rank == 1 && i == 2) values[0] = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_Send(values, 4, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Wait(&request, MPI_STATUS_IGNORE);
    values[0] = 0;
  }
}

static void early_gift(void) {
  int values[4] = {1, 2, 3, 4};
  int sum[4] = {0};
  MPI_Request requests[2];
  MPI_Ibcast(values, 4, MPI_INT, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Iallreduce(values, sum, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
  if (rank == 1) sum[3] = 7;
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

// The message is received into memory that is still sent.
static void shared_memory(void) {
  int values[6] = {1, 2, 3, 4, 5, 6};
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Isend(values, 4, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(values + (rank == 0 ? 3 : 4), 2, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, statuses);
}

// Of three starts, the last one receives into memory that a collective still writes.
static void shared_start(void) {
  const int one = 1;
  int values[4] = {1, 2, 3, 4};
  MPI_Request request;
  MPI_Request sum = MPI_REQUEST_NULL;
  if (rank == 1) MPI_Recv_init(values, 4, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
  for (int i = 0; i < 3; ++i) {
    if (i == 2) MPI_Iallreduce(&one, values + 3, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &sum);
    if (rank == 1) MPI_Start(&request);
    if (rank == 0) MPI_Send(values, 3, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Wait(&sum, MPI_STATUS_IGNORE);
}

// A blocking broadcast of memory that is still received.
static void shared_gift(void) {
  int values[4] = {1, 2, 3, 4};
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 1) MPI_Irecv(values + 1, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
  MPI_Bcast(values, 4, MPI_INT, 1, MPI_COMM_WORLD);
  if (rank == 0) MPI_Send(values, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void other_root(void) {
  int value = rank;
  MPI_Bcast(&value, 1, MPI_INT, rank, MPI_COMM_WORLD);
}

static void other_op(void) {
  int value = rank;
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, rank == 2 ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
}

static void other_type(void) {
  float value = 1;
  MPI_Bcast(&value, 1, rank == 0 ? MPI_INT : MPI_FLOAT, 0, MPI_COMM_WORLD);
}

static void other_count(void) {
  const int mine[2] = {rank, rank};
  int all[8] = {0};
  const int count = rank == size - 1 ? 2 : 1;
  MPI_Gather(mine, count, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void other_form(void) {
  MPI_Request request;
  if (rank == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void other_order(void) {
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Barrier(rank == 0 ? copy : MPI_COMM_WORLD);
  MPI_Barrier(rank == 0 ? MPI_COMM_WORLD : copy);
  MPI_Comm_free(&copy);
}

static void other_message(void) {
  float value = 1;
  if (rank == 0)
    MPI_Send(&value, 1, MPI_FLOAT, 1, 5, MPI_COMM_WORLD);
  else
    MPI_Recv(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Of two messages, the one that is received second has another type.
static void other_request(void) {
  float values[2] = {1, 2};
  MPI_Request requests[2];
  MPI_Status statuses[2];
  for (int i = 0; i < 2; ++i)
    if (rank == 0)
      MPI_Isend(&values[i], 1, i == 0 ? MPI_FLOAT : MPI_INT, 1, 5, MPI_COMM_WORLD, &requests[i]);
    else
      MPI_Irecv(&values[i], 1, MPI_FLOAT, 0, 5, MPI_COMM_WORLD, &requests[i]);
  MPI_Wait(&requests[1], &statuses[1]);
  MPI_Wait(&requests[0], &statuses[0]);
}

static void lost_message(void) {
  static char room[1000];
  MPI_Buffer_attach(room, sizeof room);
  if (rank == 0) MPI_Bsend(&rank, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
  MPI_Buffer_detach(room, &size);
}

static void left_behind(void) {
  static int value;
  MPI_Comm copy;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  if (rank == 0) {
    MPI_Isend(&value, 1, MPI_INT, 1, 0, copy, &request);
  } else {
    MPI_Recv(&value, 1, MPI_INT, 0, 0, copy, MPI_STATUS_IGNORE);
  }
}

static void one_more(void) {
  MPI_Comm copy;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  if (rank == 0) MPI_Ibarrier(copy, &request);
}

// Ranks describe the same data by different types, and only the root gives what only the root must give.
static void by_other_types(MPI_Comm comm) {
  MPI_Datatype pair;
  int values[4] = {rank, rank, rank, rank};
  int all[16] = {0};
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Bcast(values, rank == 0 ? 4 : 2, rank == 0 ? MPI_INT : pair, 0, comm);
  if (rank == 0)
    MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, pair, 0, comm);
  else
    MPI_Gather(values, 2, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, 0, comm);
  MPI_Allgather(values, 1, pair, all, 2, MPI_INT, comm);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, pair, comm);
  MPI_Type_free(&pair);
}

// Block i of each rank has i + 1 elements.
static void by_blocks(MPI_Comm comm) {
  int values[16] = {0};
  int all[64] = {0};
  int counts[4], displs[4], equal[4];
  for (int i = 0; i < 4; ++i) {
    counts[i] = i + 1;
    displs[i] = 4 * i;
    equal[i] = rank + 1;
  }
  MPI_Allgatherv(values, counts[rank], MPI_INT, all, counts, displs, MPI_INT, comm);
  MPI_Alltoallv(values, counts, displs, MPI_INT, all, equal, displs, MPI_INT, comm);
  MPI_Reduce_scatter(all, values, counts, MPI_INT, MPI_SUM, comm);
  MPI_Scatterv(all, counts, displs, MPI_INT, values, counts[rank], MPI_INT, size - 1, comm);
  MPI_Exscan(values, all, 3, MPI_INT, MPI_MAX, comm);
}

// Rank 0 has blocks for all and the others for rank 0; beside the others' empty ones stands no type. In check mode the
// MPI may make the call, and Open MPI refuses it.
static void by_missing_types(MPI_Comm comm) {
#ifndef OPEN_MPI
  int values[16] = {0};
  int all[16] = {0};
  int counts[4], places[4];
  MPI_Datatype types[4];
  for (int i = 0; i < 4; ++i) {
    counts[i] = rank == 0 || i == 0;
    places[i] = 4 * i;
    types[i] = counts[i] ? MPI_INT : MPI_DATATYPE_NULL;
  }
  MPI_Alltoallw(values, counts, places, types, all, counts, places, types, comm);
#else
  (void)comm;
#endif
}

#if MPI_VERSION >= 4
// Types with more elements than an int has numbers, and those of constructors with large counts.
static void by_large_types(MPI_Comm comm) {
  enum { half = 1 << 30 };
  const int lengths[2] = {half, half};
  const int places[2] = {0, half + 1};
  int values[8] = {0};
  MPI_Datatype types[2];
  MPI_Request request;
  MPI_Type_indexed(2, lengths, places, MPI_CHAR, &types[0]);
  MPI_Type_vector(2, half, half + 1, MPI_CHAR, &types[1]);
  for (int i = 0; i < 2; ++i) MPI_Type_commit(&types[i]);
  MPI_Bcast_init(values, 1, types[rank % 2], 0, comm, MPI_INFO_NULL, &request);
  MPI_Request_free(&request);
  for (int i = 0; i < 2; ++i) MPI_Type_free(&types[i]);
  const MPI_Count large_lengths[2] = {1, 3};
  const MPI_Count large_places[2] = {0, 4};
  MPI_Type_vector_c(2, 2, 4, MPI_INT, &types[0]);
  MPI_Type_indexed_c(2, large_lengths, large_places, MPI_INT, &types[1]);
  for (int i = 0; i < 2; ++i) MPI_Type_commit(&types[i]);
  MPI_Bcast(values, 1, types[rank % 2], 0, comm);
  for (int i = 0; i < 2; ++i) MPI_Type_free(&types[i]);
}
#else
static void by_large_types(MPI_Comm comm) { (void)comm; }
#endif

// Messages and nonblocking collectives, which ranks make and complete in other orders.
static int by_requests(MPI_Comm comm) {
  MPI_Request requests[4];
  MPI_Status statuses[4];
  int theirs = -1;
  int value = 0;
  const int next = (rank + 1) % size;
  const int last = (rank + size - 1) % size;
  MPI_Comm copy;
  MPI_Comm_idup(comm, &copy, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Irecv(&theirs, 1, MPI_INT, last, 0, comm, &requests[0]);
  MPI_Isend(&rank, 1, MPI_INT, next, 0, comm, &requests[1]);
  if (rank % 2 == 0) {
    MPI_Ibarrier(comm, &requests[2]);
    MPI_Ibcast(&value, 1, MPI_INT, 0, copy, &requests[3]);
  } else {
    MPI_Ibcast(&value, 1, MPI_INT, 0, copy, &requests[3]);
    MPI_Ibarrier(comm, &requests[2]);
  }
  MPI_Waitall(4, requests, statuses);
  MPI_Send_init(&rank, 1, MPI_INT, next, 1, copy, &requests[0]);
  MPI_Recv_init(&value, 1, MPI_INT, last, 1, copy, &requests[1]);
  for (int i = 0; i < 3; ++i) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, statuses);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  MPI_Comm_free(&copy);
  return theirs == last && value == last;
}

// Receives that take any message, matched probes, and messages of pieces of a type.
static int by_wildcards(MPI_Comm comm) {
  const int next = (rank + 1) % size;
  const int last = (rank + size - 1) % size;
  double values[4] = {0, 0, 0, 0};
  int number = 0;
  MPI_Datatype pair;
  MPI_Message message;
  MPI_Request requests[3];
  MPI_Status statuses[3];
  MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
  MPI_Type_commit(&pair);
  MPI_Irecv(values, 2, pair, last, 7, comm, &requests[0]);
  MPI_Irecv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 8, comm, &requests[1]);
  const double sent[2] = {1.5, 2.5};
  MPI_Isend(sent, 2, MPI_DOUBLE, next, 7, comm, &requests[2]);
  MPI_Send(&rank, 1, MPI_INT, next, 8, comm);
  MPI_Waitall(3, requests, statuses);
  MPI_Isend(&rank, 1, MPI_INT, next, 9, comm, &requests[0]);
  MPI_Mprobe(MPI_ANY_SOURCE, 9, comm, &message, &statuses[0]);
  MPI_Mrecv(&number, 1, MPI_INT, &message, &statuses[0]);
  MPI_Wait(&requests[0], &statuses[0]);
  MPI_Sendrecv(sent, 1, pair, next, 7, values, 2, MPI_DOUBLE, last, MPI_ANY_TAG, comm, &statuses[0]);
  MPI_Sendrecv_replace(&number, 1, MPI_INT, last, 3, next, 3, comm, MPI_STATUS_IGNORE);
  char packed[64];
  int end = 0;
  MPI_Pack(sent, 2, MPI_DOUBLE, packed, sizeof packed, &end, comm);
  MPI_Sendrecv(packed, end, MPI_PACKED, next, 4, values, 1, pair, last, 4, comm, MPI_STATUS_IGNORE);
  MPI_Type_free(&pair);
  return number == rank && values[1] == 2.5;
}

// Receive buffers belong to the program again once it is told so; also by other calls than a wait.
static int by_early_ends(MPI_Comm comm) {
  const int next = (rank + 1) % size;
  const int last = (rank + size - 1) % size;
  int values[6] = {-1, -1, -1, -1, -1, -1};
  int flag = 0;
  int is_right = 1;
  MPI_Request receive, send;
  MPI_Status status;
  MPI_Irecv(&values[0], 2, MPI_INT, last, 1, comm, &receive);
  MPI_Isend(&rank, 1, MPI_INT, next, 1, comm, &send);
  while (!flag) MPI_Request_get_status(receive, &flag, MPI_STATUS_IGNORE);
  is_right = is_right && values[0] == last && values[1] == -1;
  values[0] = 100;
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  is_right = is_right && values[0] == 100;
  MPI_Wait(&send, MPI_STATUS_IGNORE);

  MPI_Irecv(&values[2], 1, MPI_INT, last, 2, comm, &receive);
  MPI_Request_free(&receive);
  MPI_Send(&rank, 1, MPI_INT, next, 2, comm);
  for (int all = 0; !all;) {
    const int mine = *(volatile int*)&values[2] == last;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm);
  }

  MPI_Irecv(&values[3], 1, MPI_INT, last, 3, comm, &receive);
  MPI_Cancel(&receive);
  MPI_Wait(&receive, &status);
  MPI_Test_cancelled(&status, &flag);
  return is_right && flag && values[3] == -1 && values[4] == -1;
}

// A receive that its message meets late, and in the middle of a long buffer.
static int by_late_messages(MPI_Comm comm) {
  static double in[3000];
  static double out[3000];
  MPI_Request requests[4];
  MPI_Status statuses[4];
  int index[4];
  int done = 0;
  for (int i = 0; i < 3000; ++i) out[i] = rank + i;
  for (int i = 0; i < 2; ++i)
    MPI_Irecv(&in[1500 * i], 1500, MPI_DOUBLE, (rank + size - 1) % size, 4 + i, comm, &requests[i]);
  MPI_Barrier(comm);
  for (int i = 0; i < 2; ++i)
    MPI_Isend(&out[1500 * i], 1500, MPI_DOUBLE, (rank + 1) % size, 4 + i, comm, &requests[2 + i]);
  while (done < 4) {
    int some = 0;
    MPI_Waitsome(4, requests, &some, index, statuses);
    done += some;
  }
  const double last = (rank + size - 1) % size;
  return in[0] == last && in[1499] == last + 1499 && in[2999] == last + 2999;
}

// Two calls may read the same memory, and a call may write memory beside that of another one.
static int by_shared_memory(MPI_Comm comm) {
  int in[3] = {-1, -1, -1};
  MPI_Request requests[4];
  MPI_Status statuses[4];
  MPI_Irecv(&in[0], 1, MPI_INT, (rank + size - 1) % size, 6, comm, &requests[0]);
  MPI_Irecv(&in[1], 1, MPI_INT, (rank + size - 1) % size, 6, comm, &requests[1]);
  for (int i = 0; i < 2; ++i) MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 6, comm, &requests[2 + i]);
  MPI_Allreduce(&rank, &in[2], 1, MPI_INT, MPI_MAX, comm);
  MPI_Waitall(4, requests, statuses);
  return in[0] == in[1] && in[2] == size - 1;
}

// Requests of files advance only while the MPI waits for them.
static int by_files(void) {
  char name[64];
  int value = rank;
  MPI_File file;
  MPI_Request request;
  MPI_Status status;
  snprintf(name, sizeof name, "preload_mistakes_%d_of_%d.tmp", rank, size);
  MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  MPI_File_iwrite_at_all(file, 0, &value, 1, MPI_INT, &request);
  MPI_Wait(&request, &status);
  value = -1;
  MPI_File_iread_at_all(file, 0, &value, 1, MPI_INT, &request);
  MPI_Wait(&request, &status);
  MPI_File_close(&file);
  return value == rank;
}

static void none(void) {
  MPI_Comm copy, half;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_split(copy, rank % 2, -rank, &half);
  by_other_types(copy);
  by_blocks(MPI_COMM_WORLD);
  by_missing_types(copy);
  by_large_types(copy);
  const int is_right = by_requests(copy) && by_wildcards(copy) && by_wildcards(MPI_COMM_WORLD) &&
                       by_late_messages(copy) && by_shared_memory(copy) && by_early_ends(copy) && by_files();
  MPI_Barrier(half);
  MPI_Comm_free(&half);
  MPI_Comm_free(&copy);
  if (rank == 0 && is_right) printf("no mistake\n");
}

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*run)(void);
  } all[] = {{"both_send", both_send},
             {"one_without", one_without},
             {"changed_buffer", changed_buffer},
             {"changed_gift", changed_gift},
             {"early_receive", early_receive},
             {"early_start", early_start},
             {"early_gift", early_gift},
             {"shared_memory", shared_memory},
             {"shared_start", shared_start},
             {"shared_gift", shared_gift},
             {"other_root", other_root},
             {"other_op", other_op},
             {"other_type", other_type},
             {"other_count", other_count},
             {"other_form", other_form},
             {"other_order", other_order},
             {"other_message", other_message},
             {"other_request", other_request},
             {"lost_message", lost_message},
             {"left_behind", left_behind},
             {"one_more", one_more},
             {"none", none}};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (size_t i = 0; argc > 1 && i < sizeof all / sizeof *all; ++i)
    if (strcmp(argv[1], all[i].name) == 0) all[i].run();
  MPI_Finalize();
  return 0;
}
