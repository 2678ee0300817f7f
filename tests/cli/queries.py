# SPDX-License-Identifier: GPL-2.0-or-later
#
# queries.py PAGES AREAS FOLDER: rows of queries of docs/queries.md, FOLDER/N.json, computed
# again from the listings, in JSON.
import collections
import json
import sys

pages = json.load(open(sys.argv[1]))
areas = json.load(open(sys.argv[2]))


def check(n, key, expected, by, limit=10):
    """The rows have the `limit` largest of the values `by`, each what it is expected to be."""
    rows = json.load(open(f"{sys.argv[3]}/{n}.json"))
    most = sorted((e[by] for e in expected.values()), reverse=True)[:limit]
    if [r[by] for r in rows] != most:
        sys.exit(f"query {n}: {by} is {[r[by] for r in rows]}, expected {most}")
    for r in rows:
        k = tuple(r[c] for c in key)
        if r != expected[k]:
            sys.exit(f"query {n}: {r}, expected {expected[k]}")
    print(n, "rows" if rows else "no rows")


mapped = [p for p in pages if p["physical"] is not None]
own = {p["physical"] for p in mapped if p["pid"] == 1}
shared = {(p["pid"], p["task"], p["physical"], p["size"]) for p in mapped
          if p["physical"] in own and p["pid"] != 1}
expected = {}
for pid, task, _, size in shared:
    e = expected.setdefault((pid, task), {"pid": pid, "task": task, "shared": 0})
    e["shared"] += size
check(3, ("pid", "task"), expected, "shared")

expected = {}
for a in areas:
    if (a["area"] or "").startswith("/"):
        e = expected.setdefault((a["area"],), {"area": a["area"], "processes": set(), "pss": 0})
        e["processes"].add(a["pid"])
        e["pss"] += a["pss"] or 0
for e in expected.values():
    e["processes"] = len(e["processes"])
check(5, ("area",), expected, "pss")

users = collections.defaultdict(set)
for p in mapped:
    users[p["physical"]].add(p["pid"])
rows = json.load(open(f"{sys.argv[3]}/10.json"))
most = sorted((len(u) for u in users.values() if len(u) > 1), reverse=True)[:10]
if [r["processes"] for r in rows] != most:
    sys.exit(f"query 10: {rows}, expected {most}")
if any(len(users[r["physical"]]) != r["processes"] for r in rows):
    sys.exit(f"query 10: {rows}")

runs = collections.defaultdict(list)
for p in mapped:
    if (p["rights"] or "---")[2] == "x":
        runs[p["physical"]].append((p["pid"], p["task"]))
expected = sorted((w["physical"], w["pid"], w["task"], *x) for w in mapped
                  if (w["rights"] or "---")[1] == "w" for x in runs[w["physical"]] if x[0] != w["pid"])
rows = sorted(tuple(r.values()) for r in json.load(open(f"{sys.argv[3]}/11.json")))
if rows != expected:
    sys.exit(f"query 11: {rows}, expected {expected}")
print(11, "rows" if rows else "no rows")

written = {(p["area"], p["physical"], p["size"]) for p in pages
           if (p["area"] or "").startswith("/") and "dirty" in (p["flags"] or [])
           and p["pageflags"] is not None and "ANON" not in p["pageflags"]}
expected = {}
for area, _, size in written:
    e = expected.setdefault((area,), {"area": area, "rows": 0, "size": 0})
    e["rows"] += 1
    e["size"] += size
check(13, ("area",), expected, "size")
