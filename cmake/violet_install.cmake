# Installation: headers, libviolet.a, a CMake package (violet::violet) and violet.pc.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(violet_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/violet")

install(TARGETS violet EXPORT violetTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/src/violet/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/violet"
  FILES_MATCHING PATTERN "*.h")
install(EXPORT violetTargets NAMESPACE violet:: DESTINATION "${violet_package_dir}")

# What violet_needs() collected, once as calls for the CMake package and once as the Requires line of pkg-config.
get_property(needs GLOBAL PROPERTY VIOLET_NEEDS)
list(REMOVE_DUPLICATES needs)
set(VIOLET_FIND_NEEDS "")
set(VIOLET_PC_REQUIRES "")
foreach(need IN LISTS needs)
  string(REPLACE "|" ";" need "${need}")
  list(GET need 0 prefix)
  list(GET need 1 module)
  string(APPEND VIOLET_FIND_NEEDS "violet_find_module(${prefix} \"${module}\")\n")
  string(REGEX REPLACE "([<>]?=)" " \\1 " module "${module}")
  list(APPEND VIOLET_PC_REQUIRES "${module}")
endforeach()
list(JOIN VIOLET_PC_REQUIRES ", " VIOLET_PC_REQUIRES)

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/violetConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/violetConfig.cmake" INSTALL_DESTINATION "${violet_package_dir}"
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Before 1.0 a minor version may change the API.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/violetConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/violetConfig.cmake" "${PROJECT_BINARY_DIR}/violetConfigVersion.cmake"
  DESTINATION "${violet_package_dir}")

# The .pc file finds its prefix from its own place, so an installed tree can be moved.
file(RELATIVE_PATH VIOLET_PC_TO_PREFIX
  "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" VIOLET_PC_TO_PREFIX "${VIOLET_PC_TO_PREFIX}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/violet.pc.in" "${PROJECT_BINARY_DIR}/violet.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/violet.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
