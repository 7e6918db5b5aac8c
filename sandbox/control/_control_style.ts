/** The look of the control page, light or dark as the reader has it. */
export const CONTROL_STYLE = `
:root {
  color-scheme: light dark;
  --brand: light-dark(#0b6e69, #4fc3bb); --on-brand: light-dark(#fff, #10201f);
  --back: light-dark(#f3f5f7, #11151a); --card: light-dark(#fff, #1a2027);
  --ink: light-dark(#161b22, #e8ecf1); --soft: light-dark(#5b6572, #97a3b1);
  --line: light-dark(#dfe4ea, #2c343e); --edge: light-dark(#8a94a1, #6b7684); --field: light-dark(#fff, #12171d);
  --good: light-dark(#14733b, #6fd39b); --bad: light-dark(#b3261e, #ff8f85);
  --warn: light-dark(#8a5a00, #f2bd5c);
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body {
  margin: 0; padding: 0 24px 40px; background: var(--back); color: var(--ink);
  font: 14px/1.45 system-ui, -apple-system, "Segoe UI", sans-serif;
}
header { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 12px 24px; padding: 18px 0; }
header p { margin: 4px 0 0; }
.time { text-align: right; }
.time > p:first-child { margin: 0; }
@media (max-width: 980px) { .time { text-align: left; } }
#moved { min-height: 1.45em; }
a { color: var(--brand); }
h1 { font-size: 20px; margin: 0; }
h2 { font-size: 15px; margin: 0; flex: 1; }
.soft { color: var(--soft); font-weight: 400; }
.grow { flex: 1; }
code, .mono { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: 12.5px; }
.columns { display: grid; grid-template-columns: minmax(0, 1fr) 340px; gap: 20px; align-items: start; }
@media (max-width: 980px) { .columns { grid-template-columns: minmax(0, 1fr); } }
section { background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: 16px; margin-bottom: 20px; }
.head { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; margin-bottom: 12px; }
/* A height of its own, so that nothing below moves while rows come. */
.scroll { overflow: auto; height: 42vh; min-height: 260px; border-radius: 6px; }
.words { margin: 0 0 12px; min-height: 2.9em; font-size: 13px; }
form + .words { margin: 12px 0 0; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 7px 10px 7px 0; border-bottom: 1px solid var(--line); white-space: nowrap; vertical-align: middle; }
th { font-size: 12px; color: var(--soft); font-weight: 600; position: sticky; top: 0; background: var(--card); }
tr:last-child td { border-bottom: 0; }
.num { text-align: right; font-variant-numeric: tabular-nums; }
th, td { padding-right: 14px; }
.cut { display: inline-block; max-width: 130px; overflow: hidden; text-overflow: ellipsis; vertical-align: bottom; }
td.steps { white-space: normal; min-width: 150px; }
td.steps button { margin: 1px 4px 1px 0; }
td.answers { white-space: normal; min-width: 150px; }
tr.details td { white-space: normal; padding: 0 0 12px 34px; }
tr.details ol { margin: 0 0 8px; padding-left: 20px; color: var(--soft); }
tr.details pre { margin: 0; padding: 10px 12px; background: var(--field); border: 1px solid var(--line); border-radius: 9px; white-space: pre-wrap; overflow-wrap: anywhere; font: 12.5px/1.4 ui-monospace, Menlo, Consolas, monospace; }
button.quiet { border-color: transparent; background: none; font-weight: 400; padding: 2px 6px; margin-left: -6px; }
button.quiet::before { content: "▸ "; color: var(--soft); } button.quiet[aria-expanded="true"]::before { content: "▾ "; }
td.empty { color: var(--soft); padding: 22px 0; white-space: normal; }
button {
  font: inherit; font-weight: 550; cursor: pointer; color: var(--ink);
  background: var(--card); border: 1px solid var(--edge); border-radius: 9px;
  padding: 5px 12px;
}
button:hover { border-color: var(--brand); }
button:focus-visible, a:focus-visible, .scroll:focus-visible, input:focus-visible, select:focus-visible, textarea:focus-visible { outline: 2px solid var(--brand); outline-offset: 1px; }
.primary { background: var(--brand); border-color: var(--brand); color: var(--on-brand); }
td button { padding: 2px 8px; margin-right: 4px; font-size: 12.5px; }
.pill { border-radius: 99px; padding: 1px 10px; font-size: 12.5px; font-weight: 600; border: 1px solid currentColor; }
.good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
label { display: grid; gap: 4px; font-size: 12.5px; color: var(--soft); margin-bottom: 10px; }
input, select, textarea { font: inherit; color: var(--ink); background: var(--field); border: 1px solid var(--edge); border-radius: 9px; padding: 7px 10px; min-width: 0; width: 100%; }
textarea { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 12.5px; resize: vertical; }
.row { display: flex; flex-wrap: wrap; gap: 8px; }
fieldset { border: 0; margin: 0 0 10px; padding: 0; min-width: 0; }
legend { font-size: 12px; font-weight: 600; color: var(--soft); padding: 0 0 4px; }
.fault { display: grid; grid-template-columns: 1fr 84px 40px; gap: 10px; align-items: center; margin: 0; padding: 3px 0; color: var(--ink); font-size: 13px; }
.fault input[type="range"] { padding: 0; accent-color: var(--brand); border: 0; background: none; }
.fault input[type="checkbox"] { width: auto; justify-self: end; grid-column: 3; accent-color: var(--brand); }
.fault output { text-align: right; font-variant-numeric: tabular-nums; color: var(--soft); }
.fault.on output { color: var(--bad); font-weight: 600; }
dl { display: grid; grid-template-columns: 1fr auto; gap: 3px 12px; margin: 0; font-size: 13px; }
dt { color: var(--soft); } dd { margin: 0; font-variant-numeric: tabular-nums; text-align: right; }
#gone, #problem { position: fixed; inset: auto 16px 16px; margin: 0 auto; width: fit-content; max-width: 640px; border-radius: 10px; padding: 10px 14px; color: var(--card); }
#gone { background: var(--warn); }
#problem { background: var(--bad); display: flex; gap: 14px; align-items: center; }
#problem button { color: inherit; background: none; border-color: currentColor; }
`;
