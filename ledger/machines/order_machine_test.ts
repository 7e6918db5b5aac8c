import { chainReading, orderReleased } from "../testing/mint.ts";
import assert from "node:assert/strict";
import { statusAnomalies } from "../anomalies/anomaly.ts";
import type { Fact } from "../events/fact.ts";
import { foldOrder } from "../testing/fold_order.ts";
import { evolveOrder, initialOrderFold } from "../orders/order_fold.ts";
import {
  absentRead,
  contradiction,
  expectation,
  facts,
  ORDER,
  orderRead,
  orderWebhook,
  redelivered,
  requirement,
  session,
  userRead,
} from "../testing/given_facts.ts";
import {
  decideOrderStatus,
  orderDecision,
  orderMove,
} from "../orders/order_status.ts";
import {
  type Decision,
  isFinal,
  isKnown,
  orderMachine,
  orderRank,
} from "./machine.ts";
import { orderState } from "../states/order_state.ts";
import { WEBHOOK_TYPES } from "../../core/webhook_event/webhook_event.ts";
import {
  expectedOf,
  factsReader,
  ODD,
  shortHistories,
  STATUSES,
  type Step,
} from "./short_histories_test.ts";
import { leavesOf, withLeaf } from "./table_leaves_test.ts";

/** The rules in other words than the table: a second opinion on every row. */
const order = ["created", "progress", "pending", "failed", "success"]
  .concat("cancelled", "unlisted");
const finals = ["failed", "success", "cancelled"];
const ruledOut = [
  "pending created",
  "success created",
  "success progress",
  "success pending",
  "success failed",
  "cancelled created",
  "cancelled progress",
];
const claimOf: Readonly<Record<string, string>> = {
  payment_started: "progress",
  transfer_started: "pending",
  order_complete: "success",
  order_failed: "failed",
  order_cancelled: "cancelled",
};

function decisionByRule(a: string, w: string): Decision {
  if (a === "none") return w === "none" ? "initial" : "claim";
  if (finals.includes(a) || a === "unlisted") {
    return finals.includes(w) && w !== a ? "reading_contested" : "reading";
  }
  return order.indexOf(w) > order.indexOf(a) ? "claim" : "reading";
}

function anomalyByRule(from: string, to: string): string | null {
  if (from === to && from !== "unlisted") return null;
  if (finals.includes(from)) return "final_changed";
  if (to === "unlisted") return "unrecognised_status";
  if (from === "unlisted") return null;
  return order.indexOf(to) < order.indexOf(from) ? "regression" : null;
}

/** Every row of a machine that is not what the rules say. */
function wrongRows(machine: unknown): string[] {
  const wrong: string[] = [];
  for (const [row, value] of leavesOf(machine)) {
    const [table, from = "", to = ""] = row.split(".");
    const expected = (): unknown => {
      switch (table) {
        case "name":
          return "order";
        case "initial":
          return "created";
        case "states":
          return to === "rank"
            ? order.indexOf(from)
            : to === "final"
            ? finals.includes(from)
            : value;
        case "unlisted":
          return { rank: 6, final: false, meaning: value }[from];
        case "webhooks":
          return claimOf[from] ?? null;
        case "observations":
          return {
            order_snapshot: "reads",
            order_absent: "absent",
            order_contradicted: "contradicts",
            order_redacted: "reads",
          }[from] ?? null;
        case "decisions":
          return decisionByRule(from, to);
        default:
          return row.endsWith(".anomaly")
            ? anomalyByRule(from, to)
            : from === to && from !== "unlisted"
            ? "same"
            : ruledOut.includes(`${from} ${to}`)
            ? "impossible"
            : anomalyByRule(from, to) === null
            ? "usual"
            : "unusual";
      }
    };
    if (value !== expected()) {
      wrong.push(`${row} is ${value}, and by rule ${expected()}`);
    }
  }
  return wrong;
}

/** What the fold makes of a history, in the form of `expectedOf`. */
function foldedOf(history: readonly Fact[]): string {
  const fold = history.reduce(evolveOrder, initialOrderFold(ORDER));
  const { status, trust } = decideOrderStatus(fold);
  const kinds = statusAnomalies(fold).map(({ kind }) => kind);
  const anomaly = kinds.find((kind) =>
    kind === "final_changed" || kind === "regression"
  );
  return [
    `${status} ${trust}`,
    kinds.includes("contested") ? "contested" : "uncontested",
    anomaly ?? "regular",
  ].join(", ");
}

Deno.test("orderMachine says in every row what the rules say", () => {
  assert.deepEqual(wrongRows(orderMachine), []);
  assert.deepEqual(
    Object.keys(orderMachine.states).toSorted((a, b) =>
      orderRank(a) - orderRank(b)
    ),
    Object.keys(orderMachine.states),
    "states stand by rank, the lowest first",
  );
  assert.deepEqual(
    Object.keys(orderMachine.webhooks).sort(),
    Object.keys(WEBHOOK_TYPES).sort(),
  );
});

Deno.test("the fold does what orderMachine says, after every history of three steps", () => {
  const factsOf = factsReader();
  let histories = 0;
  for (const history of shortHistories(3)) {
    histories++;
    const { status, contested, anomaly, rows } = expectedOf(
      orderMachine,
      history,
    );
    const expected = [
      status,
      contested ? "contested" : "uncontested",
      anomaly ?? "regular",
    ].join(", ");
    const folded = foldedOf(factsOf(history));
    if (folded !== expected) {
      const told = history.map((step) => Object.values(step).join(" "));
      assert.equal(folded, expected, `${rows.join(", ")} after ${told}`);
    }
  }
  assert.equal(histories, 18 + 18 ** 2 + 18 ** 3);
});

