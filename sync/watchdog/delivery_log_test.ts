import assert from "node:assert/strict";
import fc from "fast-check";
import type { DeliveryLogRow } from "../../ledger/for_sync.ts";
import {
  type DeliveryFacts,
  deliveryFacts,
  emptyDeliveryLog,
  evolveDeliveryLog,
  withoutFuture,
} from "./watchdog.ts";

const at = (n: number) => new Date(n * 1000).toISOString();

function webhook(
  n: number,
  type: string | null = "order_complete",
): DeliveryLogRow {
  return {
    position: n,
    kind: "webhook",
    eventId: `d${n}`,
    type,
    recordedAt: at(n),
    unansweredId: null,
    shown: true,
    ofOrder: type !== "login",
    named: null,
  };
}

function unanswered(position: number, n: number): DeliveryLogRow {
  return {
    position,
    kind: "delivery_unanswered",
    eventId: `u${n}`,
    type: null,
    recordedAt: at(position),
    unansweredId: `d${n}`,
    shown: false,
    ofOrder: false,
    named: null,
  };
}

function read(entries: readonly DeliveryLogRow[]): DeliveryFacts {
  return deliveryFacts(entries.reduce(evolveDeliveryLog, emptyDeliveryLog(0)));
}

Deno.test("evolveDeliveryLog() remembers the last delivery answered in time", () => {
  assert.deepEqual(read([]), { lastReceivedAt: null, failingSince: null });
  assert.deepEqual(read([webhook(1), webhook(2)]), {
    lastReceivedAt: at(2),
    failingSince: null,
  });
});

Deno.test("evolveDeliveryLog() leaves the Test button and quarantine out", () => {
  assert.deepEqual(
    read([webhook(1), webhook(2, "test"), webhook(3, null)]),
    { lastReceivedAt: at(1), failingSince: null },
  );
});

Deno.test("evolveDeliveryLog() takes a late word about a delivery in", () => {
  const events = [webhook(1), webhook(2), unanswered(3, 2)];
  assert.deepEqual(read(events), {
    lastReceivedAt: at(1),
    failingSince: at(2),
  });
  assert.deepEqual(read([...events, webhook(4)]), {
    lastReceivedAt: at(4),
    failingSince: null,
  });
});

Deno.test("evolveDeliveryLog() goes on counting down when users log in", () => {
  const events = [webhook(1), unanswered(2, 1)];
  assert.deepEqual(read([...events, webhook(3, "login")]), {
    lastReceivedAt: at(3),
    failingSince: at(1),
  });
  assert.equal(
    read([...events, webhook(3, "login"), webhook(4)]).failingSince,
    null,
  );
});

Deno.test("evolveDeliveryLog() is not calmed by a delivery of before the failure", () => {
  const early = { ...webhook(3), recordedAt: at(1) };
  assert.equal(read([webhook(2), unanswered(2, 2), early]).failingSince, at(2));
});

Deno.test("evolveDeliveryLog() knows a delivery that was named before it was stored", () => {
  assert.deepEqual(read([webhook(1), unanswered(2, 3), webhook(3)]), {
    lastReceivedAt: at(1),
    failingSince: at(3),
  });
});

Deno.test("evolveDeliveryLog() stays small and loses no fact by it", () => {
  fc.assert(
    fc.property(
      fc.array(fc.boolean(), { minLength: 300, maxLength: 900 }),
      (answers) => {
        const entries = answers.flatMap((answered, i) =>
          answered
            ? [webhook(i + 1)]
            : [webhook(i + 1), unanswered(i + 1, i + 1)]
        );
        const log = entries.reduce(evolveDeliveryLog, emptyDeliveryLog(0));
        assert.ok(log.recent.length <= 256 && log.unanswered.length <= 256);
        const last = answers.lastIndexOf(true);
        const failing = answers.indexOf(false, last + 1);
        assert.deepEqual(deliveryFacts(log), {
          lastReceivedAt: last === -1 ? null : at(last + 1),
          failingSince: failing === -1 ? null : at(failing + 1),
        });
        assert.equal(log.position, answers.length);
      },
    ),
    { numRuns: 30 },
  );
});

Deno.test("withoutFuture() forgets receipts that have yet to come, for good", () => {
  const log = [webhook(1), webhook(200), webhook(2)]
    .reduce(evolveDeliveryLog, emptyDeliveryLog(0, at(300)));
  assert.equal(deliveryFacts(log).lastReceivedAt, at(300));
  const left = withoutFuture(log, Date.parse(at(3)));
  assert.equal(deliveryFacts(left).lastReceivedAt, at(3));
});
