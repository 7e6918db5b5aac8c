import assert from "node:assert/strict";
import { ledgerOn } from "../ledger_on.ts";
import type { Driver, Statement } from "../store/driver/driver.ts";
import { openDriver } from "../store/connections/open_driver.ts";
import {
  selectNaming,
  selectReceived,
  selectReceivedStepEnd,
} from "../store/tables/deliveries.ts";
import { placeOf, selectStepEnd } from "../store/tables/lists/list_order.ts";
import {
  orderTotals,
  pageStatement,
} from "../store/tables/lists/state_pages.ts";
import { selectTransitions } from "../store/tables/transitions.ts";
import {
  orderRead,
  orderWebhook,
  session,
  webhook,
} from "../testing/projection_test_kit.ts";
import { encodeCursor } from "../store/tables/query_values.ts";
import { type OrderQuery, orderSelection } from "./orders.ts";
import { type UserQuery, userSelection } from "./users.ts";

/** Tables that grow with the ledger. */
const large = [
  "events",
  "orders",
  "users",
  "order_links",
  "expectations",
  "transitions",
  "chain",
];

/** A driver that keeps every statement it was asked to run. */
function listening(driver: Driver, heard: Statement[]): Driver {
  return {
    location: driver.location,
    batch(statements, mode) {
      heard.push(...statements);
      return driver.batch(statements, mode);
    },
    close: () => driver.close(),
  };
}

/** Steps of a plan that walk a large table instead of searching it. */
async function walks(driver: Driver, { sql, args }: Statement) {
  const [plan] = await driver.batch(
    [{ sql: `EXPLAIN QUERY PLAN ${sql}`, args }],
    "read",
  );
  const steps = plan?.rows.map((row) => String(row[3])) ?? [];
  // A recursion names its own table, and an alias hides the name of another.
  const aliases = new Map(
    [...sql.matchAll(/\b(\w+) AS (\w)\b/g)].map(([, table, alias]) => [
      alias,
      table,
    ]),
  );
  return steps.filter((step) => {
    // A search by generation alone goes through all states there are.
    const [, name = ""] = /^SCAN (\w+)/.exec(step) ??
      /^SEARCH (\w+) .*\(generation=\?\)$/.exec(step) ?? [];
    return large.includes(aliases.get(name) ?? name);
  });
}

Deno.test("Ledger.project(), refold(), explain(), asOf() and find() walk no table that grows", async () => {
  const heard: Statement[] = [];
  const driver = await openDriver({ url: ":memory:", worker: false });
  const ledger = await ledgerOn(listening(driver, heard), {
    environment: "sandbox",
  });
  heard.length = 0;
  for (let round = 0; round < 3; round++) {
    await ledger.append([
      session(round, `S${round}`, "C"),
      orderWebhook(`W${round}`, round, {
        type: "payment_started",
        orderId: `O${round}`,
        session: `S${round}`,
        click: "C",
        user: "U1",
      }),
      orderRead(round, { orderId: `O${round}`, status: "pending", click: "C" }),
      webhook(`L${round}`, round, { type: "login", user: { user_id: "U1" } }),
    ]);
    await ledger.project();
    await ledger.chain();
  }
  await ledger.refold();
  await ledger.explain("O1");
  await ledger.asOf("O1", "2026-11-20T09:00:00Z");
  await ledger.occurrences("L1");
  await ledger.orders.find("C");
  await ledger.users.get("U1");
  const different = new Map(
    heard.filter(({ sql }) =>
      // What asks whether there is any row at all stops at the first.
      /^(SELECT|WITH)\b/.test(sql) && !sql.startsWith("SELECT EXISTS")
    ).map((one) => [one.sql, one]),
  );
  assert.ok(different.size > 20, `${different.size} statements`);
  const walking: string[] = [];
  for (const statement of different.values()) {
    for (const step of await walks(driver, statement)) {
      walking.push(`${step}: ${statement.sql.replaceAll(/\s+/g, " ")}`);
    }
  }
  assert.deepEqual(walking, []);
  await ledger.close();
});

/** How a plan reads one large table: its steps without those on others. */
async function stepsOf(driver: Driver, { sql, args }: Statement) {
  const [plan] = await driver.batch(
    [{ sql: `EXPLAIN QUERY PLAN ${sql}`, args }],
    "read",
  );
  return (plan?.rows.map((row) => String(row[3])) ?? []).filter((step) =>
    // Whether an order had ended before the ledger went live: one key each.
    !/^(CORRELATED )?SCALAR SUBQUERY|^REUSE SUBQUERY|^SEARCH projections |^SEARCH h USING PRIMARY KEY /
      .test(step)
  );
}

