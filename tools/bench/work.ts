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

const [what = "", file, counted] = Deno.args;
const count = Number(counted);
const ledger = await openLedger({
  url: `file:${file}`,
  environment: "sandbox",
});
const utf8 = new TextEncoder();
const startMs = Date.UTC(2026, 0, 1);

let minted = 0;

/** Appends until so many are there; making the bodies is not part of the work. */
async function append(
  bodies: readonly Uint8Array<ArrayBuffer>[],
  until: number,
): Promise<void> {
  await Promise.all(Array.from({ length: CALLERS }, async () => {
    while (minted < until) {
      const number = minted++;
      await ledger.appendDelivery({
        id: `01JABC${String(number).padStart(20, "0")}`,
        receivedAt: new Date(startMs + number).toISOString(),
        body: bodies[number] ?? new Uint8Array(),
      });
    }
  }));
}

/** How many of so many were done in a second. */
async function rate(of: number, work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return of / (performance.now() - start) * 1000;
}

async function verify(): Promise<void> {
  if (!(await ledger.verify()).ok) throw new Error("The ledger is damaged");
}

function bodiesOf(shape: "lives" | "new"): Uint8Array<ArrayBuffer>[] {
  return Array.from(
    { length: count },
    (_, at) => utf8.encode(webhookBody(at, shape)),
  );
}

const works: Readonly<Record<string, () => Promise<readonly number[]>>> = {
  append: async () => {
    const bodies = bodiesOf("new");
    // The first quarter warms it up.
    await append(bodies, count / 4);
    return [await rate(count - minted, () => append(bodies, count))];
  },
  new_order: async () => {
    const bodies = bodiesOf("new");
    const before = process.cpuUsage();
    await append(bodies, count);
    await ledger.project();
    const { user, system } = process.cpuUsage(before);
    return [(user + system) / count, await rate(count, verify)];
  },
  refold: async () => {
    await append(bodiesOf("lives"), count);
    await ledger.project();
    const refolded = await rate(count, () => ledger.refold());
    return [refolded, await rate(count, verify)];
  },
};

const figures = await works[what]?.();
await ledger.close();
console.log(JSON.stringify(figures));
