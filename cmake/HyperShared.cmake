# The shared libraries that are installed: libhyper, with all that hyper::Ask and the C interface
# need, and libhyper_remote, the engine over servers, which alone needs curl. They export what the
# headers of include/hyper declare (tests/exports_test.sh).

# hyper_shared(NAME part...): one shared library out of the parts.
function(hyper_shared name)
  add_library(${name} SHARED)
  foreach(part IN LISTS ARGN)
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:${part}>)
    get_target_property(outside ${part} HYPER_OUTSIDE)
    foreach(library IN LISTS outside)
      target_link_libraries(${name} PRIVATE hyper_outside_${library})
    endforeach()
  endforeach()
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_link_options(${name} PRIVATE
    LINKER:--version-script=${CMAKE_SOURCE_DIR}/cmake/exported.map LINKER:--exclude-libs,ALL
    LINKER:--no-undefined LINKER:--as-needed)
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX
    LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/exported.map VERSION ${PROJECT_VERSION} SOVERSION 0)
endfunction()

hyper_shared(hyper hyper_base hyper_core hyper_answer hyper_extract hyper_engine_fake hyper_engine_llama hyper_decode
  hyper_report hyper_capi)
target_link_libraries(hyper PRIVATE Threads::Threads)
# What it shares with libhyper comes from there; what libhyper keeps to itself is linked in.
hyper_shared(hyper_remote hyper_engine_remote)
target_link_libraries(hyper_remote PUBLIC hyper PRIVATE hyper_engine_remote)
