import assert from "node:assert/strict";
import type { Driver, Statement } from "../store/database.ts";
import { ledgerOn } from "../ledger_on.ts";
import { newLedger } from "../testing/fold_kit.ts";
import {
  orderRead,
  orderWebhook,
  session,
  webhook,
} from "../testing/projection_test_kit.ts";
import { readDeliveryLog, readDeliveryPage } from "./deliveries.ts";

/** Tables that grow with the ledger; of lookups a run is a row, and holds 65,536. */
const LARGE = [
  ...[
    "events",
    "mentions",
    "seals",
    "orders",
    "users",
    "lookup_rows",
    "expected",
  ],
  ...["log", "purchases", "outbox", "handed", "observations"],
];

/** A driver that keeps every statement it was asked to run. */
function listening(driver: Driver, heard: Map<string, Statement>): Driver {
  return {
    location: driver.location,
    batch(statements, mode) {
      for (const one of statements) heard.set(one.sql, one);
      return driver.batch(statements, mode);
    },
    close: () => driver.close(),
  };
}

/** Whether there is any row, and which is the last: it stops at the first. */
const ONE_ROW =
  /EXISTS \(SELECT 1 FROM (\w+)|FROM (\w+)\s+ORDER BY \w+ DESC LIMIT 1\b/g;

/** Steps of a plan that walk a large table, and do not end after a few rows. */
async function walks(driver: Driver, { sql, args }: Statement) {
  const [plan] = await driver.batch(
    [{ sql: `EXPLAIN QUERY PLAN ${sql}`, args }],
    "write",
  );
  const steps = plan?.rows.map((row) => String(row[3])) ?? [];
  const isSorted = steps.some((step) => step.includes("TEMP B-TREE"));
  const aliases = new Map(
    [...sql.matchAll(/\b(\w+) AS (\w+)\b/g)].map(([, table, alias]) => [
      alias,
      table,
    ]),
  );
  const looked = [...sql.matchAll(ONE_ROW)].flatMap(([, ...names]) => names);
  return steps.filter((step) => {
    const [, name = ""] = /^SCAN (\w+)/.exec(step) ?? [];
    const table = aliases.get(name) ?? name;
    // A page is so many rows of an index, one after the other.
    const isPage = !isSorted && /\bUSING\b/.test(step) && /LIMIT/.test(sql);
    return LARGE.includes(table) && !looked.includes(table) && !isPage;
  });
}

Deno.test("what a ledger does for an event, and to answer about one order or user, walks no table that grows", async () => {
  const heard = new Map<string, Statement>();
  const store = await newLedger();
  const driver = listening(store, heard);
  await using ledger = await ledgerOn(driver, { environment: "sandbox" });
  heard.clear();
  await ledger.subscribe("goods", { on: "*", start: false }, () => {});
  heard.clear();
  for (let round = 0; round < 3; round++) {
    await ledger.append([
      session(round, `S${round}`, "C", "10", `basket-${round}`),
      orderWebhook(`W${round}`, round, {
        ...{ type: "payment_started", orderId: `O${round}`, click: "C" },
        ...{ session: `S${round}`, user: "U1" },
      }),
      orderRead(round, { orderId: `O${round}`, status: "success", click: "C" }),
      webhook(`L${round}`, round, { type: "login", user: { user_id: "U1" } }),
    ]);
    await ledger.project();
    await ledger.chain();
  }
  await ledger.explain("O1");
  await ledger.asOf("O1", "2026-11-20T09:00:00Z");
  await ledger.occurrences("L1");
  await ledger.orders.get("O1");
  await ledger.orders.getMany(["O1", "O2"]);
  await ledger.users.get("U1");
  await ledger.lag();
  await ledger.transitions({ after: 3 });
  await ledger.transitions({ id: "O1" });
  await ledger.handRelease("O1");
  for (const name of ["C", "S1", "basket-1", "O1", "U1"]) {
    await ledger.orders.find(name);
    await ledger.find(`${name}    `);
  }
  await readDeliveryLog(driver, 3, 10);
  const day = { receivedFrom: "2026-11-20", receivedBefore: "2026-11-21" };
  for (
    const query of [
      ...[{}, day, { userId: "U1" }, { orderId: "O1" }, { quarantined: true }],
    ]
  ) await readDeliveryPage(driver, query);
  assert.ok(heard.size > 40, `${heard.size} statements`);
  const walking: string[] = [];
  for (const statement of heard.values()) {
    for (const step of await walks(store, statement)) {
      walking.push(`${step}: ${statement.sql.replaceAll(/\s+/g, " ")}`);
    }
  }
  assert.deepEqual(walking, []);
});
