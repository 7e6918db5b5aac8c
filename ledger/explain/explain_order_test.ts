import fc from "fast-check";
import assert from "node:assert/strict";
import type { RecordedEvent } from "../events/event.ts";
import {
  absentRead,
  ADDRESS,
  contradiction,
  facts,
  ORDER,
  orderRead,
  orderWebhook,
  redelivered,
  session,
  TX,
  TX2,
  webhookAt,
} from "../testing/given_facts.ts";
import {
  explainOrder,
  fieldChanges,
  type FieldValue,
  flattenState,
} from "./explain_order.ts";
import { foldOrder } from "../testing/fold_order.ts";
import { orderState } from "../states/order_state.ts";
import { tries } from "../../tests/kit/thorough.ts";

function outcomes(...events: RecordedEvent[]): string[] {
  return explainOrder(ORDER, facts(...events)).events.map(({ effect }) =>
    effect
  );
}

type Fields = Readonly<Record<string, FieldValue | null | undefined>>;

/** The same values, but for zeros at the end of an amount. */
function assertSame(a: Fields, b: Fields): void {
  const given = (fields: Fields) =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([field, value]) =>
        value === null || value === undefined ? [] : [[field, value]]
      ),
    );
  assert.deepEqual(fieldChanges(given(a), given(b)), []);
}

Deno.test("explainOrder() says what each event changed", () => {
  const started = orderWebhook(1, "payment_started");
  const read = orderRead(2, "success", 2, { tx_id: TX });
  const { events, state } = explainOrder(ORDER, facts(started, read));
  assert.equal(state.status, "success");
  const [first, second] = events;
  assert.equal(first?.effect, "changed");
  assert.deepEqual(first?.content, {
    code: "webhook",
    label: "payment_started",
    claimed: "progress",
    hasBody: true,
  });
  assert.deepEqual(
    first?.changes.find(({ field }) => field === "externalOrderId"),
    { field: "externalOrderId", before: null, after: "AB12CD" },
  );
  assert.equal(second?.effect, "changed");
  assert.deepEqual(second?.changes.find(({ field }) => field === "status"), {
    field: "status",
    before: "progress",
    after: "success",
  });
  assert.deepEqual(second?.changes.find(({ field }) => field === "trust"), {
    field: "trust",
    before: "claimed",
    after: "confirmed",
  });
});

Deno.test("explainOrder() names the move that each event made on the machine", () => {
  const events = [
    orderWebhook(1, "payment_started"),
    orderRead(2, "pending", 2),
    orderWebhook(3, "order_complete"),
    orderRead(4, "success", 4),
    redelivered(orderWebhook(1, "payment_started"), 5),
    orderRead(6, "cancelled", 6),
    session(7),
  ];
  const moves = explainOrder(ORDER, facts(...events)).events.map(
    ({ move }) =>
      move && [
        move.from && `${move.from.status} ${move.from.trust}`,
        `${move.to.status} ${move.to.trust}`,
        move.decision,
        move.reading && Object.values(move.reading).join(" "),
      ],
  );
  assert.deepEqual(moves, [
    [null, "progress claimed", "claim", null],
    ["progress claimed", "pending confirmed", "reading", null],
    ["pending confirmed", "success claimed", "claim", null],
    [
      "success claimed",
      "success confirmed",
      "reading",
      "pending success usual ",
    ],
    null,
    [
      "success confirmed",
      "cancelled confirmed",
      "reading",
      "success cancelled unusual final_changed",
    ],
    null,
  ]);
});

Deno.test("explainOrder() says why an event changed nothing", () => {
  const complete = orderWebhook(3, "order_complete", {
    transaction_id: TX,
  });
  const shown = orderRead(3, "success", 3, { tx_id: TX });
  const cancelled = orderRead(4, "cancelled", 4, { tx_id: "" });
  const explained = explainOrder(
    ORDER,
    facts(
      complete,
      shown,
      cancelled,
      redelivered(complete, 900),
      orderRead(905, "pending", 2),
      absentRead(1),
    ),
  ).events;
  const repeat = explained[3];
  assert.equal(repeat?.effect, "unchanged");
  assert.deepEqual(repeat?.why, {
    code: "repeated",
    position: complete.position,
  });
  const absent = explained[5];
  assert.equal(absent?.effect, "unchanged");
  assert.equal(absent?.why.code, "shown_since");
});

