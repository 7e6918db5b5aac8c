/**
 * Works on a ledger of its own, in a process of its own, so that what the
 * process spent is what the work took: `work.ts WHAT FILE COUNT`. The last line
 * says how it went, as JSON.
 *
 * @module
 */
import process from "node:process";
import { openLedger } from "../../ledger/mod.ts";
import { webhookBody } from "./bodies.ts";

/** Callers each of whom waits for its commit before it appends the next. */
const CALLERS = 64;

const [what, file = "", counted] = Deno.args;
const count = Number(counted);
const ledger = await openLedger({
  url: `file:${file}`,
  environment: "sandbox",
});
const utf8 = new TextEncoder();
const startMs = Date.UTC(2026, 0, 1);

let minted = 0;

/** Appends until so many are there. */
async function append(shape: "lives" | "new", until: number): Promise<void> {
  await Promise.all(Array.from({ length: CALLERS }, async () => {
    while (minted < until) {
      const number = minted++;
      await ledger.appendDelivery({
        id: `01JABC${String(number).padStart(20, "0")}`,
        receivedAt: new Date(startMs + number).toISOString(),
        body: utf8.encode(webhookBody(number, shape)),
      });
    }
  }));
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

async function verify(): Promise<void> {
  if (!(await ledger.verify()).ok) throw new Error("The ledger is damaged");
}

let result: unknown;
if (what === "append") {
  // The first quarter warms it up.
  await append("new", count / 4);
  const before = minted;
  const took = await seconds(() => append("new", count));
  result = { perSecond: (minted - before) / took };
} else if (what === "new_order") {
  const before = process.cpuUsage();
  await append("new", count);
  await ledger.project();
  const { user, system } = process.cpuUsage(before);
  result = {
    usPerOrder: (user + system) / count,
    verifiedPerSecond: count / await seconds(verify),
  };
} else {
  await append("lives", count);
  await ledger.project();
  const refolding = await seconds(() => ledger.refold());
  result = {
    refoldedPerSecond: count / refolding,
    verifiedPerSecond: count / await seconds(verify),
  };
}
await ledger.close();
console.log(JSON.stringify(result));
