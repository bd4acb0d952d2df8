# HYPER_NATIVE: ggml's CPU backend, compiled for the very processor of this machine. The prebuilt ones
# are compiled for a few kinds of processors, and take over wherever this one does not fit:
#   native/libggml-cpu.so   in the build folder; installed into lib/hyper/native/
#   native/processor        features of the processor that it was compiled on, as /proc/cpuinfo has
#                           them: on any other, src/engine/llama/native_backend.cc leaves it alone
# Compiled out of the pinned sources as they are but for one loop; native/visible_cells.h says why.
option(HYPER_NATIVE "Compile ggml's CPU backend for this processor (release builds on x86-64)" ON)
if(NOT HYPER_NATIVE OR NOT HYPER_LLAMA STREQUAL "prebuilt" OR NOT CMAKE_BUILD_TYPE STREQUAL "Release"
   OR HYPER_SANITIZE OR HYPER_FUZZ OR CMAKE_CROSSCOMPILING
   OR NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" OR NOT EXISTS /proc/cpuinfo)
  return()
endif()

set(HYPER_NATIVE_DIR ${CMAKE_BINARY_DIR}/native)
file(STRINGS /proc/cpuinfo features REGEX "^flags" LIMIT_COUNT 1)
string(REGEX REPLACE "^flags[^:]*: *" "" features "${features}")
string(STRIP "${features}" features)
string(SHA256 features_id "${features}")
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/CMakeFiles/native/processor CONTENT "${features}\n" @ONLY)

set(cpu ${HYPER_LLAMA_TREE}/ggml/src/ggml-cpu)
set(patched ${CMAKE_BINARY_DIR}/CMakeFiles/native/ops.cpp)
file(READ ${cpu}/ops.cpp text)
set(loop "for (int64_t ic = ic_start; ic < ic_end; ++ic) {\n            const float mv = mp ?")
string(FIND "${text}" "${loop}" first)
string(FIND "${text}" "${loop}" last REVERSE)
if(first EQUAL -1 OR NOT first EQUAL last)
  message(FATAL_ERROR "ggml's attention (${cpu}/ops.cpp) is not what cmake/HyperNative.cmake expects; "
    "leave HYPER_NATIVE out")
endif()
string(REPLACE "${loop}" "for (int64_t ic = hyper_visible_cell(mp, ic_start, ic_end); ic < ic_end; \
ic = hyper_visible_cell(mp, ic + 1, ic_end)) {\n            const float mv = mp ?" text "${text}")
file(CONFIGURE OUTPUT ${patched} CONTENT "#include \"visible_cells.h\"\n${text}" @ONLY)

add_library(hyper_native MODULE ${patched} ${cpu}/ggml-cpu.c ${cpu}/ggml-cpu.cpp ${cpu}/repack.cpp
  ${cpu}/iqp.cpp ${cpu}/hbm.cpp ${cpu}/quants.c ${cpu}/traits.cpp ${cpu}/amx/amx.cpp
  ${cpu}/amx/mmq.cpp ${cpu}/binary-ops.cpp ${cpu}/unary-ops.cpp ${cpu}/vec.cpp
  ${cpu}/llamafile/sgemm.cpp ${cpu}/arch/x86/quants.c ${cpu}/arch/x86/repack.cpp)
target_include_directories(hyper_native PRIVATE ${CMAKE_SOURCE_DIR}/cmake/native ${cpu}
  ${HYPER_LLAMA_TREE}/ggml/src ${HYPER_LLAMA_TREE}/ggml/include)
target_compile_definitions(hyper_native PRIVATE _GNU_SOURCE NDEBUG GGML_BACKEND_DL
  GGML_BACKEND_BUILD GGML_BACKEND_SHARED GGML_USE_CPU_REPACK GGML_USE_LLAMAFILE
  HYPER_COMPILED_ON="${features_id}")  # another processor: compile again
target_compile_options(hyper_native PRIVATE -w -O3 -march=native)
set_target_properties(hyper_native PROPERTIES CXX_STANDARD 17 CXX_EXTENSIONS ON
  OUTPUT_NAME ggml-cpu LIBRARY_OUTPUT_DIRECTORY ${HYPER_NATIVE_DIR} NO_SONAME ON
  BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/..")
target_link_libraries(hyper_native PRIVATE
  ${HYPER_DEPS_DIR}/llama/${HYPER_LLAMA_VARIANT}/libggml-base.so Threads::Threads m)
add_custom_command(TARGET hyper_native POST_BUILD COMMAND ${CMAKE_COMMAND} -E copy
  ${CMAKE_BINARY_DIR}/CMakeFiles/native/processor ${HYPER_NATIVE_DIR}/processor)