Deno.test("explainOrder() names the rule that stood against a claim", () => {
  const why = (...events: RecordedEvent[]) => {
    const last = explainOrder(ORDER, facts(...events)).events.at(-1);
    const { code = "", ...data } = last?.why ?? {};
    return [last?.effect, code, ...Object.values(data)].join(" ");
  };
  const complete = orderWebhook(3, "order_complete");
  assert.equal(
    why(orderRead(4, "failed", 4), complete),
    "changed reading_is_final failed",
    "it is contested now",
  );
  assert.equal(
    why(
      orderRead(4, "failed", 4),
      complete,
      orderWebhook(9, "order_complete", {}, { more: true }),
    ),
    "unchanged reading_is_final failed",
  );
  assert.equal(
    why(
      orderRead(3, "success", 3, { tx_id: TX2 }),
      complete,
      orderRead(4, "cancelled", 4),
      orderWebhook(9, "order_complete", {}, { more: true }),
    ),
    "unchanged claim_used_up success cancelled",
  );
  assert.equal(
    why(complete, redelivered(complete, 9)),
    `unchanged repeated ${complete.position}`,
  );
  assert.equal(
    why(
      complete,
      orderWebhook(2, "payment_started"),
      orderWebhook(9, "payment_started", {}, { more: true }),
    ),
    "unchanged higher_claim progress success",
  );
  assert.match(
    why(orderRead(9, "success", 9), orderRead(10, "pending", 2)),
    /^noted later_state_known/,
    "the history has one more status, and nothing depends on it",
  );
  assert.match(
    why(
      orderRead(9, "success", 9),
      orderRead(10, "pending", 2),
      orderRead(11, "pending", 3),
    ),
    /^unchanged later_state_known /,
  );
});

Deno.test("explainOrder() explains contradictions, sessions and unreadable events", () => {
  const complete = orderWebhook(3, "order_complete", {}, {
    hpp_session_id: "session-1",
  });
  const brewed = webhookAt(4, { type: "brewed", order: { id: ORDER } });
  assert.deepEqual(
    outcomes(
      orderRead(2, "progress", 2),
      complete,
      contradiction("success", 3),
      contradiction("failed", 3),
      session(0, { reference: "basket-7" }),
      session(9, { session_id: "session-2" }),
      brewed,
    ),
    [
      "changed",
      "changed",
      "changed",
      "unchanged",
      "changed",
      "unchanged",
      "unchanged",
    ],
  );
  const early = explainOrder(ORDER, facts(session(0), complete)).events;
  assert.ok(
    early[0]?.changes.every(({ field }) => field.startsWith("expected.")),
    "a session alone makes no order",
  );
  assert.deepEqual(
    explainOrder(ORDER, facts(orderRead(4, "success", 4), complete)).events[1]
      ?.why,
    { code: "read_before" },
  );
  const { events } = explainOrder(ORDER, facts(brewed));
  assert.equal(events[0]?.effect, "changed", "the order exists");
  assert.deepEqual(events[0]?.why, {
    code: "names_order_unreadably",
    reason: {
      code: "webhook_unrecognised",
      problems: ["Unknown type: brewed"],
    },
  });
});

Deno.test("explainOrder() only notes a late webhook, and takes 218.40 for 218.4", () => {
  const { events } = explainOrder(
    ORDER,
    facts(
      orderWebhook(1, "payment_started", { quote_amount: "218.40" }),
      orderRead(2, "success", 2, { currency_amount: 218.4, tx_id: TX }),
      orderRead(4, "cancelled", 4, { currency_amount: 218.4, tx_id: TX }),
      orderWebhook(9, "order_complete", {
        quote_amount: "218.40",
        transaction_id: TX,
      }),
    ),
  );
  assert.equal(
    events[1]?.changes.find(({ field }) => field === "currencyAmount"),
    undefined,
  );
  assert.deepEqual(
    events.map(({ effect }) => effect),
    ["changed", "changed", "changed", "noted"],
  );
  assert.equal(events.at(-1)?.why.code, "claim_used_up");
});

Deno.test("explainOrder() shows no status once no claim of one counts", () => {
  const { events } = explainOrder(
    ORDER,
    facts(
      orderWebhook(1, "order_complete"),
      absentRead(12),
      contradiction("success", 2),
    ),
  );
  assert.deepEqual(
    events.at(-1)?.changes.find(({ field }) => field === "status"),
    { field: "status", before: "success", after: null },
  );
});

Deno.test("explainOrder() leaves out events of other orders", () => {
  const { events } = explainOrder(
    ORDER,
    facts(
      orderWebhook(1, "order_complete"),
      orderWebhook(2, "order_failed", { id: "01HZOTHER" }),
    ),
  );
  assert.equal(events.length, 1);
});

