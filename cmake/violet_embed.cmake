# Files as string literals in a program. As a module: violet_embed(OUT NAMESPACE HEADER FILES file...) makes OUT, a .cc
# that includes HEADER and defines `std::span<const Asset> assets() noexcept` in NAMESPACE; an Asset has a `name` and a
# `text`. The same file, run as a script, is what makes it.
if(CMAKE_SCRIPT_MODE_FILE)
  set(text "// Made by violet_embed.cmake.\n#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\nnamespace {\n\nconstexpr Asset kAssets[] = {\n")
  foreach(file IN LISTS FILES)
    file(READ "${file}" content)
    get_filename_component(name "${file}" NAME)
    # Compilers take literals of this size, but the standard promises no more than 65,536 characters.
    string(LENGTH "${content}" length)
    if(length GREATER 60000)
      message(FATAL_ERROR "${file} is too long for one literal")
    endif()
    string(APPEND text "    {\"${name}\", R\"violet_asset(${content})violet_asset\"},\n")
  endforeach()
  string(APPEND text "};\n\n}  // namespace\n\nstd::span<const Asset> assets() noexcept { return kAssets; }\n\n}  // namespace ${NAMESPACE}\n")
  file(WRITE "${OUT}" "${text}")
  return()
endif()

set(VIOLET_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

function(violet_embed out namespace header)
  cmake_parse_arguments(EMBED "" "" "FILES" ${ARGN})
  list(TRANSFORM EMBED_FILES PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  add_custom_command(OUTPUT "${out}"
    COMMAND "${CMAKE_COMMAND}" "-DOUT=${out}" "-DNAMESPACE=${namespace}" "-DHEADER=${header}" "-DFILES=${EMBED_FILES}"
      -P "${VIOLET_EMBED_SCRIPT}"
    DEPENDS ${EMBED_FILES} "${VIOLET_EMBED_SCRIPT}" VERBATIM)
endfunction()
