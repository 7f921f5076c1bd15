# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random settings: the share within a time, and the families with their budgets."""
from .markup import Cell, count, quotient, table, times
from .results import number

TABLE = "random"
LIMITS_MS = {"cuda": (0.1, 0.5, 1, 4.2, 16.7), "cpu": (16.7, 100, 500)}
WHERE = {"cuda": "GPU", "cpu": "CPU, all cores"}


class Family:
    """Settings of one family and depth. `worst` is the row with the largest ratio to its budget."""

    def __init__(self, rows):
        self.rows = sorted(rows, key=lambda row: row["us"])
        self.name, self.depth = rows[0].get("series", "–"), rows[0].get("depth", 8)
        self.median = self.rows[len(rows) // 2]["us"]
        self.worst = max(self.rows, key=lambda row: (ratio(row) or 0, row["us"]))


def ratio(row):
    return quotient(row["us"], row.get("goal_us"))


def rows_of(results, backend):
    return [row for row in results.of(TABLE)
            if row.get("backend") == backend and number(row.get("us")) and not row.get("error")]


def families(rows):
    """In alphabetical order, the classes of a family by size."""
    groups = {}
    for row in rows:
        groups.setdefault((row.get("series", "–"), row.get("depth", 8)), []).append(row)

    def order(key):
        name, _, side = key[0].partition(" up to ")
        return name, int(side) if side.isdigit() else 0, key[1]
    return [Family(groups[key]) for key in sorted(groups, key=order)]


def shares(rows, limits_ms):
    """Lines of (operator, number of settings, shares from 0 to 1, worst us); all come first."""
    lines = []
    for operator in (None, *sorted({row.get("operator", "–") for row in rows})):
        us = [row["us"] for row in rows if operator in (None, row.get("operator", "–"))]
        lines.append((operator or "all", len(us),
                      [sum(u <= ms * 1000 for u in us) / len(us) for ms in limits_ms], max(us)))
    return lines


def share_table(rows, backend):
    limits = LIMITS_MS[backend]
    lines = [[operator, count(n), *(f"{share:.2%}".replace("%", " %") for share in of_limits),
              count(worst / 1000)] for operator, n, of_limits, worst in shares(rows, limits)]
    return table(["operator", "settings", *(f"≤ {ms:g} ms" for ms in limits), "worst, ms"], lines,
                 f"{WHERE[backend]}: share of the settings within a time")


def family_table(rows, backend):
    lines = []
    for family in families(rows):
        worst, of_budget = family.worst, ratio(family.worst)
        over = of_budget is not None and of_budget > 1
        lines.append([family.name, f"{family.depth:.0f}", count(len(family.rows)),
                      count(family.median), Cell(count(worst["us"]), "ours"),
                      count(worst.get("goal_us")),
                      Cell(times(of_budget), "bad" if over else "good"),
                      Cell(f"{worst.get('name', '–')} ({worst.get('note', '–')})", "word long")])
    return table(["family", "bits", "settings", "median us", "worst us", "budget us", "ratio",
                  "worst setting"], lines,
                 f"{WHERE[backend]}: families; the worst setting is the one with the largest ratio")


def shares_section(results):
    found = ((backend, rows_of(results, backend)) for backend in LIMITS_MS)
    return "\n".join(share_table(rows, backend) for backend, rows in found if rows)


def section(results):
    out = []
    for backend in LIMITS_MS:
        rows = rows_of(results, backend)
        if rows:
            out.append(family_table(rows, backend))
    failed = [row for row in results.of(TABLE) if row.get("error")]
    if failed:
        out.append(table(["setting", "error"],
                         [[row.get("name", "–"), Cell(row["error"], "bad")] for row in failed]))
    return "\n".join(out)
