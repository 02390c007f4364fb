# violet_layer(NAME DEPS layer... [LIBS target...]): one floor of the house.
#
# Compiles every .cc of the calling folder into an object library and adds it to the one library `violet`. A folder
# without sources is passed over.
# DEPS names the layers whose headers this one may include; tools/tidy.py reads these same calls and fails on
# an include that goes up or sideways. LIBS are third-party targets; see violet_needs() for those from pkg-config.
function(violet_layer name)
  cmake_parse_arguments(LAYER "" "" "DEPS;LIBS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cc")
  if(NOT sources)
    return()
  endif()
  add_library(violet_${name} OBJECT ${sources})
  target_include_directories(violet_${name} PUBLIC "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(violet_${name} PUBLIC PkgConfig::UV Threads::Threads ${LAYER_LIBS} PRIVATE violet_settings)
  target_sources(violet PRIVATE $<TARGET_OBJECTS:violet_${name}>)
  if(LAYER_LIBS)
    target_link_libraries(violet PUBLIC ${LAYER_LIBS})
  endif()
endfunction()
