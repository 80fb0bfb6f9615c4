#!/usr/bin/env python3
"""live_pty.py KEY COMMAND...: runs a command on a terminal of 10 lines and 40 columns; prints its
exit status, a line feed, and all it wrote. KEY is typed, or the signal of that name sent, once a
view was drawn. SPDX-License-Identifier: MIT"""
import fcntl
import os
import pty
import signal
import struct
import sys
import termios

key, command = sys.argv[1], sys.argv[2:]
size = struct.pack("HHHH", 10, 40, 0, 0)
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, size)
    # No carriage returns but those of the command, and Ctrl-C is a signal.
    mode = termios.tcgetattr(1)
    mode[1] &= ~termios.OPOST
    termios.tcsetattr(1, termios.TCSANOW, mode)
    os.execv(command[0], command)
text = b""
while True:
    try:
        part = os.read(fd, 65536)
    except OSError:
        break  # its other end is closed
    if not part:
        break
    text += part
    if key and b"\x1b[J" in text:
        if key.startswith("SIG"):
            os.kill(pid, getattr(signal, key))
        else:
            os.write(fd, key.encode())
        key = ""
_, status = os.waitpid(pid, 0)
sys.stdout.buffer.write(b"%d\n" % os.waitstatus_to_exitcode(status) + text)
