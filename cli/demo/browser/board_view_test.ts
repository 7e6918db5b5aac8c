import assert from "node:assert/strict";
import type { Explanation } from "../../../ledger/mod.ts";
import type { ExplainedEvent } from "../../../ledger/for_resources.ts";
import { initialOrderFold, orderState } from "../../../ledger/for_sync.ts";
import { type Beside, orderCard } from "./board_view.ts";

const beside: Beside = {
  atService: "progress",
  released: 0,
  nowMs: 0,
  forged: new Set(),
};

function explained(
  events: readonly Partial<ExplainedEvent>[],
): Explanation {
  return {
    orderId: "01ORDER",
    state: orderState(initialOrderFold("01ORDER"), {}),
    fields: [],
    leftOut: 0,
    events: events.map((event, i) => ({
      position: i + 1,
      eventId: `event-${i + 1}`,
      kind: "webhook",
      label: "order_complete",
      recordedAt: "2026-11-20T09:00:00.000Z",
      content: { code: "other", label: "order_complete" },
      effect: "changed",
      move: null,
      changes: [],
      why: { code: "names_order" },
      ...event,
    })),
  };
}

function change(field: string, before: string | null, after: string | null) {
  return { field, before, after };
}

Deno.test("orderCard() shows the latest event first, and what each made of the order", () => {
  const { events } = orderCard(
    explained([
      {
        changes: [
          change("status", null, "progress"),
          change("trust", null, "claimed"),
        ],
      },
      { changes: [change("trust", "claimed", "confirmed")] },
      { changes: [], effect: "unchanged" },
      {
        changes: [
          change("trust", "confirmed", "claimed"),
          change("status", "progress", "success"),
        ],
      },
    ]),
    beside,
  );
  assert.deepEqual(events.map(({ position }) => position), [4, 3, 2, 1]);
  assert.deepEqual(events.map(({ became }) => became), [
    { status: "success", trust: "claimed" },
    null,
    { status: "progress", trust: "confirmed" },
    { status: "progress", trust: "claimed" },
  ]);
});

Deno.test("orderCard() parts what people ask about from the other fields", () => {
  const { events: [event] } = orderCard(
    explained([{
      changes: [
        change("status", null, "success"),
        change("history", null, "webhook success"),
        change("txId", null, "0xabc"),
        change("fees.partnerFee", null, "1"),
      ],
    }]),
    beside,
  );
  assert.deepEqual(event?.changes.map(({ field }) => field), ["txId"]);
  assert.deepEqual(event?.others.map(({ field }) => field), [
    "fees.partnerFee",
  ]);
});

Deno.test("orderCard() marks the forger's events alone", () => {
  const { events } = orderCard(explained([{}, {}]), {
    ...beside,
    forged: new Set(["event-2"]),
  });
  assert.deepEqual(
    events.map(({ position, forged }) => [position, forged]),
    [[2, true], [1, false]],
  );
});
