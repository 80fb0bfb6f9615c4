# The page of --html: its makers, and its fixed parts as arrays.
perftrace_page_asset(session_html_asset
  BODY html/page.html
  SCRIPTS scatter over_time timeline histogram main)
perftrace_room(session_html
  SOURCES html_json.c html_frame.c html_sample.c html_scatter.c html_level.c
          html_over_time.c html_timelines.c html_histograms.c html_data.c html_page.c
  DEPS base json common trace page sessions)
