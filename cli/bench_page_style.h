// Style sheet of the page of `warpseal bench --html`, for light and dark screens and for print.
#pragma once

namespace warpseal::cli {

inline constexpr const char* page_style = R"css(
:root { --paper: #fff; --ink: #1b1f24; --soft: #5b6470; --line: #d9dee5; --ours: #2f6fd0; --mark:
  #c2410c; --track: #eef2f7;
  --a: #2f6fd0; --b: #b45309; --c: #15803d; --d: #9333ea; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171c; --ink: #e7ebf0; --soft: #a3adba;
  --line: #333b46; --ours: #6ea3f5;
  --mark: #fb923c; --track: #1f252e; --a: #6ea3f5; --b: #fbbf24; --c: #4ade80; --d: #c084fc; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.45 system-ui,
  "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.5rem; margin: 0 0 .4rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2rem 0 .3rem; }
p { margin: .3rem 0 .8rem; max-width: 75ch; }
small, .key, caption small, .note { color: var(--soft); }
.key i { display: inline-block; width: 1.4em; height: .7em; margin: 0 .3em 0 0; background:
  var(--ours); }
.key i.mark { width: 2px; height: 1em; margin-left: 1em; background: var(--mark); vertical-align:
  -.15em; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 440px), 1fr));
  gap: 1rem 2rem; align-items: start; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .2rem 0; }
th { font-weight: 400; text-align: left; vertical-align: top; }
td { text-align: right; vertical-align: top; overflow-wrap: anywhere; }
th, td { padding: .08rem .5rem .08rem 0; }
thead th { color: var(--soft); font-size: .85em; border-bottom: 1px solid var(--line); }
td + td, th + th:not(.chart) { text-align: right; }
.card th[scope=row] { width: 34%; line-height: 1.25; }
.chart { width: 40%; min-width: 7rem; }
td.chart { vertical-align: middle; }
.wide td, .wide th + th { text-align: left; }
.wide td.number, .wide th.number { text-align: right; white-space: nowrap; overflow-wrap: normal; }
.scroll { overflow-x: auto; }
.ladder .chart { width: 25%; padding-right: 1rem; }
.ladder td.chart { vertical-align: top; padding-top: .35rem; }
.ladder, .papers { min-width: 60rem; }
.bar { display: block; width: 100%; height: .8em; background: var(--track); }
.bar .ours { fill: var(--ours); }
.bar .mark { stroke: var(--mark); stroke-width: 2px; vector-effect: non-scaling-stroke; fill: none;
  }
.axis { display: block; position: relative; height: 1.2em; margin-right: 1.5em; }
.axis span { position: absolute; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap; }
.facts td { text-align: left; }
.facts th { color: var(--soft); width: 9em; }
.facts tr { border-bottom: 1px solid var(--line); }
figure { margin: 0; }
figcaption { font-weight: 600; }
.sizes { display: block; width: 100%; height: auto; font-size: 13px; }
.sizes text { fill: var(--soft); }
.sizes .grid { stroke: var(--line); stroke-width: 1; fill: none; }
.sizes .line { fill: none; stroke-width: 2.5; }
.s0 { stroke: var(--a); fill: var(--a); } .s1 { stroke: var(--b); fill: var(--b); } .s2 { stroke:
  var(--c); fill: var(--c); }
.s3 { stroke: var(--d); fill: var(--d); }
details { margin: .4rem 0; }
summary { cursor: pointer; color: var(--soft); }
@media print { body { font-size: 10px; } main { max-width: none; padding: 0; } tr, figure, .card {
  break-inside: avoid; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; } }
)css";

}  // namespace warpseal::cli