Deno.test("the fold takes from each webhook and observation what orderMachine says", () => {
  for (const [type, claimed] of Object.entries(orderMachine.webhooks)) {
    const { claims } = foldOrder(ORDER, facts(orderWebhook(1, type)));
    assert.equal(claims[0]?.status ?? null, claimed, `webhooks.${type}`);
  }
  const complete = orderWebhook(1, "order_complete");
  const observed = {
    order_snapshot: orderRead(3, "pending", 3),
    order_absent: absentRead(3),
    order_contradicted: contradiction("success", 1),
    user_snapshot: userRead(3),
    session_created: session(3),
    order_expected: expectation(3),
    delivery_unanswered: {
      ...redelivered(complete, 3),
      kind: "delivery_unanswered",
      body: new TextEncoder().encode(
        JSON.stringify({ delivery_id: complete.eventId, reason: "slow" }),
      ),
    },
    order_released: {
      position: 3,
      ...orderReleased({
        released: {
          order_id: ORDER,
          outcome: "refunded",
          by: "Ada",
          why: "paid twice",
        },
        recordedAt: "2026-11-20T10:00:00.000Z",
        salt: new Uint8Array(16),
      }),
    },
    chain_reading: {
      position: 3,
      ...chainReading({
        looked: {
          order_id: ORDER,
          network: "bitcoin",
          verdict: "delivered",
          final: true,
          nodes: ["own"],
        },
        readAt: "2026-11-20T10:00:00.000Z",
        recordedAt: "2026-11-20T10:00:00.000Z",
        salt: new Uint8Array(16),
      }),
    },
    witness_required: requirement(3, "all"),
    order_redacted: { ...orderRead(3, "pending", 3), kind: "order_redacted" },
    month_closed: {
      ...session(3),
      kind: "month_closed",
      body: new TextEncoder().encode(JSON.stringify({ month: "2026-11" })),
    },
    note: { ...session(3), kind: "note" },
    person_erased: { ...session(3), kind: "person_erased" },
  } as const satisfies Record<keyof typeof orderMachine.observations, object>;
  for (const [kind, row] of Object.entries(orderMachine.observations)) {
    const event = observed[kind as keyof typeof observed];
    const fold = foldOrder(ORDER, facts(complete, event));
    const { status } = orderState(fold);
    const did = fold.latest !== null
      ? "reads"
      : fold.absentAt !== null
      ? "absent"
      : status !== "success"
      ? "contradicts"
      : null;
    assert.equal(did, row, `observations.${kind}`);
  }
});

/** All that code reads from the table: by itself, and in some histories. */
function behaviour(histories: readonly (readonly Step[])[]): string {
  const factsOf = factsReader();
  const seen: unknown[] = [orderState(initialOrderFold(ORDER)).status];
  for (const history of histories) seen.push(foldedOf(factsOf(history)));
  for (const event of ofEachType) {
    const { claims } = foldOrder(ORDER, facts(event));
    seen.push(claims.map(({ status }) => status));
  }
  for (const a of [null, ...STATUSES]) {
    seen.push(a && [orderRank(a), isFinal(a), isKnown(a)]);
    for (const w of [null, ...claimable]) seen.push(orderDecision(a, w));
    for (const b of STATUSES) seen.push(a && orderMove(a, b));
  }
  seen.push(orderMove(ODD, "another"));
  return JSON.stringify(seen);
}

/** What is kept of one of each type, an order's id among it. */
const ofEachType = Object.keys(orderMachine.webhooks).map((type) => ({
  ...orderRead(1, "pending", 1),
  kind: "order_redacted" as const,
  body: new TextEncoder().encode(JSON.stringify({
    order_id: ORDER,
    redacts: { kind: "webhook", type, event_id: null },
  })),
}));

const claimable = ["progress", "pending", "failed", "success", "cancelled"]
  .map((status) => status as "progress");

Deno.test("a row of orderMachine that is broken is named, and the code behaves otherwise", () => {
  const all = [...shortHistories(2)].map((history) => ({
    history,
    rows: expectedOf(orderMachine, history).rows,
  }));
  /** Rows that are printed and that no code runs. */
  const printed = /^name$|meaning$|^observations\./;
  let rows = 0;
  for (const [row, value] of leavesOf(orderMachine)) {
    if (row.endsWith("meaning")) continue;
    const about = all.filter(({ rows }) =>
      rows.includes(row.replace(/\.anomaly$/, ""))
    ).map(({ history }) => history);
    const before = behaviour(about);
    withLeaf(orderMachine, row, broken(row, value), () => {
      const wrong = wrongRows(orderMachine);
      assert.equal(wrong.length, 1, `${row}: ${wrong}`);
      assert.ok(wrong[0]?.startsWith(`${row} is `), `${row}: ${wrong}`);
      if (printed.test(row)) return;
      assert.notEqual(behaviour(about), before, `no code runs ${row}`);
    });
    rows++;
  }
  assert.ok(rows > 180, `${rows} rows`);
});

/** Another value of the same kind. */
function broken(row: string, value: unknown): unknown {
  if (typeof value === "number") return value + 1.5;
  if (typeof value === "boolean") return !value;
  if (row === "initial") return "progress";
  if (row.startsWith("webhooks.")) {
    return value === "failed" ? "success" : "failed";
  }
  if (row.startsWith("decisions.")) {
    return value === "claim" ? "reading" : "claim";
  }
  if (row.endsWith(".kind")) return value === "usual" ? "unusual" : "usual";
  if (row.endsWith(".anomaly")) return value === null ? "regression" : null;
  return "broken";
}
