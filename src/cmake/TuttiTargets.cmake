# Flags that every target of this project shares: tutti_warnings (private) and tutti_arch (private).
add_library(tutti_warnings INTERFACE)
target_compile_options(tutti_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-Wno-sign-conversion;$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-restrict>>
  $<$<COMPILE_LANGUAGE:C>:-Wall;-Wextra;-Wpedantic;-Wshadow>)
if(TUTTI_ENABLE_WERROR)
  target_compile_options(tutti_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX,C>:-Werror>)
endif()

add_library(tutti_arch INTERFACE)
# Sums must not depend on whether a compiler fuses them (reproducible mode).
target_compile_options(tutti_arch INTERFACE $<$<COMPILE_LANGUAGE:CXX,C>:-ffp-contract=off>)
if(TUTTI_ENABLE_NATIVE_ARCH)
  target_compile_options(tutti_arch INTERFACE $<$<COMPILE_LANGUAGE:CXX,C>:-march=native>)
endif()
