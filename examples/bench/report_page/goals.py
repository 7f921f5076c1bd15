# SPDX-License-Identifier: LGPL-2.1-or-later
"""The project's own goals, and whether a run meets them."""
from . import settings
from .markup import BACKENDS, Cell, count, details, quotient, size, table, times
from .results import number


def met(row):
    """Whether a goal is met; None without a goal or a time. Random settings have budgets instead,
    which their section shows."""
    if row["table"] == settings.TABLE:
        return None
    if number(row.get("goal_ratio")) and number(row.get("ratio")):
        return row["ratio"] <= row["goal_ratio"]
    if number(row.get("goal_us")) and number(row.get("us")):
        return row["us"] <= row["goal_us"]
    return None


def section(results):
    rows = [r for r in results.rows if met(r) is not None]
    if not rows:
        return ""
    # Missed goals first, the worst one at the top.
    def excess(row):
        if number(row.get("goal_ratio")) and number(row.get("ratio")):
            return quotient(row["ratio"], row["goal_ratio"]) or 0
        return quotient(row["us"], row["goal_us"]) or 0

    def line(row):
        by_ratio = number(row.get("goal_ratio")) and number(row.get("ratio"))
        name, word = row.get("name", "–"), row.get("operator", "")
        return [name if word in name else f"{word} {name}", size(row),
                BACKENDS.get(row.get("backend"), row.get("section", "–")),
                times(row["goal_ratio"]) if by_ratio else count(row["goal_us"]) + " us",
                times(row["ratio"]) if by_ratio else count(row["us"]) + " us",
                Cell("met" if met(row) else "missed", "good" if met(row) else "bad")]
    missed = sorted((r for r in rows if not met(r)), key=excess, reverse=True)
    reached = [r for r in rows if met(r)]
    heads = ["goal", "size", "on", "at most", "measured", ""]
    out = [f"<p>{len(reached)} of {len(rows)} goals are met.</p>"]
    if missed:
        out.append(table(heads, map(line, missed), "Missed, the worst first"))
    if reached:
        out.append(details(f"The {len(reached)} goals that are met",
                           table(heads, map(line, reached))))
    return "\n".join(out)
