# Provides the target hyper_llama: llama.cpp's headers and libraries, however they come.
#   HYPER_LLAMA=prebuilt  pinned npm packages (default); HYPER_LLAMA_VARIANT picks CPU, CUDA, Vulkan
#   HYPER_LLAMA=source    builds HYPER_LLAMA_SOURCE (default: the pinned tree); GGML_* pass through
#   HYPER_LLAMA=system    find_package(llama) of an installed llama.cpp
set(HYPER_LLAMA_VARIANT "linux-x64" CACHE STRING "Prebuilt package: linux-x64, linux-x64-cuda, linux-x64-vulkan, linux-arm64")
set(HYPER_LLAMA_SOURCE "" CACHE PATH "llama.cpp checkout for HYPER_LLAMA=source; empty: the pinned tree")

execute_process(COMMAND ${CMAKE_SOURCE_DIR}/scripts/fetch-llama.sh ${HYPER_DEPS_DIR}/llama ${HYPER_LLAMA_VARIANT}
  RESULT_VARIABLE fetch_result)
if(NOT fetch_result EQUAL 0)
  message(FATAL_ERROR "llama.cpp could not be fetched (see above); "
    "it needs npm and network once, later builds are offline")
endif()
set(HYPER_LLAMA_TREE ${HYPER_DEPS_DIR}/llama/src)

add_library(hyper_llama INTERFACE)
# The single-header libraries that llama.cpp vendors (nlohmann/json, cpp-httplib): one copy for all.
add_library(hyper_vendor INTERFACE)
target_include_directories(hyper_vendor SYSTEM INTERFACE ${HYPER_LLAMA_TREE}/vendor)

if(HYPER_LLAMA STREQUAL "prebuilt")
  set(bins ${HYPER_DEPS_DIR}/llama/${HYPER_LLAMA_VARIANT})
  target_include_directories(hyper_llama SYSTEM INTERFACE
    ${HYPER_LLAMA_TREE}/include ${HYPER_LLAMA_TREE}/ggml/include ${HYPER_LLAMA_TREE}/common
    ${HYPER_LLAMA_TREE}/vendor)
  target_link_libraries(hyper_llama INTERFACE
    ${bins}/libllama-common.so ${bins}/libllama.v0.4.0.so ${bins}/libggml.v0.4.0.so ${bins}/libggml-base.so)
  set(HYPER_GGML_BACKEND_DIR ${bins})
  file(GLOB HYPER_LLAMA_LIBRARIES ${bins}/*.so)
elseif(HYPER_LLAMA STREQUAL "source")
  set(tree ${HYPER_LLAMA_SOURCE})
  if(NOT tree)
    set(tree ${HYPER_LLAMA_TREE})
  endif()
  set(LLAMA_BUILD_COMMON ON CACHE BOOL "" FORCE)
  set(LLAMA_BUILD_TESTS OFF CACHE BOOL "" FORCE)
  set(LLAMA_BUILD_EXAMPLES OFF CACHE BOOL "" FORCE)
  option(LLAMA_BUILD_TOOLS "Build llama.cpp's own tools too" OFF)
  option(LLAMA_BUILD_SERVER "Build llama-server too" OFF)
  set(LLAMA_CURL OFF CACHE BOOL "" FORCE)
  set(BUILD_SHARED_LIBS ON)
  add_subdirectory(${tree} ${CMAKE_BINARY_DIR}/llama EXCLUDE_FROM_ALL)
  if(TARGET llama-common)
    target_link_libraries(hyper_llama INTERFACE llama-common llama ggml)
  else()
    target_link_libraries(hyper_llama INTERFACE common llama ggml)
  endif()
  target_include_directories(hyper_llama SYSTEM INTERFACE ${tree}/common ${tree}/vendor)
  set(HYPER_GGML_BACKEND_DIR "")
elseif(HYPER_LLAMA STREQUAL "system")
  find_package(llama REQUIRED)
  target_link_libraries(hyper_llama INTERFACE llama llama-common)
  target_include_directories(hyper_llama SYSTEM INTERFACE ${HYPER_LLAMA_TREE}/vendor)
  set(HYPER_GGML_BACKEND_DIR "")
else()
  message(FATAL_ERROR "HYPER_LLAMA is '${HYPER_LLAMA}'; it takes prebuilt, source or system")
endif()
