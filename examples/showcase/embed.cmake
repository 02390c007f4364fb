# cmake -DOUT=assets.cc -DFOLDER=folder -DFILES=a;b -P embed.cmake: writes files as string literals; see assets.h.
set(text "// Made by embed.cmake.\n#include \"assets.h\"\n\nnamespace showcase {\nnamespace {\n\nconstexpr Asset kAssets[] = {\n")
foreach(file IN LISTS FILES)
  file(READ "${FOLDER}/${file}" content)
  get_filename_component(name "${file}" NAME)
  # Compilers take literals of this size, but the standard promises no more than 65,536 characters.
  string(LENGTH "${content}" length)
  if(length GREATER 60000)
    message(FATAL_ERROR "${file} is too long for one literal")
  endif()
  string(APPEND text "    {\"${name}\", R\"violet_asset(${content})violet_asset\"},\n")
endforeach()
string(APPEND text "};\n\n}  // namespace\n\nstd::span<const Asset> assets() noexcept { return kAssets; }\n\n}  // namespace showcase\n")
file(WRITE "${OUT}" "${text}")
