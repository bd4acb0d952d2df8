# Provides llama.cpp however it comes (docs/building.md has the whole story):
#   HYPER_LLAMA=prebuilt  pinned npm packages (default); HYPER_LLAMA_VARIANT picks CPU, CUDA, Vulkan
#   HYPER_LLAMA=source    builds HYPER_LLAMA_SOURCE (default: the pinned tree); GGML_* pass through
#   HYPER_LLAMA=system    find_package(llama) of an installed llama.cpp
# Gives the target hyper_llama (headers and libraries); HYPER_LLAMA_TREE, its sources, with the
# libraries that it vendors; HYPER_LLAMA_INSTALL_FILES and HYPER_LLAMA_INSTALL_TARGETS, what an
# installed hyper needs beside it.
set(HYPER_LLAMA_VARIANT "linux-x64" CACHE STRING
  "Prebuilt package: linux-x64, linux-x64-cuda, linux-x64-vulkan or linux-arm64")
set(HYPER_LLAMA_SOURCE "" CACHE PATH
  "llama.cpp checkout for HYPER_LLAMA=source and the headers of =system; empty: the pinned tree")

# Fetches what is missing of the pinned tree and, where VARIANT is not "none", its libraries.
function(hyper_fetch_llama variant)
  execute_process(
    COMMAND ${CMAKE_SOURCE_DIR}/scripts/fetch-llama.sh ${HYPER_DEPS_DIR}/llama ${variant}
    RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "llama.cpp could not be fetched (the reason is above). The build needs npm "
      "and the network once; later builds are offline. HYPER_LLAMA=source with "
      "HYPER_LLAMA_SOURCE=<checkout> needs neither.")
  endif()
endfunction()

# Builds `tree` as llama.cpp's own CMake would, without our flags. Only what hyper links is built.
function(hyper_add_llama_source tree)
  set(CMAKE_CXX_STANDARD 17)
  set(BUILD_SHARED_LIBS ON)
  set(LLAMA_BUILD_COMMON ON CACHE BOOL "" FORCE)
  foreach(part TESTS TOOLS EXAMPLES SERVER APP)
    set(LLAMA_BUILD_${part} OFF CACHE BOOL "Build llama.cpp's ${part} too")
  endforeach()
  set(LLAMA_OPENSSL OFF CACHE BOOL "hyper fetches no models through llama.cpp")
  set(LLAMA_ALL_WARNINGS OFF CACHE BOOL "Warnings of llama.cpp's own sources")
  add_subdirectory(${tree} ${CMAKE_BINARY_DIR}/llama EXCLUDE_FROM_ALL)
  if(GGML_RPC AND NOT TARGET ggml-rpc-server)  # for the other hosts of --rpc
    add_subdirectory(${tree}/tools/rpc ${CMAKE_BINARY_DIR}/llama-rpc EXCLUDE_FROM_ALL)
  endif()
endfunction()

set(HYPER_LLAMA_TREE ${HYPER_LLAMA_SOURCE})
set(HYPER_LLAMA_INSTALL_FILES "")
set(HYPER_LLAMA_INSTALL_TARGETS "")
if(HYPER_LLAMA STREQUAL "prebuilt")
  hyper_fetch_llama(${HYPER_LLAMA_VARIANT})
  set(HYPER_LLAMA_TREE "")
elseif(NOT HYPER_LLAMA_TREE AND HYPER_LLAMA MATCHES "^(source|system)$")
  hyper_fetch_llama(none)
endif()
if(NOT HYPER_LLAMA_TREE)
  set(HYPER_LLAMA_TREE ${HYPER_DEPS_DIR}/llama/src)
endif()
if(NOT EXISTS ${HYPER_LLAMA_TREE}/include/llama.h)
  message(FATAL_ERROR "HYPER_LLAMA_SOURCE is '${HYPER_LLAMA_TREE}', which has no include/llama.h; "
    "it takes the folder of a llama.cpp checkout")
endif()

add_library(hyper_llama INTERFACE)
target_include_directories(hyper_llama SYSTEM INTERFACE
  ${HYPER_LLAMA_TREE}/common ${HYPER_LLAMA_TREE}/vendor)

if(HYPER_LLAMA STREQUAL "prebuilt")
  set(bins ${HYPER_DEPS_DIR}/llama/${HYPER_LLAMA_VARIANT})
  target_include_directories(hyper_llama SYSTEM INTERFACE
    ${HYPER_LLAMA_TREE}/include ${HYPER_LLAMA_TREE}/ggml/include)
  # libllama.v0.4.0.so, libllama.cuda.v0.4.0.so, ...: the name depends on the variant.
  file(GLOB linked ${bins}/libllama-common.so ${bins}/libllama.*.so
    ${bins}/libggml.*.so ${bins}/libggml-base.so)
  target_link_libraries(hyper_llama INTERFACE ${linked})
  file(GLOB HYPER_LLAMA_INSTALL_FILES ${bins}/*.so ${bins}/LICENSE*)
elseif(HYPER_LLAMA STREQUAL "source")
  hyper_add_llama_source(${HYPER_LLAMA_TREE})
  target_include_directories(hyper_llama SYSTEM INTERFACE
    ${HYPER_LLAMA_TREE}/include ${HYPER_LLAMA_TREE}/ggml/include)
  target_link_libraries(hyper_llama INTERFACE llama-common llama ggml)
  foreach(target llama-common llama ggml ggml-base ${GGML_AVAILABLE_BACKENDS})
    if(TARGET ${target})
      set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN")
      list(APPEND HYPER_LLAMA_INSTALL_TARGETS ${target})
    endif()
  endforeach()
  # With GGML_BACKEND_DL the backends are modules, which nothing links.
  add_dependencies(hyper_llama ${HYPER_LLAMA_INSTALL_TARGETS})
elseif(HYPER_LLAMA STREQUAL "system")
  find_package(llama REQUIRED)
  # llama.cpp installs this library, but neither its headers nor a target for it.
  find_library(HYPER_LLAMA_COMMON NAMES llama-common
    HINTS ${LLAMA_LIB_DIR} ${llama_DIR}/../.. REQUIRED)
  target_link_libraries(hyper_llama INTERFACE ${HYPER_LLAMA_COMMON} llama)
else()
  message(FATAL_ERROR "HYPER_LLAMA is '${HYPER_LLAMA}'; it takes prebuilt, source or system")
endif()
