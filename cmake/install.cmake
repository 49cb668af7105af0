# What `cmake --install` puts where: the library with its headers, how CMake and pkg-config find it, and `ff`.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS flowfabric EXPORT flowfabric-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS ff RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/flowfabric DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/flowfabric)
install(EXPORT flowfabric-targets NAMESPACE flowfabric:: DESTINATION ${package_folder})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/flowfabric-config.cmake.in
  ${PROJECT_BINARY_DIR}/package/flowfabric-config.cmake INSTALL_DESTINATION ${package_folder})
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/flowfabric-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/flowfabric-config.cmake
  ${PROJECT_BINARY_DIR}/package/flowfabric-config-version.cmake DESTINATION ${package_folder})

# The .pc file finds its prefix from where it lies, so that an installed tree may be moved.
file(RELATIVE_PATH pc_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/flowfabric.pc.in ${PROJECT_BINARY_DIR}/package/flowfabric.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/flowfabric.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
