# Compiler settings that hold for every target of the project; users of the installed library see none of them.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_package(Threads REQUIRED GLOBAL)
find_package(PkgConfig REQUIRED)

# violet_needs(PREFIX MODULE): a library from pkg-config that users of violet link too. The target is
# PkgConfig::PREFIX; violet_install writes the same module into violet.pc and into violetConfig.cmake.
function(violet_needs prefix module)
  pkg_check_modules(${prefix} REQUIRED IMPORTED_TARGET GLOBAL "${module}")
  set_property(GLOBAL APPEND PROPERTY VIOLET_NEEDS "${prefix}|${module}")
endfunction()
violet_needs(UV "libuv>=1.44")
violet_needs(ZLIB "zlib>=1.2.11")
violet_needs(RE2 "re2")
violet_needs(OPENSSL "openssl>=3.0")
violet_needs(LIBDEFLATE "libdeflate>=1.10")
violet_needs(BROTLIENC "libbrotlienc>=1.0.9")
violet_needs(BROTLIDEC "libbrotlidec>=1.0.9")
violet_needs(ZSTD "libzstd>=1.4")

find_program(CCACHE_PROGRAM ccache)
mark_as_advanced(CCACHE_PROGRAM)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()

add_library(violet_settings INTERFACE)
target_compile_options(violet_settings INTERFACE
  -Wall -Wextra -Wimplicit-fallthrough -Wshadow
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual -Werror=return-type>
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-missing-designated-field-initializers>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-missing-field-initializers -fcoroutines>
  # g++ 12 sees them where memory is used by its real type behind a pointer to void, and in the macros of OpenSSL.
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-array-bounds -Wno-maybe-uninitialized -Wno-old-style-cast>)

if(VIOLET_SANITIZE)
  add_compile_options(-fsanitize=${VIOLET_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${VIOLET_SANITIZE})
  if(VIOLET_SANITIZE MATCHES "scudo")
    add_compile_definitions(VIOLET_POOLS_OFF=1)  # what a pool keeps is not freed
  endif()
endif()
if(VIOLET_COVERAGE)
  add_compile_options(-fprofile-instr-generate -fcoverage-mapping)
  add_link_options(-fprofile-instr-generate)
endif()
if(VIOLET_BUILD_FUZZ)
  # Coverage for libFuzzer in all code; only the targets themselves get its main().
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(VIOLET_ASSERTIONS OR CMAKE_BUILD_TYPE STREQUAL "Debug" OR VIOLET_SANITIZE)
  add_compile_definitions(VIOLET_ASSERTIONS=1)
endif()
