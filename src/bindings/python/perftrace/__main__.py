# __main__.py: python -m perftrace. SPDX-License-Identifier: MIT
"""Starts a script with tracing on, without a change to it."""
import argparse
import os
import runpy
import sys

from . import __version__, _automatic, perf_tracer
from ._library import LibraryError

EPILOG = """\
examples:
  python -m perftrace run train.py --epochs 3
  python -m perftrace run --dir trace --functions model,data train.py
  torchrun --no-python python -m perftrace run train.py

Every option of the library is taken from its environment variable (PERFTRACE_ROLE=actor, ...); rank
and world size come from the launcher. Open the trace: perf-trace-convert DIR -o trace.json"""


def _parser():
    parser = argparse.ArgumentParser(prog="python -m perftrace", epilog=EPILOG, description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", action="version", version=f"perftrace {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="run")
    run = commands.add_parser("run", epilog=EPILOG, description=__doc__, help="runs a script",
                              formatter_class=argparse.RawDescriptionHelpFormatter)
    run.add_argument("--dir", help="directory of the trace (PERFTRACE_DIR, else perftrace-out)")
    run.add_argument("--functions", metavar="MODULE[,MODULE]...", default="",
                     help="record each call of the functions of these modules and of those below "
                          "them; __main__ is the script itself")
    run.add_argument("--limit", metavar="PERCENT", type=float, default=5,
                     help="share of the time that this may take: the hottest functions are dropped "
                          "beyond (5)")
    run.add_argument("-m", dest="module", action="store_true", help="SCRIPT is the name of a module")
    run.add_argument("script", metavar="SCRIPT")
    run.add_argument("arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER)
    return parser


def _say(text):
    print(f"perftrace: {text}", file=sys.stderr)


def _told(functions):
    for name, calls in sorted(functions.dropped.items(), key=lambda item: -item[1]):
        _say(f"{name} was called too often to be recorded within the limit: dropped after "
             f"{calls} calls")


def run(options):
    perf_tracer.configure_from_environment(dir=options.dir)
    functions = stop = None
    modules = [m for m in options.functions.split(",") if m]
    sys.argv = [options.script, *options.arguments]
    if modules:
        functions, stop = _automatic.start(modules, options.limit / 100)
    try:
        if options.module:
            runpy.run_module(options.script, run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = os.path.dirname(os.path.abspath(options.script))
            runpy.run_path(options.script, run_name="__main__")
    finally:
        if stop is not None:
            stop()
            _told(functions)


def main():
    options = _parser().parse_args()
    if not 0 < options.limit <= 100:
        _parser().error("--limit takes a percentage above 0, up to 100")
    if not options.module and not os.path.exists(options.script):
        _say(f"{options.script}: there is no such file")
        return 3
    try:
        run(options)
    except (LibraryError, perf_tracer.StartError) as error:
        _say(str(error))
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main())
