import { findDamage } from "../../ledger/for_ledger_file.ts";
import { type Ledger, openLedger } from "../../ledger/mod.ts";
import type { Figure } from "./figure.ts";

/** A refold is measured for so long, ms, and then given up. */
const REFOLD_MS = 60_000;

/**
 * Measures what is done with the whole file of a ledger: opening, counting,
 * adding up, a backup beside it, a refold that is given up after a minute, and
 * what looks for damage.
 */
export async function* measureFile(file: string): AsyncGenerator<Figure> {
  const opening = performance.now();
  const ledger = await openLedger({
    url: `file:${file}`,
    environment: "production",
  });
  yield ["opening", spent(opening)];
  try {
    yield* measure(ledger, file);
  } finally {
    await ledger.close();
  }
}

async function* measure(
  ledger: Ledger,
  file: string,
): AsyncGenerator<Figure> {
  const { size } = await Deno.stat(file);
  const { events, orders } = await ledger.stats();
  const count = Object.values(events).reduce((sum, one) => sum + one, 0);
  yield ["orders", String(orders)];
  yield ["size", `${(size / 1e9).toFixed(2)} GB`];
  yield ["bytes an order", String(Math.round(size / orders))];
  for (
    const [what, work] of [
      ["counting what it holds", () => ledger.stats()],
      ["totals of all orders", () => ledger.orders.totals()],
      ["whether there are many", () => ledger.orders.hasMany()],
    ] as const
  ) {
    const start = performance.now();
    await work();
    yield [what, spent(start)];
  }
  const copy = `${file}-backup`;
  let start = performance.now();
  await ledger.backup(copy);
  yield ["backup", spent(start)];
  await Deno.remove(copy);
  start = performance.now();
  const damage = await findDamage(ledger.driver);
  yield ["looking through all pages for damage", spent(start)];
  if (damage !== null) throw new Error(damage);
  start = performance.now();
  const verified = await ledger.verify();
  yield ["verifying the chain", spent(start)];
  if (!verified.ok) throw new Error("The chain does not verify");
  start = performance.now();
  let folded = 0;
  const signal = AbortSignal.timeout(REFOLD_MS);
  await ledger.refold({
    dryRun: true,
    maxChanges: 0,
    signal,
    onProgress: ({ events }) => folded = events,
  }).catch((error) => {
    if (!signal.aborted) throw error;
  });
  const seconds = (performance.now() - start) / 1000;
  yield ["refold", `${Math.round(folded / seconds)} events a second`];
  yield [
    "of which all would take",
    `${Math.round(count / folded * seconds / 60)} min`,
  ];
}

function spent(start: number): string {
  const ms = performance.now() - start;
  return ms < 1000 ? `${ms.toFixed(1)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
