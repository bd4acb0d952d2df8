# `make install`: the program, the library, its headers, a CMake package, a pkg-config file, and the
# bundled model. The tree may be moved as a whole: everything finds the rest by relative paths.
#   bin/hyper   lib/libhyper.so, libhyper_remote.so   lib/hyper/: llama.cpp and
#   ggml's backends side by side, native/, the backend compiled on this machine, and libhyper_cbc.so
#   include/hyper/   share/hyper/models/   share/doc/hyper/   lib/cmake/hyper/   lib/pkgconfig/
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(private_libdir ${CMAKE_INSTALL_LIBDIR}/hyper)
file(RELATIVE_PATH bin_to_lib /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
# A llama.cpp of the system lies elsewhere: its folder is kept in the run path.
set_target_properties(hyper PROPERTIES INSTALL_RPATH "$ORIGIN/hyper")
set_target_properties(hyper_remote PROPERTIES INSTALL_RPATH "$ORIGIN;$ORIGIN/hyper" EXPORT_NAME remote)
if(HYPER_LLAMA STREQUAL "system")
  cmake_path(GET HYPER_LLAMA_COMMON PARENT_PATH llama_libdir)
  set_target_properties(hyper PROPERTIES INSTALL_RPATH "$ORIGIN/hyper;${llama_libdir}")
endif()
if(TARGET hyper_cli)
  set_target_properties(hyper_cli PROPERTIES
    INSTALL_RPATH "$ORIGIN/${bin_to_lib}/hyper")
  install(TARGETS hyper_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  # Completions and man pages.
  install(DIRECTORY ${CMAKE_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR})
endif()

install(TARGETS hyper hyper_remote EXPORT hyper LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/hyper DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
if(HYPER_LLAMA_INSTALL_FILES)
  install(FILES ${HYPER_LLAMA_INSTALL_FILES} DESTINATION ${private_libdir})
endif()
set_target_properties(hyper_cbc PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS hyper_cbc LIBRARY DESTINATION ${private_libdir})
if(TARGET hyper_native)
  install(TARGETS hyper_native LIBRARY DESTINATION ${private_libdir}/native)
  install(FILES ${HYPER_NATIVE_DIR}/processor DESTINATION ${private_libdir}/native)
endif()
if(HYPER_LLAMA_INSTALL_TARGETS)
  install(TARGETS ${HYPER_LLAMA_INSTALL_TARGETS}
    LIBRARY DESTINATION ${private_libdir} NAMELINK_SKIP
    ARCHIVE DESTINATION ${private_libdir} EXCLUDE_FROM_ALL
    PUBLIC_HEADER DESTINATION ${private_libdir} EXCLUDE_FROM_ALL)
endif()
file(GLOB models models/tinymath/*.gguf)
install(FILES ${models} DESTINATION ${CMAKE_INSTALL_DATADIR}/hyper/models)
# Documents and examples lie as in the source tree, so that the links between them hold.
install(FILES CHANGELOG.md LICENSE README.md THIRD_PARTY_NOTICES.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${HYPER_LLAMA_TREE}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR}
  RENAME LICENSE.llama.cpp)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hyper)
install(EXPORT hyper FILE hyperTargets.cmake NAMESPACE hyper:: DESTINATION ${package_dir})
configure_package_config_file(cmake/hyperConfig.cmake.in ${CMAKE_BINARY_DIR}/hyperConfig.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_DATADIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/hyperConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/hyperConfig.cmake ${CMAKE_BINARY_DIR}/hyperConfigVersion.cmake
  DESTINATION ${package_dir})

file(RELATIVE_PATH pkgconfig_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(name hyper hyper_remote)
  configure_file(cmake/${name}.pc.in ${CMAKE_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
