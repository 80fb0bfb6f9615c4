/* every_macro.c: the macros as strict C11. SPDX-License-Identifier: MIT */
#include "every_macro.h"