Deno.test("explainOrder() names the event each field comes from", () => {
  const complete = orderWebhook(3, "order_complete", {
    transaction_id: TX,
  });
  const read = orderRead(2, "pending", 2);
  const asked = session(0, { reference: "basket-7" });
  const linked = orderWebhook(1, "payment_started", { address: "0xOLD" }, {
    hpp_session_id: "session-1",
  });
  const { fields } = explainOrder(ORDER, facts(asked, linked, read, complete));
  const source = (name: string) => {
    const found = fields.find(({ field }) => field === name);
    return found === undefined
      ? null
      : `${found.source} ${found.position} ${found.value}`;
  };
  assert.equal(source("status"), `webhook ${complete.position} success`);
  assert.equal(source("txId"), `webhook ${complete.position} ${TX}`);
  assert.equal(source("address"), `snapshot ${read.position} ${ADDRESS}`);
  assert.equal(source("network"), `snapshot ${read.position} ethereum`);
  assert.equal(
    source("createdAt"),
    `snapshot ${read.position} 2026-11-20T00:00:00Z`,
  );
  assert.equal(
    source("expected.reference"),
    `session ${asked.position} basket-7`,
  );
  assert.equal(source("reason"), null);
});

Deno.test("explainOrder() ends in the state of the fold and adds up, for random histories", () => {
  const event = fc.oneof(
    fc.constantFrom("payment_started", "order_complete", "order_failed").chain(
      (type) =>
        fc.integer({ min: 0, max: 9 }).map((minute) =>
          orderWebhook(minute, type)
        ),
    ),
    fc.tuple(
      fc.constantFrom("pending", "success", "failed"),
      fc.integer({ min: 0, max: 9 }),
    ).map(([status, minute]) => orderRead(minute, status, minute)),
    fc.integer({ min: 0, max: 9 }).map((minute) =>
      contradiction("success", minute)
    ),
    fc.tuple(fc.integer({ min: 0, max: 20 }), fc.constantFrom("s-1", "s-2"))
      .map(([minute, session_id]) => session(minute, { session_id })),
    fc.tuple(fc.integer({ min: 0, max: 20 }), fc.constantFrom("s-1", "s-2"))
      .map(([minute, hpp_session_id]) =>
        orderWebhook(minute, "payment_started", {}, { hpp_session_id })
      ),
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 12 }), (events) => {
      const all = facts(...events);
      const { events: explained, state, fields } = explainOrder(ORDER, all);
      assert.deepEqual(state, orderState(foldOrder(ORDER, all)));
      const shown = new Map<string, FieldValue>();
      for (const { changes, effect } of explained) {
        assert.equal(effect === "unchanged", changes.length === 0);
        assert.equal(
          effect === "noted",
          changes.length > 0 &&
            changes.every(({ field }) =>
              field === "history" || field === "sessions"
            ),
        );
        for (const { field, before, after } of changes) {
          assertSame({ [field]: shown.get(field) }, { [field]: before });
          if (after === null) shown.delete(field);
          else shown.set(field, after);
        }
      }
      if (all.some(({ orderId }) => orderId === ORDER)) {
        assertSame(Object.fromEntries(shown), flattenState(state));
      }
      for (const { field, value, position } of fields) {
        assertSame({ [field]: shown.get(field) }, { [field]: value });
        assert.ok(all.some((fact) => fact.position === position));
      }
    }),
    { numRuns: tries(150) },
  );
});

Deno.test("explainOrder() says why a session of the same click id is not the order's", () => {
  const read = orderRead(30, "progress", 30, {
    created_at: "2026-11-20 00:20:00",
  });
  const sessions = (...minutes: number[]) =>
    minutes.map((minute) => session(minute, { session_id: `s-${minute}` }));
  const last = (...events: RecordedEvent[]) =>
    explainOrder(ORDER, facts(...events)).events.at(-1)?.why.code;
  assert.equal(last(read, ...sessions(8, 10, 5)), "order_of_other_expectation");
  assert.equal(last(read, ...sessions(10, 10)), "expectation_known");
  const late = sessions(10, 40);
  assert.equal(last(read, ...late), "session");
  const done = orderRead(35, "success", 35);
  assert.equal(last(read, done, ...late), "expectation_after_order");
  assert.equal(
    last(read, ...sessions(...Array.from({ length: 18 }, (_, n) => n))),
    "click_id_shared_by_many",
  );
  const expired = session(10, { session_id: "s-10", valid_for_ms: 60_000 });
  assert.equal(last(read, expired), "expectation_expired");
  const elsewhere = session(10, { click_id: "basket-2" });
  assert.equal(last(read, elsewhere), "expectation_of_other_click_id");
  assert.equal(
    last(orderWebhook(31, "order_complete"), ...sessions(10)),
    "expectation_not_linked",
  );
});
