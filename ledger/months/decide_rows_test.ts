import assert from "node:assert/strict";
import type { NewEvent } from "../events/event.ts";
import { orderAbsent } from "../testing/mint.ts";
import { readFact } from "../events/read_fact.ts";
import { foldOrder } from "../testing/fold_order.ts";
import { monthClaim, monthReading } from "../testing/month_test_events.ts";
import {
  type BookBy,
  type BookedBefore,
  type Closing,
  decideRows,
  localDay,
} from "./month_row.ts";

/** What events of one order add to a month; the n-th is at position n. */
function decided(
  month: string,
  events: readonly NewEvent[],
  { before = null, bookBy = "confirmed", firstMonth = month, zone = "UTC" }: {
    readonly before?: BookedBefore | null;
    readonly bookBy?: BookBy;
    readonly firstMonth?: string;
    readonly zone?: string;
  } = {},
) {
  const facts = events.map((event, at) =>
    readFact({ ...event, position: at + 1 })
  );
  const fold = foldOrder(facts[0]?.orderId ?? "", facts);
  const closing: Closing = {
    ...{ month, bookBy, day: localDay(zone), firstMonth },
    assets: "sandbox",
  };
  const { rows, excluded } = decideRows({ fold, facts }, before, closing);
  return {
    rows: rows.map(({ kind, day, ofMonth, money }) =>
      [kind, day, ofMonth, money.currencyAmount].join(" ")
    ),
    excluded,
  };
}

/** What November booked of it, closed when the ledger held `closedAt` events. */
function booked(closedAt: number, amount: string | null): BookedBefore {
  return {
    money: amount === null ? null : {
      currency: "USD",
      currencyAmount: amount,
      commodity: "ETH",
      network: "ethereum",
      cryptoAmount: "0.0123000000000000010",
      partnerFeeUsd: "0.3",
      serviceFeeUsd: "1.05",
    },
    ofMonth: "2026-11",
    datedBy: "confirmed",
    closedAt,
  };
}

const sold = monthReading({ at: "2026-11-20T10:00:00Z" });
const takenBack = monthReading({
  at: "2026-12-03T10:00:00Z",
  status: "cancelled",
});
const nothing = { rows: [], excluded: null };

Deno.test("decideRows() books an order once, in the month its time lies in", () => {
  assert.deepEqual(decided("2026-11", [sold]), {
    rows: ["order 2026-11-20 2026-11 30.10"],
    excluded: null,
  });
  assert.deepEqual(decided("2026-10", [sold]), nothing);
  assert.deepEqual(
    decided("2026-12", [sold], { before: booked(1, "30.1") }),
    nothing,
  );
});

Deno.test("decideRows() takes the first confirmation, whatever comes first by position", () => {
  const again = monthReading({
    at: "2026-12-01T10:00:00Z",
    fields: { tx_id: `"0xbb"` },
  });
  const { rows } = decided("2026-11", [again, sold]);
  assert.deepEqual(rows, ["order 2026-11-20 2026-11 30.10"]);
});

Deno.test("decideRows() books by each of the times, on the day of the time zone", () => {
  const late = monthReading({
    created: "2026-10-31T22:30:00Z",
    changed: "2026-10-31T23:30:00Z",
    at: "2026-12-01T00:00:00Z",
  });
  const zone = "Europe/Berlin";
  const row = (bookBy: BookBy, month: string) =>
    decided(month, [late], { bookBy, zone }).rows;
  assert.deepEqual(row("created", "2026-10"), [
    "order 2026-10-31 2026-10 30.10",
  ]);
  assert.deepEqual(row("completed", "2026-11"), [
    "order 2026-11-01 2026-11 30.10",
  ]);
  assert.deepEqual(row("confirmed", "2026-12"), [
    "order 2026-12-01 2026-12 30.10",
  ]);
});

Deno.test("decideRows() never books what only webhooks say", () => {
  const claim = monthClaim("O1", "2026-11-20T10:00:00Z");
  assert.deepEqual(decided("2026-11", [claim]), {
    rows: [],
    excluded: "unconfirmed",
  });
  assert.deepEqual(decided("2026-12", [claim]), nothing);
});

Deno.test("decideRows() takes no amount from a webhook that the service does not state", () => {
  const without = monthReading({
    at: "2026-11-20T10:00:00Z",
    fields: { currency_amount: undefined, partner_fee: undefined },
  });
  const claim = monthClaim("O1", "2026-11-20T09:00:00Z");
  const { rows } = decided("2026-11", [claim, without]);
  assert.deepEqual(rows, ["order 2026-11-20 2026-11 "]);
});

