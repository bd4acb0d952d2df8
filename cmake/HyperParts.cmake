# The parts of the project and their borders, which the compiler checks:
#   - A part sees its own folder and those of the parts that it links: each part has an include root
#     below <build>/borders, which shows its folder and its public headers and nothing else.
#   - An outside library belongs to the parts that name it under OUTSIDE. For all others its headers
#     are an #error.

# hyper_root(NAME PATH...): the include root NAME, in which each path of the source tree appears as
# what it is relative to the source tree or, for headers, to include/.
function(hyper_root name)
  set(root ${CMAKE_BINARY_DIR}/borders/${name})
  file(REMOVE_RECURSE ${root})
  foreach(path IN LISTS ARGN)
    string(REGEX REPLACE "^include/" "" shown ${path})
    cmake_path(GET shown PARENT_PATH folder)
    file(MAKE_DIRECTORY ${root}/${folder})
    file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${path} ${root}/${shown} SYMBOLIC)
  endforeach()
endfunction()

# hyper_outside(NAME TARGET [HEADER...]): the library TARGET, which parts name as OUTSIDE NAME. A
# HEADER lies in a system folder, which every compiler looks into; where it has a folder of its own,
# all headers there are meant. Other headers are hidden by not being on the path.
function(hyper_outside name target)
  add_library(hyper_outside_${name} INTERFACE)
  target_link_libraries(hyper_outside_${name} INTERFACE ${target})
  if(NOT ARGN)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY HYPER_OUTSIDE ${name})
  set(closed ${CMAKE_BINARY_DIR}/borders/without-${name})
  file(CONFIGURE OUTPUT ${closed}.h CONTENT
    "#error \"this header is for parts that name OUTSIDE ${name} in their CMakeLists.txt\"\n")
  foreach(header IN LISTS ARGN)
    cmake_path(GET header PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER HYPER_FOLDER_OF_${header} variable)
    find_path(${variable} ${header} REQUIRED)
    mark_as_advanced(${variable})
    set(found ${${variable}})
    set(headers ${found}/${header})
    if(folder)
      file(GLOB headers ${found}/${folder}/*.h ${found}/${folder}/*.hpp)
    endif()
    file(MAKE_DIRECTORY ${closed}/${folder})
    foreach(path IN LISTS headers)
      cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${found})
      file(CREATE_LINK ${closed}.h ${closed}/${path} SYMBOLIC)
    endforeach()
  endforeach()
endfunction()

# hyper_use(TARGET LINK part... OUTSIDE name...): what the target may include, and links.
function(hyper_use target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK;OUTSIDE")
  target_link_libraries(${target} PUBLIC ${arg_LINK})
  foreach(name IN LISTS arg_OUTSIDE)
    target_link_libraries(${target} PRIVATE hyper_outside_${name})
  endforeach()
endfunction()

# hyper_part(NAME
#   SOURCES x.cc...          below the folder of the CMakeLists.txt that calls
#   HEADERS x.h...           headers of include/hyper that this part implements
#   LINK hyper_core...       parts that it may include; who links this one may include them too
#   OUTSIDE curl...          libraries of cmake/HyperOutside.cmake
#   WITHOUT http             a folder in this one that is a part of its own
#   BUNDLE 6)                with HYPER_UNITY, sources are compiled so many at a time
# The static library of one part. Nothing of it leaves a shared library but what public headers
# declare.
function(hyper_part name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "BUNDLE;WITHOUT" "SOURCES;HEADERS;LINK;OUTSIDE")
  add_library(${name} STATIC ${arg_SOURCES})
  set(folder ${CMAKE_CURRENT_SOURCE_DIR})
  cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
  if(arg_WITHOUT)
    file(GLOB folder CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/*)
    list(FILTER folder EXCLUDE REGEX "/${arg_WITHOUT}$")
  endif()
  list(TRANSFORM arg_HEADERS PREPEND include/hyper/)
  hyper_root(${name} ${folder} ${arg_HEADERS})
  target_include_directories(${name} PUBLIC ${CMAKE_BINARY_DIR}/borders/${name})
  hyper_use(${name} LINK ${arg_LINK} OUTSIDE ${arg_OUTSIDE})
  set_target_properties(${name} PROPERTIES HYPER_OUTSIDE "${arg_OUTSIDE}"
    CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  get_property(closed GLOBAL PROPERTY HYPER_OUTSIDE)
  list(REMOVE_ITEM closed none ${arg_OUTSIDE})
  list(TRANSFORM closed PREPEND ${CMAKE_BINARY_DIR}/borders/without-)
  target_include_directories(${name} BEFORE PRIVATE ${closed})
  if(arg_BUNDLE)
    hyper_bundle(${name} ${arg_BUNDLE})
  endif()
endfunction()

# hyper_bundle(TARGET SIZE): with HYPER_UNITY, compiles the target's sources SIZE at a time. Headers
# that are most of a file's cost are then read once for all: half the time of a sanitizer build.
function(hyper_bundle target size)
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ${HYPER_UNITY} UNITY_BUILD_BATCH_SIZE ${size})
endfunction()

# hyper_glue(TARGET): optimises a release build of the target lightly, which saves a third of its
# build time: glue such as flags and HTTP, where no time of a run is spent.
function(hyper_glue target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# hyper_tests(NAME x_test.cc... [LINK target...]): one test program, linked with parts and helpers.
function(hyper_tests name)
  if(NOT HYPER_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK")
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE hyper_tests_root ${arg_LINK} GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE HYPER_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  # What is tested lies in the parts; optimising the tests too costs a third of the build time.
  target_compile_options(${name} PRIVATE -O0)
  hyper_bundle(${name} 5)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300)
endfunction()
