/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that says it is NCCL, of TUTTI_TEST_VERSION, and has no other function. */
int ncclGetVersion(int* version);
int ncclGetVersion(int* version) {
  *version = TUTTI_TEST_VERSION;
  return 0;
}
