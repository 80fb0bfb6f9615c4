# The page of --html, drawn with D3: Debian's libjs-d3. Without it everything is built, and --html
# says what is missing. (Programs that draw flame graphs with D3 are on npm only, which a build does
# not ask.)
find_file(PERFTRACE_D3_JS NAMES d3.min.js
  PATHS /usr/share/javascript/d3 /usr/local/share/javascript/d3
  NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH DOC "d3.min.js of D3 3, for the pages of perf-trace-stacks --html")
find_file(PERFTRACE_D3_JS_LICENSE NAMES copyright
  PATHS /usr/share/doc/libjs-d3
  NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH DOC "license of D3, shown in the pages")
set(d3_js "")
set(d3_license "")
if(PERFTRACE_D3_JS)
  file(READ ${PERFTRACE_D3_JS} start LIMIT 300)
  if(start MATCHES "version:\"3\\.")
    set(d3_js ${PERFTRACE_D3_JS})
    set(d3_license ${PERFTRACE_D3_JS_LICENSE})
  else()
    message(WARNING "${PERFTRACE_D3_JS} is not D3 3: perf-trace-stacks --html will not be available")
  endif()
endif()
if(NOT d3_license)
  set(d3_license "")
endif()
perftrace_page_asset(stacks_html_asset BODY html/page.html STYLES html/stacks.css
                     OTHER LIBRARY ${d3_js} LICENSE ${d3_license}
                     SCRIPTS tree flame functions main)
