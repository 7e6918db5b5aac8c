/**
 * A process with a handler, for the test that kills it: it says each key that
 * the handler begins with, and whether it delivers or waits.
 *
 * Run: `subscriber.ts DATABASE [KEYS]`; after so many keys its handler hangs.
 *
 * @module
 */
import { openLedger } from "../../ledger/mod.ts";

const [url = "", most = "Infinity"] = Deno.args;
let begun = 0;
const utf8 = new TextEncoder();
/** At once, so that nothing said is lost when the process is killed. */
const say = (line: string) => void Deno.stdout.writeSync(utf8.encode(line));

const ledger = await openLedger({ url, environment: "sandbox" });
await ledger.subscribe("goods", {
  on: "order.*.*",
  from: "start",
  concurrency: 4,
  idleMs: 100,
  onTurn: (turn) => say(`${turn}\n`),
}, async ({ key }) => {
  say(`${key}\n`);
  if (++begun > Number(most)) await new Promise(() => {});
  await new Promise((resolve) => setTimeout(resolve, 20));
});
