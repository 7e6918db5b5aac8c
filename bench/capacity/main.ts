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

/** Orders that are appended before they are folded. */
const SLICE = 50_000;

/** How the filling went. */
interface Filled {
  readonly orders: number;
  readonly seconds: number;
  /** Orders appended, folded and chained in a second. */
  readonly perSecond: number;
}

async function fill(
  file: string,
  { orders, minutes }: { readonly orders: number; readonly minutes: number },
): Promise<Filled> {
  await using ledger = await openLedger({
    url: `file:${file}`,
    environment: "production",
  });
  const start = performance.now();
  const seconds = () => (performance.now() - start) / 1000;
  await ledger.project();
  const first = (await ledger.evidence()).events;
  let made = first;
  while (made < orders && seconds() < minutes * 60) {
    const count = Math.min(SLICE, orders - made);
    const began = seconds();
    await fillOrders(ledger, { count, first: made, bodyOf: mixedOrderBody });
    const appended = seconds();
    await ledger.project();
    made += count;
    const rate = (from: number) => Math.round(count / (seconds() - from));
    console.error(
      `${made} orders after ${Math.round(seconds())} s: the last ${count} ` +
        `${rate(began)}/s, folded and chained ${rate(appended)}/s`,
    );
  }
  const all = seconds();
  return {
    orders: made,
    seconds: Math.round(all),
    perSecond: Math.round((made - first) / all),
  };
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
  const filled = await fill(file, {
    orders: Number(values.orders),
    minutes: Number(values.minutes),
  });
  console.log(JSON.stringify(filled));
  if (values.measure) {
    for await (const [what, figure] of measurePages(file)) {
      console.log(`${what}: ${figure}`);
    }
    for await (const [what, figure] of measureFile(file)) {
      console.log(`${what}: ${figure}`);
    }
  }
}
