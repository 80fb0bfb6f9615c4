"""stack_leaves.py FILE: the weight of each leaf of collapsed stacks, heaviest first: what a script
does that people write for it. SPDX-License-Identifier: MIT"""
import sys

weights = {}
with open(sys.argv[1], encoding="utf-8", errors="replace") as lines:
    for line in lines:
        stack, _, weight = line.rpartition(" ")
        leaf = stack.rpartition(";")[2]
        weights[leaf] = weights.get(leaf, 0) + float(weight)
total = sum(weights.values())
for leaf, weight in sorted(weights.items(), key=lambda item: -item[1])[:20]:
    print(f"{100 * weight / total:5.1f}% {weight:.0f} {leaf}")
