/**
 * Fills one ledger with very many orders, and measures what it carries.
 *
 * Run: `deno run -A bench/capacity/main.ts FILE [--orders N] [--minutes M]
 * [--measure]`
 *
 * A file that was filled before is filled further, unless it has enough.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { openLedger } from "../../ledger/mod.ts";
import { mixedOrderBody } from "../bodies.ts";
import { fillOrders } from "../fill_ledger.ts";
import { measureFile } from "./measure_file.ts";
import { measurePages } from "./measure_pages.ts";
import { spent, spentText } from "./spent.ts";

/** Orders that are appended before they are folded. */
const SLICE = 50_000;

/** Fills a ledger; gives how many orders it made. */
async function fill(
  file: string,
  { orders, minutes }: { readonly orders: number; readonly minutes: number },
): Promise<number> {
  await using ledger = await openLedger({
    url: `file:${file}`,
    environment: "production",
  });
  const start = performance.now();
  await ledger.project();
  const first = (await ledger.evidence()).events;
  let all = first;
  while (all < orders && performance.now() - start < minutes * 60_000) {
    const count = Math.min(SLICE, orders - all);
    const slice = await spent(async () => {
      await fillOrders(ledger, { count, first: all, bodyOf: mixedOrderBody });
      await ledger.project();
    });
    all += count;
    console.error(`${all} orders; the last ${count} took ${spentText(slice)}`);
  }
  return all - first;
}

if (import.meta.main) {
  const { values, positionals: [file] } = parseArgs({
    args: Deno.args,
    allowPositionals: true,
    options: {
      orders: { type: "string", default: "1000000" },
      minutes: { type: "string", default: "600" },
      measure: { type: "boolean", default: false },
    },
  });
  if (file === undefined) {
    console.error("Which file is to be filled?");
    Deno.exit(2);
  }
  const { result: made, ...filling } = await spent(() =>
    fill(file, {
      orders: Number(values.orders),
      minutes: Number(values.minutes),
    })
  );
  console.log(`${made} orders made: ${spentText(filling)}`);
  if (values.measure) {
    for await (const [what, figure] of measurePages(file)) {
      console.log(`${what}: ${figure}`);
    }
    for await (const [what, figure] of measureFile(file)) {
      console.log(`${what}: ${figure}`);
    }
  }
}
