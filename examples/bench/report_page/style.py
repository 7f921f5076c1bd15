# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page around its sections."""

STYLE = """
:root { color-scheme: light dark; --ground: #fff; --ink: #1c1f23; --soft: #5b636e; --pale: #c9ced6;
  --band: #f3f5f8; --good: #1a7f37; --bad: #b42318; --link: #0b62b8; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171b; --ink: #e4e7eb; --soft: #9aa4b0;
  --pale: #3c444e; --band: #1d2227; --good: #56c271; --bad: #ff7b6b; --link: #6cb2ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem clamp(1rem, 4vw, 3rem) 4rem; max-width: 90rem;
  background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, "Segoe UI", "Liberation Sans", Arial, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 .5rem; padding-top: .5rem;
  border-top: 1px solid var(--pale); }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
p, ul { max-width: 48rem; } a { color: var(--link); }
nav { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; margin: .8rem 0; }
.wide { overflow-x: auto; margin: .5rem 0 1rem; }
table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); padding-bottom: .3rem; }
th, td { padding: .22rem .7rem; text-align: right; white-space: nowrap;
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
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 36rem), 1fr)); }
figure { margin: .5rem 0; min-width: 0; max-width: 60rem; }
figcaption { color: var(--soft); font-size: .88rem; }
svg { width: 100%; height: auto; color: var(--ink); }
.missing { border-left: 4px solid var(--bad); padding: .3rem .9rem; }
.tiles { display: flex; flex-wrap: wrap; gap: .8rem 2.4rem; margin: 1rem 0; }
.tiles div { min-width: 9rem; } .tiles b { display: block; font-size: 1.5rem; line-height: 1.2; }
.tiles span { color: var(--soft); font-size: .88rem; }
@media print { details { display: block; } }
"""


def document(title, body):
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n")
