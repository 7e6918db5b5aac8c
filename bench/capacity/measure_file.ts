import { findDamage } from "../../ledger/for_ledger_file.ts";
import { type Ledger, openLedger } from "../../ledger/mod.ts";
import { type Figure, spent, spentText } from "./spent.ts";

/** A refold is measured for so long, ms, and then given up. */
const REFOLD_MS = 60_000;

/**
 * Measures what is done with the whole file of a ledger: opening, counting,
 * adding up, a backup beside it, looking for damage, verifying, and a refold
 * that is given up after a minute.
 */
export async function* measureFile(file: string): AsyncGenerator<Figure> {
  const { result: ledger, ...opening } = await spent(() =>
    openLedger({ url: `file:${file}`, environment: "production" })
  );
  yield ["opening", spentText(opening)];
  try {
    yield* measure(ledger, file);
  } finally {
    await ledger.close();
  }
}

async function* measure(ledger: Ledger, file: string): AsyncGenerator<Figure> {
  const { size } = await Deno.stat(file);
  const { events, orders } = await ledger.stats();
  const count = Object.values(events).reduce((sum, one) => sum + one, 0);
  const copy = `${file}-backup`;
  yield ["orders", String(orders)];
  yield ["size", `${(size / 1e9).toFixed(2)} GB`];
  yield ["bytes an order", String(Math.round(size / orders))];
  const works: readonly (readonly [string, () => Promise<unknown>])[] = [
    ["counting what it holds", () => ledger.stats()],
    ["whether there are very many", () => ledger.orders.hasMany()],
    ["totals of all orders", () => ledger.orders.totals()],
    ["backup", () => ledger.backup(copy)],
    ["looking for damage", () => soundOf(ledger)],
    ["verifying the chain", () => verified(ledger)],
  ];
  for (const [what, work] of works) {
    yield [what, spentText(await spent(work))];
    await Deno.remove(copy).catch(() => {}); // It is no backup.
  }
  let folded = 0;
  const refold = await spent(async () => {
    const signal = AbortSignal.timeout(REFOLD_MS);
    await ledger.refold({
      dryRun: true,
      maxChanges: 0,
      signal,
      onProgress: ({ events }) => folded = events,
    }).catch((error) => {
      if (!signal.aborted) throw error;
    });
  });
  const rate = (ms: number) => Math.round(folded / ms * 1000);
  yield [
    "refold",
    `${folded} of ${count} events: ${rate(refold.ms)} a second, ` +
    `${rate(refold.processorMs)} a second of the processor`,
  ];
}

/** @throws {Error} When a page of the file is damaged. */
async function soundOf(ledger: Ledger): Promise<void> {
  const damage = await findDamage(ledger.driver);
  if (damage !== null) throw new Error(damage);
}

/** @throws {Error} When the chain does not hold. */
async function verified(ledger: Ledger): Promise<void> {
  const { ok } = await ledger.verify();
  if (!ok) throw new Error("The chain does not verify");
}
