# cmake -DOUTPUT=html_asset.c -DBODY=f -DSTYLE=f -DSCRIPT=f;f -DCHARTS=f -DLICENSE=f -P this
# Writes the files, joined, as arrays of C. CHARTS and LICENSE may be empty.
set(text "/* Made by html_embed.cmake. */\n#include \"html_asset.h\"\n")
foreach(name BODY STYLE SCRIPT CHARTS LICENSE)
  set(hex "")
  foreach(file ${${name}})
    file(READ ${file} plain)
    # These stand between tags: what would end their element must not be in them.
    if(NOT name STREQUAL BODY AND plain MATCHES "</(script|style)|<!--")
      message(FATAL_ERROR "${file} holds ${CMAKE_MATCH_0} and cannot stand in a page")
    endif()
    file(READ ${file} part HEX)
    string(APPEND hex "${part}")
  endforeach()
  string(LENGTH "${hex}" digits)
  math(EXPR size "${digits} / 2")
  string(TOLOWER ${name} lower)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}0a")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n"
         bytes "${bytes}")
  string(APPEND text "static const unsigned char ${lower}[] = {\n${bytes}};\n"
         "const pt_html_asset_t pt_html_asset_${lower} = {${lower}, ${size}};\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
