# SPDX-License-Identifier: LGPL-2.1-or-later
"""The pages around their sections."""
import re

# Of the series of a plot: on light ground, on dark ground.
COLOURS = [("#1f6fb2", "#6cb2ff"), ("#c2610c", "#f0a15c"), ("#24814f", "#56c271"),
           ("#a83279", "#f08cc0"), ("#6d4fc2", "#b39bff"), ("#7d6a00", "#d6bf3a"),
           ("#b8352c", "#ff7b6b"), ("#1d7f7f", "#5fd0d0"), ("#666e78", "#aab2bc"),
           ("#4f7a12", "#a3cf52"), ("#8a4f2e", "#d9a07c"), ("#38608f", "#9bb9e6"),
           ("#b0458f", "#f29ad8")]


def colours(ground):
    return " ".join(f"--c{i}: {pair[ground]};" for i, pair in enumerate(COLOURS))


STYLE = f"""
:root {{ color-scheme: light dark; --ground: #fff; --ink: #1c1f23; --soft: #5b636e;
  --pale: #c9ced6; --band: #f3f5f8; --good: #1a7f37; --bad: #b42318; --link: #0b62b8;
  {colours(0)} }}
@media (prefers-color-scheme: dark) {{ :root {{ --ground: #14171b; --ink: #e4e7eb;
  --soft: #9aa4b0; --pale: #3c444e; --band: #1d2227; --good: #56c271; --bad: #ff7b6b;
  --link: #6cb2ff; {colours(1)} }} }}
""" + """* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem clamp(1rem, 4vw, 3rem) 4rem; max-width: 90rem;
  background: var(--ground); color: var(--ink); overflow-wrap: break-word;
  font: 16px/1.5 system-ui, "Segoe UI", "Liberation Sans", Arial, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 .5rem; padding-top: .5rem;
  border-top: 1px solid var(--pale); }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
p, ul { max-width: 48rem; } a { color: var(--link); }
nav { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; margin: .8rem 0; }
pre { overflow-x: auto; background: var(--band); padding: .6rem .9rem; font-size: .86rem; }
.wide { overflow-x: auto; margin: .5rem 0 1rem; }
table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); padding-bottom: .3rem; }
th, td { padding: .22rem .55rem; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--pale); }
thead th { vertical-align: bottom; color: var(--soft); font-weight: 600; }
th:first-child { text-align: left; font-weight: 500; }
th.long, td.long { white-space: normal; min-width: min(20rem, 50vw); overflow-wrap: anywhere; }
tbody tr:nth-child(even) { background: var(--band); }
td.word, th.word { text-align: left; } td.good { color: var(--good); }
td.bad { color: var(--bad); font-weight: 600; }
td.ours { font-weight: 600; }
details { margin: .4rem 0; } summary { cursor: pointer; padding: .25rem 0; }
.plots { display: grid; gap: 1.2rem 2rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); }
figure { margin: .5rem 0; } figcaption { color: var(--soft); font-size: .88rem; }
.plot { max-width: 34rem; min-width: 0; margin: .3rem 0 .8rem; }
.plot b { display: block; font-size: .95rem; line-height: 1.3; margin-bottom: .3rem; }
.plot > svg { display: block; width: 100%; height: auto; color: var(--ink); }
svg text { font: 10px system-ui, "Liberation Sans", Arial, sans-serif; fill: var(--ink); }
svg path { fill: none; stroke-width: 1.6; stroke-linejoin: round; }
svg .dots { stroke-width: 6; stroke-linecap: round; }
.key { list-style: none; margin: .3rem 0 0; padding: 0; display: flex; flex-wrap: wrap;
  gap: .1rem 1rem; font-size: .82rem; line-height: 1.35; }
.key svg { width: 28px; height: 8px; margin-right: .4rem; color: var(--ink); }
.missing { border-left: 4px solid var(--bad); padding: .3rem .9rem; }
.tiles { display: flex; flex-wrap: wrap; gap: .8rem 2.4rem; margin: 1rem 0; }
.tiles div { max-width: 18rem; } .tiles b { display: block; font-size: 1.5rem; line-height: 1.2; }
.tiles span { color: var(--soft); font-size: .88rem; }
@media (max-width: 30rem) { th:first-child { max-width: 45vw; white-space: normal; } }
@media print { details { display: block; } }
"""


def document(title, body):
    """A page that stands alone. Attributes `style` of the body, which repeat often in plots, become
    classes."""
    classes = {}

    def class_of(match):
        name = classes.setdefault(match[1], f"s{len(classes)}")
        return f'class="{"dots " if match[2] else ""}{name}"'

    body = re.sub(r'style="([^"]*)"( class="dots")?', class_of,
                  re.sub(r'class="dots" (style="[^"]*")', r'\1 class="dots"', body))
    rules = "\n".join(f"svg .{name} {{ {style} }}" for style, name in classes.items())
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<style>{STYLE}{rules}</style></head>\n<body>\n{body}\n</body></html>\n")