Deno.test("a page of a list is one walk of one index, from where the page before ended", async () => {
  const driver = await openDriver({ url: ":memory:", worker: false });
  const ledger = await ledgerOn(driver, { environment: "sandbox" });
  const time = "2026-11-20T09:00:00.000Z";
  const cursor = encodeCursor({ sortAt: time, id: "O1" });
  const orders = (query: OrderQuery) =>
    pageStatement(orderSelection({ after: cursor, ...query }));
  const users = (query: UserQuery) =>
    pageStatement(userSelection({ after: cursor, ...query }));
  const place = { position: 9, receivedAt: time };
  const from = "(sort_at,place)<(?,?))";
  const on = (index: string, columns: string) => [
    `SEARCH orders USING INDEX ${index} (generation=?${columns}`,
    // Where the order stands that the page before ended with.
    "SEARCH e USING INDEX sqlite_autoindex_orders_1 " +
    "(generation=? AND order_id=?)",
    // Whether anything was recorded to compare with: one look for each page.
    "SEARCH events USING COVERING INDEX events_by_kind (kind=?)",
    // The few releases of each order of the page: paid twice, and withheld.
    ...new Array(2).fill(
      "SEARCH t USING INDEX sqlite_autoindex_transitions_1 " +
        "(entity=? AND entity_id=? AND machine=?)",
    ),
  ];
  const pages: readonly (readonly [Statement, readonly string[]])[] = [
    [orders({}), on("orders_by_time", ` AND ${from}`)],
    [
      orders({ createdAfter: time, createdUpTo: time }),
      on("orders_by_time", ` AND sort_at>? AND ${from}`),
    ],
    [
      orders({ createdAfter: time, createdUpTo: time, sort: "oldest" }),
      on("orders_by_time", " AND (sort_at,place)>(?,?) AND sort_at<?)"),
    ],
    [
      orders({ status: "pending" }),
      on("orders_by_status", ` AND status=? AND ${from}`),
    ],
    [
      orders({ trust: "claimed" }),
      on("orders_open", ` AND trust=? AND ${from}`),
    ],
    [orders({ trust: "confirmed" }), on("orders_by_time", ` AND ${from}`)],
    [
      orders({ userId: "U1" }),
      on("orders_by_user", ` AND user_id=? AND ${from}`),
    ],
    [
      orders({ commodity: "BTC" }),
      on("orders_by_commodity", ` AND commodity=? AND ${from}`),
    ],
    [orders({ anomaly: true }), on("orders_with_anomaly", ` AND ${from}`)],
    [orders({ anomaly: "absent" }), on("orders_with_anomaly", ` AND ${from}`)],
    [
      orders({ attention: "refund_due" }),
      on("orders_with_attention", ` AND ${from}`),
    ],
    [
      orders({ release: "unchecked" }),
      on("orders_by_release", ` AND release=? AND ${from}`),
    ],
    [
      orders({ release: "no", releaseReason: "ended" }),
      on("orders_by_release", ` AND release=? AND ${from}`),
    ],
    [users({}), [
      "SEARCH users USING INDEX users_by_time (generation=? AND " +
      "(sort_at,place)<(?,?))",
      "SEARCH e USING INDEX sqlite_autoindex_users_1 " +
      "(generation=? AND user_id=?)",
    ]],
    [selectNaming({ orderId: "O1", type: "test" }, place, 9), [
      "SEARCH events USING INDEX events_by_order (order_id=? AND rowid<?)",
    ]],
    [selectReceived({ type: "test" }, { from: place }, 9), [
      // Those of the same moment are passed over one by one.
      "SEARCH events USING INDEX events_received (recorded_at<?)",
    ]],
    [
      selectReceived(
        { type: "test", receivedFrom: time, receivedBefore: time },
        { from: place, to: place },
        9,
      ),
      ["SEARCH events USING INDEX events_received (recorded_at>? AND recorded_at<?)"],
    ],
    [
      selectReceivedStepEnd(
        { receivedFrom: time, receivedBefore: time },
        null,
        9,
      ),
      [
        "SEARCH events USING COVERING INDEX events_received " +
        "(recorded_at>? AND recorded_at<?)",
      ],
    ],
    [selectReceived({ quarantined: true }, { from: place }, 9), [
      "SEARCH events USING INDEX events_quarantined (recorded_at<?)",
    ]],
    [selectReceived({ quarantined: true }, { from: null }, 9), [
      "SCAN events USING INDEX events_quarantined",
    ]],
    [selectTransitions({ after: 9 }), [
      "SEARCH transitions USING INTEGER PRIMARY KEY (rowid>?)",
    ]],
  ];
  for (const [statement, steps] of pages) {
    assert.deepEqual(await stepsOf(driver, statement), steps, statement.sql);
  }
  await ledger.close();
});

