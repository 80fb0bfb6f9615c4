#!/usr/bin/env python3
"""percentiles.py: what perf-trace-sessions is measured against. SPDX-License-Identifier: MIT

Usage: percentiles.py FILE ... Reads each line by json.loads and prints the percentiles of the total
and of each phase."""
import json
import sys

values = {}
for name in sys.argv[1:]:
    with open(name, encoding='utf-8') as lines:
        for line in lines:
            record = json.loads(line)
            for key, value in record.items():
                if key.endswith('_s'):
                    values.setdefault(key, []).append(value)
for key, found in values.items():
    found = sorted(found)
    print(key, len(found), sum(found) / len(found),
          *(found[int(q * (len(found) - 1))] for q in (0.5, 0.9, 0.99, 1)))
