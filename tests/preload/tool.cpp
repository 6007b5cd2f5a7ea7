// SPDX-License-Identifier: BSD-3-Clause
// A tool that is loaded before libtutti-mpi and hands the calls that start and complete requests to the MPI's PMPI_
// functions, past it. It leaves the collectives alone, as one of the time of MPI 3 does with those that came later.
#include <mpi.h>

extern "C" {

int MPI_Wait(MPI_Request* request, MPI_Status* status) { return PMPI_Wait(request, status); }
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  return PMPI_Waitall(count, requests, statuses);
}
int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  return PMPI_Waitany(count, requests, index, status);
}
int MPI_Waitsome(int count, MPI_Request requests[], int* number, int indices[], MPI_Status statuses[]) {
  return PMPI_Waitsome(count, requests, number, indices, statuses);
}
int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) { return PMPI_Test(request, flag, status); }
int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  return PMPI_Testall(count, requests, flag, statuses);
}
int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  return PMPI_Testany(count, requests, index, flag, status);
}
int MPI_Testsome(int count, MPI_Request requests[], int* number, int indices[], MPI_Status statuses[]) {
  return PMPI_Testsome(count, requests, number, indices, statuses);
}
#ifdef TUTTI_TEST_TOOL_ASKS
void tutti_test_tool_asks() {}  // programs look for it
int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  return PMPI_Request_get_status(request, flag, status);
}
#endif
int MPI_Start(MPI_Request* request) { return PMPI_Start(request); }
int MPI_Startall(int count, MPI_Request requests[]) { return PMPI_Startall(count, requests); }
int MPI_Request_free(MPI_Request* request) { return PMPI_Request_free(request); }
}
