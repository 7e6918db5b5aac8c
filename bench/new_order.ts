/**
 * What a new order costs the database: the processor time of each statement, and
 * the bytes of each table and index. Folds the first webhooks of so many orders,
 * five of a user. Time of the thread, so that other work on the machine matters
 * little. Linux only.
 *
 * ```sh
 * deno run -A bench/new_order.ts [ORDERS]
 * ```
 *
 * @module
 */
import { stat } from "node:fs/promises";
import Database from "libsql";
import { delivery } from "./events.ts";
import { withFolder } from "./process.ts";
import { openLedger } from "../ledger/mod.ts";

const orders = Number(Deno.args[0] ?? 6000);
const received = 500;
/** What costs less is not printed. */
const leastUs = 0.1;
const leastBytes = 2;

const libc = Deno.dlopen("libc.so.6", {
  clock_gettime: { parameters: ["i32", "buffer"], result: "i32" },
});
const CLOCK_THREAD_CPUTIME_ID = 3;
const time = new BigInt64Array(2);

/** Processor time of this thread, microseconds. */
function cpuUs(): number {
  libc.symbols.clock_gettime(CLOCK_THREAD_CPUTIME_ID, time);
  return Number(time[0]) * 1e6 + Number(time[1]) / 1e3;
}

const spent = new Map<string, number>();

/** Replaces a method that runs SQL by one that also adds up its time. */
function timed(
  owner: Record<string, (...args: unknown[]) => unknown>,
  name: string,
  sqlOf: (args: unknown[]) => string,
): void {
  const run = owner[name];
  owner[name] = function (this: unknown, ...args) {
    const start = cpuUs();
    try {
      return run?.apply(this, args);
    } finally {
      const sql = sqlOf(args).replaceAll(/\s+/g, " ").slice(0, 66);
      spent.set(sql, (spent.get(sql) ?? 0) + cpuUs() - start);
    }
  };
}

const prototype = Database.prototype as unknown as Parameters<typeof timed>[0];
timed(prototype, "exec", ([sql]) => String(sql));
const prepare = prototype["prepare"];
prototype["prepare"] = function (this: unknown, sql) {
  const statement = prepare?.call(this, sql) as typeof prototype;
  for (const name of ["run", "all"]) timed(statement, name, () => String(sql));
  return statement;
};

function print(
  heading: string,
  rows: readonly (readonly [string, number])[],
  least: number,
): void {
  const an = ([name, all]: readonly [string, number]) =>
    [name, all / orders] as const;
  const all = rows.reduce((sum, [, one]) => sum + one, 0);
  console.log(`\n${heading}: ${(all / orders).toFixed(1)} an order`);
  for (
    const [name, one] of rows.map(an).sort(([, a], [, b]) => b - a)
  ) if (one >= least) console.log(`${one.toFixed(1).padStart(8)}  ${name}`);
}

await withFolder(async (folder) => {
  const open = (name: string) =>
    openLedger({
      url: `file:${folder}/${name}.db`,
      environment: "sandbox",
      worker: false,
    });
  await (await open("empty")).close();
  const ledger = await open("ledger");
  for (let first = 0; first < orders; first += received) {
    await Promise.all(
      Array.from(
        { length: Math.min(received, orders - first) },
        (_, at) => ledger.appendDelivery(delivery(first + at)),
      ),
    );
  }
  spent.clear();
  await ledger.project();
  await ledger.chain();
  print("microseconds of folding and chaining", [...spent], leastUs);
  await ledger.close();
  const sizes = await Promise.all(
    ["ledger", "empty"].map((name) => stat(`${folder}/${name}.db`)),
  );
  const [bytes = 0, empty = 0] = sizes.map(({ size }) => size);
  const database = new Database(`${folder}/ledger.db`);
  print(
    `bytes of pages (${
      Math.round((bytes - empty) / orders)
    } beyond an empty ledger)`,
    database.prepare("SELECT name, sum(pgsize) FROM dbstat GROUP BY name")
      .raw(true).all() as [string, number][],
    leastBytes,
  );
  database.close();
});
