import Database from "libsql";
import type { Comparison } from "./measuring/comparison.ts";
import { ratioRow } from "./measuring/comparison.ts";
import { fillLedger } from "./fill_ledger.ts";
import { type Ledger, openLedger } from "../ledger/mod.ts";
import { limitOf } from "./measuring/machine_usage.ts";
import { withFolder } from "./process.ts";
import { interleave, rate } from "./measuring/rounds.ts";

const count = 70_000;
const rounds = 3;
const page = 1_000;
const decoder = new TextDecoder();

/** A full refold against reading and JSON-parsing the same rows. */
export const refold: Comparison = {
  name: "refold",
  note: `A ledger of ${count.toLocaleString("en")} events of ` +
    `${
      (count / 7).toLocaleString("en")
    } orders in a file. Ours folds them all ` +
    "again from nothing beside the live states: reads, folds, works out " +
    "states and activity, writes them with their indexes, compares them with " +
    "the old ones, swaps, and deletes the old ones. The other side reads the " +
    "same rows, all columns, in pages of 1,000 and parses each body with " +
    "JSON.parse: once through the ledger's own driver, once with libsql in " +
    "its own thread. It keeps and writes nothing.",
  run: ({ say }) =>
    withFolder(async (folder) => {
      const file = `${folder}/ledger.db`;
      await using ledger = await openLedger({
        url: `file:${file}`,
        environment: "sandbox",
      });
      say(`filling a ledger with ${count} events`);
      await fillLedger(ledger, { count });
      await ledger.project();
      const told = (name: string, work: () => Promise<number>) => async () => {
        const perSecond = await rate(work);
        say(`${name}: ${Math.round(perSecond)}/s`);
        return perSecond;
      };
      const results = await interleave(rounds, {
        refold: told(
          "refold",
          async () => (await ledger.refold({ maxChanges: 0 })).events,
        ),
        driver: told("read and parse, driver", () => readByDriver(ledger)),
        direct: told("read and parse, libsql", () => readDirectly(file)),
      }, { say });
      const row = (name: string, side: "driver" | "direct") =>
        ratioRow(name, {
          ours: results.refold.results,
          theirs: results[side].results,
          unit: "events/s",
          at: "least",
          bound: side === "driver" ? 0.65 : null,
          limit: limitOf(results.refold.usages, "the database's thread"),
        });
      return [
        row("refold, against the same driver", "driver"),
        row("refold, against libsql in its thread", "direct"),
      ];
    }),
};

const select =
  "SELECT * FROM events WHERE position > ? ORDER BY position LIMIT ?";

async function readByDriver({ driver }: Ledger): Promise<number> {
  let read = 0;
  for (let after = 0;;) {
    const [result] = await driver.batch(
      [{ sql: select, args: [after, page] }],
      "read",
    );
    const rows = result?.rows ?? [];
    if (result === undefined || rows.length === 0) return read;
    const position = result.columns.indexOf("position");
    const body = result.columns.indexOf("body");
    for (const row of rows) {
      JSON.parse(decoder.decode(row[body] as Uint8Array));
      after = row[position] as number;
    }
    read += rows.length;
  }
}

function readDirectly(file: string): Promise<number> {
  const database = new Database(file);
  try {
    const statement = database.prepare(select);
    let read = 0;
    for (let after = 0;;) {
      const rows = statement.all([after, page]) as {
        readonly position: number;
        readonly body: Uint8Array;
      }[];
      if (rows.length === 0) return Promise.resolve(read);
      for (const row of rows) {
        JSON.parse(decoder.decode(row.body));
        after = row.position;
      }
      read += rows.length;
    }
  } finally {
    database.close();
  }
}
