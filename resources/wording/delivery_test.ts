import assert from "node:assert/strict";
import { deliveryHealth } from "../../sync/watchdog/watchdog_rule.ts";
import { describeDelivery, NO_WEBHOOK } from "./delivery.ts";

const AT = "2026-11-20T17:00:00.000Z";
const BEFORE = "2026-11-20T16:59:00.000Z";

type Facts = Parameters<typeof deliveryHealth>[0];

function said(facts: Partial<Facts>): string {
  return describeDelivery(deliveryHealth({
    changes: [],
    lastReceivedAt: BEFORE,
    failingSince: null,
    waitingSince: null,
    watchedSince: "2026-11-20T16:00:00.000Z",
    nowMs: Date.parse(AT) + 3_600_000,
    ...facts,
  }));
}

const moved = {
  orderId: "A",
  status: "success",
  movedAt: AT,
  seenAt: AT,
  announced: false,
};

Deno.test("describeDelivery() says how delivery is, with its times", () => {
  assert.equal(
    said({}),
    `Nothing is overdue; the last webhook was received at ${BEFORE}`,
  );
  assert.equal(
    said({ changes: [moved] }),
    `1 order moved at the service since ${AT} without a webhook, too few for ` +
      `an alarm; the last webhook was received at ${BEFORE}`,
  );
  assert.equal(
    said({ changes: [{ ...moved, status: "progress" }, moved] }),
    `1 order moved at the service since ${AT} without a webhook; the last ` +
      `webhook was received at ${BEFORE}; delivery may be switched off`,
  );
  assert.equal(
    said({ failingSince: AT }),
    `Deliveries have not been answered in time since ${AT}; the last webhook ` +
      `was received at ${BEFORE}; the service will switch delivery off`,
  );
  assert.equal(
    said({ waitingSince: BEFORE }),
    `Nothing is overdue; the last webhook was received at ${BEFORE}; ` +
      `deliveries since ${BEFORE} wait to go into the ledger`,
  );
});

Deno.test("describeDelivery() tells no webhook ever apart from none of late", () => {
  const never = { lastReceivedAt: null };
  assert.equal(said(never), `${NO_WEBHOOK}; none is overdue`);
  assert.equal(
    said({ ...never, changes: [moved, { ...moved, orderId: "B" }] }),
    `${NO_WEBHOOK}, and 2 orders moved at the service since ` +
      `${AT}: either webhooks are not used here, or they never worked`,
  );
});

Deno.test("describeDelivery() says that webhooks come again, and when that is enough", () => {
  const lost = [0, 1, 2].map((n) => ({ ...moved, orderId: `L${n}` }));
  const later = "2026-11-20T17:50:00.000Z";
  const again = (count: number) =>
    Array.from({ length: count }, (_, n) => ({
      ...moved,
      orderId: `B${n}`,
      movedAt: later,
      seenAt: later,
      announced: true,
    }));
  const facts = (count: number) => ({
    changes: [...lost, ...again(count)],
    nowMs: Date.parse(later) + 60_000,
  });
  assert.match(said(facts(0)), /delivery may be switched off$/);
  assert.match(
    said(facts(2)),
    /; they come again; clears after 3 more in a row$/,
  );
  assert.match(said(facts(6)), /they come again; clears in a few minutes$/);
});
