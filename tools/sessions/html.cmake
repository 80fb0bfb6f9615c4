# The page of --html: its makers, and its fixed parts as arrays. The chart library is Debian's
# libjs-chart.js; without it everything is built, and --html says what is missing.
find_file(PERFTRACE_CHART_JS NAMES chart.min.js
  PATHS /usr/share/javascript/chart.js /usr/local/share/javascript/chart.js
  NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH DOC "chart.min.js of Chart.js 3, for the pages of --html")
find_file(PERFTRACE_CHART_JS_LICENSE NAMES copyright
  PATHS /usr/share/doc/libjs-chart.js
  NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH DOC "license of the chart library, shown in the pages")
set(chart_js "")
set(chart_license "")
if(PERFTRACE_CHART_JS)
  file(READ ${PERFTRACE_CHART_JS} start LIMIT 300)
  if(start MATCHES "Chart\\.js v3\\.")
    set(chart_js ${PERFTRACE_CHART_JS})
  else()
    message(WARNING "${PERFTRACE_CHART_JS} is not Chart.js 3: --html will not be available")
  endif()
endif()
if(chart_js AND PERFTRACE_CHART_JS_LICENSE)
  set(chart_license ${PERFTRACE_CHART_JS_LICENSE})
endif()

set(html ${CMAKE_CURRENT_SOURCE_DIR}/html)
set(script "")
foreach(noun format theme chart scatter over_time timeline histogram table main)
  list(APPEND script ${html}/${noun}.js)
endforeach()
set(asset ${CMAKE_CURRENT_BINARY_DIR}/html_asset.c)
add_custom_command(
  OUTPUT ${asset}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${asset} -DBODY=${html}/page.html -DSTYLE=${html}/page.css
          "-DSCRIPT=${script}" -DCHARTS=${chart_js} -DLICENSE=${chart_license}
          -P ${CMAKE_CURRENT_SOURCE_DIR}/html_embed.cmake
  DEPENDS ${html}/page.html ${html}/page.css ${script} ${chart_js} ${chart_license} html_embed.cmake
  VERBATIM)
perftrace_room(session_html_asset SOURCES ${asset})
perftrace_room(session_html
  SOURCES html_json.c html_frame.c html_sample.c html_scatter.c html_level.c
          html_over_time.c html_timelines.c html_histograms.c html_tables.c html_data.c html_page.c
  DEPS base json common trace sessions)
