import assert from "node:assert/strict";
import fc from "fast-check";
import type { NewEvent } from "../events/event.ts";
import type { OrderState } from "../states/order_state.ts";
import {
  append,
  newLedger,
  projectAll,
  statesOf,
} from "../testing/fold_kit.ts";
import {
  expectedStates,
  orderRead,
  orderWebhook,
  session,
} from "../testing/projection_test_kit.ts";
import { tries } from "../../tests/kit/thorough.ts";

/** Two paid orders, each with a session of its own, and one of nobody. */
const honest: readonly NewEvent[] = [
  session(1, "S1", "C1", "10"),
  session(2, "S2", "C2", "10"),
  session(2, "EXPENSIVE", "C9", "9999"),
  orderRead(5, {
    orderId: "O1",
    status: "success",
    click: "C1",
    created: 3,
    tx: "0x1",
  }),
  orderRead(6, {
    orderId: "O2",
    status: "success",
    click: "C2",
    created: 4,
    tx: "0x2",
  }),
  orderWebhook("H1", 5, {
    type: "order_complete",
    orderId: "O1",
    click: "C1",
    session: "S1",
  }),
];

const forgery = fc.record({
  minute: fc.integer({ min: 0, max: 60 }),
  type: fc.constantFrom(
    "payment_started",
    "order_complete",
    "order_failed",
    "order_canceled",
  ),
  orderId: fc.constantFrom("O1", "O2"),
  click: fc.constantFrom("C1", "C2", "C9", null),
  session: fc.oneof(
    fc.constantFrom("S1", "S2", "EXPENSIVE", null),
    fc.integer({ min: 0, max: 99 }).map((n) => `0forged${n}`),
  ),
  amount: fc.constantFrom("10", "1"),
});

Deno.test("project() keeps session and release of confirmed orders whatever forged webhooks say, and whenever", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(forgery, { minLength: 1, maxLength: 60, size: "max" }),
      fc.infiniteStream(fc.nat()),
      async (forged, choices) => {
        const choose = (below: number) =>
          (choices.next().value as number) % below;
        const events = [
          ...honest,
          ...forged.map((one, n) => orderWebhook(`F${n}`, one.minute, one)),
        ].map((event) => ({ event, key: choose(1000) }))
          .sort((a, b) => a.key - b.key).map(({ event }) => event);
        await using driver = await newLedger();
        const maxEvents = 1 + choose(20);
        for (let from = 0; from < events.length;) {
          const to = from + 1 + choose(20);
          await append(driver, events.slice(from, to));
          from = to;
          if (choose(2) > 0) await projectAll(driver, { maxEvents });
        }
        await projectAll(driver, { maxEvents });
        const states = await statesOf(driver);
        for (const [id, own] of [["O1", "S1"], ["O2", "S2"]]) {
          const state: OrderState = JSON.parse(
            states[`order:${id}`]?.state ?? "null",
          );
          assert.deepEqual(
            [state.expected?.sessionId, state.outcome, state.release],
            [own, "session_matched", "yes"],
          );
        }
        assert.deepEqual(states, expectedStates(events));
      },
    ),
    { numRuns: tries(60) },
  );
});

Deno.test("project() tells of a session that a webhook names and the partner never recorded for the order", async () => {
  await using driver = await newLedger();
  await append(driver, [
    ...honest,
    orderWebhook("F1", 7, {
      ...{ type: "order_complete", orderId: "O2" },
      ...{ click: "C9", session: "EXPENSIVE" },
    }),
  ]);
  await projectAll(driver);
  const state: OrderState = JSON.parse(
    (await statesOf(driver))["order:O2"]?.state ?? "null",
  );
  assert.deepEqual(
    state.anomalies.filter(({ kind }) => kind === "session_mismatch"),
    [{ kind: "session_mismatch", sessionIds: ["EXPENSIVE"] }],
  );
});
