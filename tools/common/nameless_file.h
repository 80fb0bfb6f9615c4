/* nameless_file.h: a temporary file of which nothing can be left. SPDX-License-Identifier: MIT */
#ifndef PERFTRACE_TOOL_NAMELESS_FILE_H
#define PERFTRACE_TOOL_NAMELESS_FILE_H

/* Opens a new file in a directory, for reading and writing, whose name is gone at once. -1 with
 * errno set. The caller closes it. Blocks on the file system. */
int pt_nameless_file(const char *dir);

#endif
