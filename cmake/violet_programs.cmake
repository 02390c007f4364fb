# violet_programs(PREFIX): one executable for each subfolder that has sources.
#
# The executable is named after the subfolder and stands directly in the build directory (build/release/hello); its
# target is PREFIX_<folder>, so that an app may bear the name of the library. A subfolder with a CMakeLists.txt of its
# own is added as it is; violet_program(TARGET NAME SOURCES...) is what it can call.
function(violet_program target name)
  add_executable(${target} ${ARGN})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME "${name}" RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  target_link_libraries(${target} PRIVATE violet::violet violet_settings)
endfunction()

function(violet_programs prefix)
  file(GLOB files CONFIGURE_DEPENDS LIST_DIRECTORIES false
    "${CMAKE_CURRENT_SOURCE_DIR}/*/*.cc" "${CMAKE_CURRENT_SOURCE_DIR}/*/CMakeLists.txt")
  set(folders "")
  foreach(file IN LISTS files)
    get_filename_component(folder "${file}" DIRECTORY)
    list(APPEND folders "${folder}")
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    get_filename_component(name "${folder}" NAME)
    if(EXISTS "${folder}/CMakeLists.txt")
      add_subdirectory("${folder}")
    else()
      set(sources "${files}")
      list(FILTER sources INCLUDE REGEX "/${name}/[^/]+\\.cc$")
      violet_program(${prefix}_${name} ${name} ${sources})
    endif()
  endforeach()
endfunction()
