# HYPER_NATIVE: ggml's CPU backend, compiled for the very processor of this machine. The prebuilt ones
# are compiled for a few kinds of processors, and take over wherever this one does not fit:
#   native/libggml-cpu.so   in the build folder; installed into lib/hyper/native/
#   native/processor        features of the processor that it was compiled on, as /proc/cpuinfo has
#                           them: on any other, src/engine/llama/native_backend.cc leaves it alone
# Compiled out of the pinned sources with five changes; the patches in cmake/native say why.
option(HYPER_NATIVE "Compile ggml's CPU backend for this processor (release builds on x86-64)" ON)
set(HYPER_NATIVE_MARCH native CACHE STRING "-march of that backend, which this processor must have")
if(NOT HYPER_NATIVE OR NOT HYPER_LLAMA STREQUAL "prebuilt" OR NOT CMAKE_BUILD_TYPE STREQUAL "Release"
   OR HYPER_SANITIZE OR HYPER_FUZZ OR CMAKE_CROSSCOMPILING
   OR NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" OR NOT EXISTS /proc/cpuinfo)
  return()
endif()

set(HYPER_NATIVE_DIR ${CMAKE_BINARY_DIR}/native)
file(STRINGS /proc/cpuinfo features REGEX "^flags" LIMIT_COUNT 1)
string(REGEX REPLACE "^flags[^:]*: *" "" features "${features}")
string(STRIP "${features}" features)
# ggml's kernels for the tiles of AMX crash on some types (Q4_1) when compiled here, and without them a
# quantised model has a third of the prebuilt backend's speed (docs/performance.md).
if(features MATCHES "amx_tile")
  file(REMOVE_RECURSE ${HYPER_NATIVE_DIR})  # of an earlier version
  return()
endif()
string(SHA256 features_id "${features}")
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/CMakeFiles/native/processor CONTENT "${features}\n" @ONLY)

set(cpu ${HYPER_LLAMA_TREE}/ggml/src/ggml-cpu)
set(own ${CMAKE_SOURCE_DIR}/cmake/native)
set(patches ${own}/visible-cells.patch ${own}/batch-rows.patch ${own}/half-experts.patch
  ${own}/pool-attention.patch ${own}/sleeping-barrier.patch)
set(changed ops.cpp vec.h repack.cpp traits.cpp ggml-cpu.c)  # by the patches
set(HYPER_NATIVE_SOURCES ${CMAKE_BINARY_DIR}/CMakeFiles/native/src)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${patches})
find_package(Git QUIET)
if(NOT GIT_FOUND)
  message(FATAL_ERROR "git was not found. It applies the patches to ggml's CPU backend for this "
    "machine: install it, or leave that backend out with -DHYPER_NATIVE=OFF")
endif()
# In a folder of its own first, so that only a changed result is compiled again.
file(REAL_PATH ${CMAKE_BINARY_DIR}/CMakeFiles/native native)
set(patched ${native}/patched)
file(REMOVE_RECURSE ${patched})
list(TRANSFORM changed PREPEND ${cpu}/ OUTPUT_VARIABLE originals)
file(COPY ${originals} DESTINATION ${patched}/ggml/src/ggml-cpu)
# Were git to find a repository above this folder, it would skip the files, which are none of its own.
execute_process(COMMAND ${CMAKE_COMMAND} -E env GIT_CEILING_DIRECTORIES=${native}
    ${GIT_EXECUTABLE} apply ${patches}
  WORKING_DIRECTORY ${patched} RESULT_VARIABLE result ERROR_VARIABLE reason)
file(MAKE_DIRECTORY ${HYPER_NATIVE_SOURCES})
foreach(file ${changed})
  file(STRINGS ${patched}/ggml/src/ggml-cpu/${file} applied
    REGEX "ggml_vec_find_unmasked_f16|batch_rows|GGML_BARRIER_SPINS")
  if(NOT result EQUAL 0 OR NOT applied)
    message(FATAL_ERROR "${own}/*.patch do not apply to ${cpu}/${file}:\n${reason}"
      "Write them anew for this llama.cpp, or leave them out with -DHYPER_NATIVE=OFF")
  endif()
  file(COPY_FILE ${patched}/ggml/src/ggml-cpu/${file} ${HYPER_NATIVE_SOURCES}/${file}
    ONLY_IF_DIFFERENT)
endforeach()

# The backend with other instructions, in a folder of its own.
function(hyper_native_library name march folder)
  add_library(${name} MODULE ${HYPER_NATIVE_SOURCES}/ops.cpp ${HYPER_NATIVE_SOURCES}/repack.cpp
    ${own}/batch_rows.cc ${own}/pool_attention.cc ${HYPER_NATIVE_SOURCES}/ggml-cpu.c ${cpu}/ggml-cpu.cpp
    ${cpu}/iqp.cpp ${cpu}/hbm.cpp ${cpu}/quants.c ${HYPER_NATIVE_SOURCES}/traits.cpp
    ${cpu}/amx/amx.cpp ${cpu}/amx/mmq.cpp ${cpu}/binary-ops.cpp ${cpu}/unary-ops.cpp ${cpu}/vec.cpp
    ${cpu}/llamafile/sgemm.cpp ${cpu}/arch/x86/quants.c ${cpu}/arch/x86/repack.cpp)
  target_include_directories(${name} PRIVATE ${own} ${cpu}
    ${HYPER_LLAMA_TREE}/ggml/src ${HYPER_LLAMA_TREE}/ggml/include)
  target_compile_definitions(${name} PRIVATE _GNU_SOURCE NDEBUG GGML_BACKEND_DL
    GGML_BACKEND_BUILD GGML_BACKEND_SHARED GGML_USE_CPU_REPACK GGML_USE_LLAMAFILE
    HYPER_COMPILED_ON="${features_id}")  # another processor: compile again
  target_compile_options(${name} PRIVATE -w -O3 -march=${march})
  set_target_properties(${name} PROPERTIES CXX_STANDARD 20 CXX_EXTENSIONS ON
    OUTPUT_NAME ggml-cpu LIBRARY_OUTPUT_DIRECTORY ${folder} NO_SONAME ON
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/..")
  target_link_libraries(${name} PRIVATE
    ${HYPER_DEPS_DIR}/llama/${HYPER_LLAMA_VARIANT}/libggml-base.so Threads::Threads m)
endfunction()

hyper_native_library(hyper_native ${HYPER_NATIVE_MARCH} ${HYPER_NATIVE_DIR})
add_custom_command(TARGET hyper_native POST_BUILD COMMAND ${CMAKE_COMMAND} -E copy
  ${CMAKE_BINARY_DIR}/CMakeFiles/native/processor ${HYPER_NATIVE_DIR}/processor)
# The kernels for AVX2, for tests on a machine that has AVX-512, and for callgrind, which knows none.
if(HYPER_TESTS AND HYPER_NATIVE_MARCH STREQUAL "native" AND features MATCHES "avx2"
   AND features MATCHES "fma" AND features MATCHES "f16c")
  hyper_native_library(hyper_native_avx2 haswell ${CMAKE_BINARY_DIR}/native-avx2)
endif()
