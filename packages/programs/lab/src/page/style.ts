/** The looks of the page, in light and dark. */
export const style = `
:root { color-scheme: light dark; --back: #fff; --text: #1c2430; --soft: #5c6675; --line: #e2e6ec; --panel: #f6f8fa;
  --cached: #5aa9a2; --written: #2f6fb3; --newInput: #e0a33a; --output: #c8553d; --accent: #2f6fb3; --recall: #8a4fa3; --full: #a9b1bd; }
@media (prefers-color-scheme: dark) { :root { --back: #12161c; --text: #e4e8ee; --soft: #9aa5b4; --line: #2a323d; --panel: #1a2029;
  --cached: #6cc4bc; --written: #5b9fe3; --newInput: #e9b85c; --output: #e57f68; --accent: #6badf0; --recall: #c692dd; --full: #5b6675; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1360px; padding: 24px; background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 24px; margin: 0; } h2 { font-size: 18px; margin: 32px 0 4px; overflow-wrap: anywhere; }
p { margin: 4px 0 12px; max-width: 80ch; color: var(--soft); overflow-wrap: anywhere; }
figure { margin: 0; padding: 12px; background: var(--panel); border: 1px solid var(--line); border-radius: 8px; min-width: 0; }
figcaption { font-weight: 600; margin-bottom: 6px; overflow-wrap: anywhere; } figcaption small { display: block; } small { font-weight: 400; color: var(--soft); }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(460px, 100%), 1fr)); gap: 16px; } .pair > :only-child { max-width: 760px; }
/* On a telephone the letters stay readable, and the picture is moved by hand. */
.pair figure { overflow-x: auto; } .pair svg { min-width: 520px; }
.curves { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(250px, 100%), 1fr)); gap: 12px; }
svg { display: block; width: 100%; height: auto; font: 12px system-ui, sans-serif; }
svg text { fill: var(--text); } svg .label, svg .value { paint-order: stroke; stroke: var(--panel); stroke-width: 4px; stroke-linejoin: round; } svg .tick { fill: var(--soft); font-size: 11px; }
.grid { stroke: var(--line); } .reference { stroke: var(--soft); stroke-dasharray: 4 3; }
rect.cached { fill: var(--cached); } rect.written { fill: var(--written); } rect.newInput { fill: var(--newInput); }
rect.summarizerOutput { fill: var(--output); }
.legend span { margin-right: 18px; white-space: nowrap; } .legend i { display: inline-block; width: 12px; height: 12px; margin-right: 6px; border-radius: 2px; vertical-align: -1px; }
i.cached { background: var(--cached); } i.written { background: var(--written); } i.newInput { background: var(--newInput); } i.summarizerOutput { background: var(--output); }
.curve { fill: none; stroke: var(--accent); stroke-opacity: .45; stroke-width: 1.5; } .curve.withRecall { stroke: var(--recall); }
circle.kept { fill: var(--accent); } circle.recalled { fill: var(--panel); stroke: var(--recall); stroke-width: 1.5; }
line.recall { stroke: var(--recall); stroke-opacity: .35; stroke-dasharray: 2 3; }
path.full { fill: none; stroke: var(--full); stroke-width: 1.2; } path.context { fill: none; stroke: var(--accent); stroke-width: 1.5; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; }
th, td { padding: 5px 12px; text-align: right; border-bottom: 1px solid var(--line); vertical-align: bottom; }
th:first-child { text-align: left; } thead th { font-weight: 500; color: var(--soft); max-width: 9em; }
tbody th { font-weight: 600; white-space: nowrap; }
`
