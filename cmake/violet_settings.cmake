# Compiler settings that hold for every target of the project; users of the installed library see none of them.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(UV REQUIRED IMPORTED_TARGET libuv>=1.44)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()

add_library(violet_settings INTERFACE)
target_compile_options(violet_settings INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual -Wimplicit-fallthrough -Werror=return-type
  $<$<CXX_COMPILER_ID:Clang>:-Wno-missing-designated-field-initializers>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-missing-field-initializers -fcoroutines>)

if(VIOLET_SANITIZE)
  add_compile_options(-fsanitize=${VIOLET_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${VIOLET_SANITIZE})
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Debug" OR VIOLET_SANITIZE)
  add_compile_definitions(VIOLET_ASSERTIONS=1)
endif()