Deno.test("decideRows() corrects a closed month in the month in which it became known", () => {
  const before = booked(1, "30.1");
  const events = [sold, takenBack];
  assert.deepEqual(decided("2026-12", events, { before }).rows, [
    "reversal 2026-12-03 2026-11 -30.1",
  ]);
  // Known in December, so not in November, whenever that is closed.
  assert.deepEqual(decided("2026-11", events, { before }).rows, []);
  const gone = booked(2, null);
  assert.deepEqual(decided("2027-01", events, { before: gone }).rows, []);
});

Deno.test("decideRows() books other amounts as a reversal and a restatement", () => {
  const other = monthReading({
    at: "2026-12-03T10:00:00Z",
    fields: { partner_fee: "0.31", currency_amount: "31" },
  });
  const before = booked(1, "30.1");
  assert.deepEqual(decided("2026-12", [sold, other], { before }).rows, [
    "reversal 2026-12-03 2026-11 -30.1",
    "restatement 2026-12-03 2026-11 31",
  ]);
});

Deno.test("decideRows() books an order again that succeeds after it was taken back", () => {
  const again = monthReading({
    at: "2027-01-04T10:00:00Z",
    fields: { tx_id: `"0xbb"` },
  });
  const before = booked(2, null);
  const { rows } = decided("2027-01", [sold, takenBack, again], { before });
  assert.deepEqual(rows, ["restatement 2027-01-04 2026-11 30.10"]);
});

Deno.test("decideRows() books a correction that was stored late on the first of the month", () => {
  // In a spool or an export until November was closed.
  const spooled = monthReading({
    at: "2026-11-29T10:00:00Z",
    status: "cancelled",
  });
  const before = booked(1, "30.1");
  assert.deepEqual(decided("2026-12", [sold, spooled], { before }).rows, [
    "reversal 2026-12-01 2026-11 -30.1",
  ]);
});

Deno.test("decideRows() books an order of a closed month that was not known then as late", () => {
  const found = monthReading({
    created: "2026-11-20T10:00:00Z",
    at: "2026-12-05T10:00:00Z",
  });
  const by = { bookBy: "created", firstMonth: "2026-11" } as const;
  assert.deepEqual(decided("2026-12", [found], by).rows, [
    "late 2026-12-05 2026-11 30.10",
  ]);
  assert.deepEqual(
    decided("2026-12", [found], { bookBy: "created" }),
    { rows: [], excluded: "before_first_month" },
  );
});

Deno.test("decideRows() leaves out what was taken back before the closing", () => {
  assert.deepEqual(decided("2026-11", [sold, takenBack]), {
    rows: [],
    excluded: "reversed",
  });
});

Deno.test("decideRows() books nothing new of what is not shown any more or has an unknown status, and lets what is booked stand", () => {
  const absent = orderAbsent({
    orderId: "O1",
    readAt: "2026-12-04T10:00:00.000Z",
    recordedAt: "2026-12-04T10:00:00.000Z",
    salt: new Uint8Array(16),
  });
  const frozen = monthReading({ at: "2026-12-04T10:00:00Z", status: "frozen" });
  const unclear = { rows: [], excluded: "unclear" };
  for (const event of [absent, frozen]) {
    const events = [sold, event];
    assert.deepEqual(decided("2026-11", events), unclear);
    const before = booked(1, "30.1");
    assert.deepEqual(decided("2026-12", events, { before }), unclear);
    assert.deepEqual(decided("2027-01", events, { before }), nothing);
    const again = monthReading({ at: "2026-12-05T10:00:00Z" });
    assert.deepEqual(
      decided("2026-12", [...events, again], { before }),
      nothing,
      "shown again as it was booked",
    );
  }
});

Deno.test("decideRows() takes an erased order for no reversal", () => {
  const erased = { ...sold, body: new Uint8Array(), digest: "" };
  const facts = [readFact({ ...erased, position: 1 })];
  const order = { fold: foldOrder("O1", facts), facts };
  const closing: Closing = {
    ...{ month: "2026-12", bookBy: "confirmed", firstMonth: "2026-11" },
    day: localDay("UTC"),
  };
  const decided = decideRows(order, booked(1, "30.1"), closing);
  assert.deepEqual(decided, { ...nothing, isErased: true });
});
