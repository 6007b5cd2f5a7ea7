// SPDX-License-Identifier: BSD-3-Clause
// Stands for a tool of NVIDIA's: NVTX loads it (NVTX_INJECTION64_PATH), and it prints the ranges that it is told of.
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>

static int push(const char* name) {
  fprintf(stderr, "NVTX begins %s\n", name);
  return 0;
}

static int pop(void) {
  fprintf(stderr, "NVTX ends one\n");
  return 0;
}

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t table_of);

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t table_of) {
  const NvtxExportTableCallbacks* callbacks = table_of(NVTX_ETID_CALLBACKS);
  NvtxFunctionTable table = NULL;
  unsigned int size = 0;
  if (callbacks == NULL || callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0) return 0;
  *table[NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer)push;
  *table[NVTX_CBID_CORE_RangePop] = (NvtxFunctionPointer)pop;
  return 1;
}