Deno.test("a step of a walk is bounded on both sides by its index, and its end is found in the index", async () => {
  const driver = await openDriver({ url: ":memory:", worker: false });
  const ledger = await ledgerOn(driver, { environment: "sandbox" });
  const time = "2026-11-20T09:00:00.000Z";
  const window = { createdAfter: time, createdUpTo: time };
  const steps: readonly (readonly [OrderQuery, string])[] = [
    [
      { network: "base", ...window },
      "orders_by_time (generation=? AND (sort_at,place)>(?,?) AND (sort_at,place)<(?,?))",
    ],
    [
      { sort: "oldest", network: "base", ...window },
      "orders_by_time (generation=? AND (sort_at,place)>(?,?) AND (sort_at,place)<(?,?))",
    ],
  ];
  for (const [query, search] of steps) {
    const selection = orderSelection(query);
    const keys = query.amountFrom === undefined ? [time, 9] : [1, time, 9];
    const step = { from: placeOf(keys), to: placeOf(keys) };
    const plan = await stepsOf(driver, pageStatement(selection, step));
    assert.equal(plan[0], `SEARCH orders USING INDEX ${search}`);
    assert.ok(!plan.some((one) => one.includes("B-TREE")), plan.join("\n"));
    const end = await stepsOf(
      driver,
      selectStepEnd(selection, step.from, 9),
    );
    assert.equal(end.length, 1, end.join("\n"));
    assert.match(
      end[0] ?? "",
      /^SEARCH orders USING INDEX orders_by_(time|amount) \(generation=\? AND \(?sort_/,
    );
  }
  await ledger.close();
});

Deno.test("which orders wait for one reason is told from the index alone", async () => {
  const driver = await openDriver({ url: ":memory:", worker: false });
  const ledger = await ledgerOn(driver, { environment: "sandbox" });
  const { where } = orderSelection({ attention: "forged_or_unknown" });
  const statement = {
    sql: `SELECT place FROM orders WHERE generation = 1 AND ${
      where.map(({ sql }) => sql).join(" AND ")
    } ORDER BY sort_at DESC, place DESC`,
    args: where.flatMap(({ args }) => args),
  };
  assert.deepEqual(await stepsOf(driver, statement), [
    "SEARCH orders USING COVERING INDEX orders_with_attention (generation=?)",
  ]);
  await ledger.close();
});

Deno.test("a release and its reason are told from the index alone", async () => {
  const driver = await openDriver({ url: ":memory:", worker: false });
  const ledger = await ledgerOn(driver, { environment: "sandbox" });
  const [one] = orderSelection({ releaseReason: "several_match" }).either ?? [];
  assert.ok(one !== undefined);
  const statement = {
    sql: `SELECT place FROM orders WHERE generation = 1 AND ${one.sql}
      ORDER BY sort_at DESC, place DESC`,
    args: one.args,
  };
  assert.deepEqual(await stepsOf(driver, statement), [
    "SEARCH orders USING COVERING INDEX orders_by_release " +
    "(generation=? AND release=?)",
  ]);
  await ledger.close();
});

Deno.test("open orders are merged from both trusts, and never sorted as a whole", async () => {
  const driver = await openDriver({ url: ":memory:", worker: false });
  const ledger = await ledgerOn(driver, { environment: "sandbox" });
  for (const query of [{ open: true }, { attention: "stuck" }] as const) {
    const steps = await stepsOf(driver, pageStatement(orderSelection(query)));
    assert.ok(steps.includes("MERGE (UNION ALL)"), steps.join("\n"));
    assert.equal(
      steps.filter((step) =>
        step === "SEARCH orders USING INDEX orders_open " +
            "(generation=? AND trust=?)"
      ).length,
      2,
      steps.join("\n"),
    );
    assert.ok(!steps.some((step) => step.includes("B-TREE")));
  }
  await ledger.close();
});

Deno.test("orders that wait are merged from two indexes, and never sorted as a whole", async () => {
  const driver = await openDriver({ url: ":memory:", worker: false });
  const ledger = await ledgerOn(driver, { environment: "sandbox" });
  const steps = await stepsOf(
    driver,
    pageStatement(orderSelection({ release: "wait" })),
  );
  assert.ok(steps.includes("MERGE (UNION ALL)"), steps.join("\n"));
  const left = steps.slice(steps.indexOf("LEFT"), steps.indexOf("RIGHT"));
  assert.ok(
    left.includes(
      "SEARCH orders USING INDEX orders_by_release (generation=? AND release=?)",
    ),
    steps.join("\n"),
  );
  assert.ok(!left.some((step) => step.includes("B-TREE")), steps.join("\n"));
  assert.ok(
    steps.some((step) => step.includes("transitions_paid_twice")),
    steps.join("\n"),
  );
  await ledger.close();
});

Deno.test("a list by what only the index by time holds goes by it, and so does its sum", async () => {
  const driver = await openDriver({ url: ":memory:", worker: false });
  const ledger = await ledgerOn(driver, { environment: "sandbox" });
  for (
    const query of [
      { network: "base" },
      { currency: "EUR", amountFrom: "1", amountTo: "100.50" },
      { outcome: "declined", release: "no" },
      { status: "success", release: "yes", commodity: "BTC" },
    ] as OrderQuery[]
  ) {
    for (
      const [{ sql, args }, search] of [
        [pageStatement(orderSelection(query)), "INDEX"],
        // Sums read no order.
        [orderTotals(orderSelection(query)), "COVERING INDEX"],
      ] as const
    ) {
      const steps = await stepsOf(driver, { sql, args });
      assert.ok(
        steps.some((step) =>
          step.startsWith(`SEARCH orders USING ${search} orders_by_time (`)
        ),
        `${sql}\n${steps.join("\n")}`,
      );
    }
  }
  await ledger.close();
});
