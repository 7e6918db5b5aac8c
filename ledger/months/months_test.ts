import assert from "node:assert/strict";
import { eraseBody } from "../testing/erase_body.ts";
import type { NewEvent } from "../events/event.ts";
import type { Ledger } from "../ledger.ts";
import { monthClaim, monthReading } from "../testing/month_test_events.ts";
import type { MonthClose } from "./months.ts";
import { emptyLedger } from "../testing/empty_ledger.ts";

/** A ledger whose clock stands where it is put. */
async function ledgerAt(time: string): Promise<
  & { readonly ledger: Ledger; readonly clock: { time: string } }
  & AsyncDisposable
> {
  const clock = { time };
  const ledger = await emptyLedger({
    now: () => Date.parse(clock.time),
  });
  return {
    ledger,
    clock,
    [Symbol.asyncDispose]: () => ledger.close(),
  };
}

const terms = { timeZone: "Europe/Berlin", bookBy: "confirmed" } as const;

const november: readonly NewEvent[] = [
  monthReading({ order: "O1", at: "2026-11-20T10:00:00Z" }),
  monthReading({
    order: "O2",
    at: "2026-11-21T10:00:00Z",
    fields: { partner_fee: undefined, currency_amount: "9.90" },
  }),
  monthClaim("FORGED", "2026-11-22T10:00:00Z"),
];

async function closed(ledger: Ledger, month: string): Promise<MonthClose> {
  const { closed, refused } = await ledger.months.close(month, terms);
  assert.equal(refused, null);
  assert.ok(closed !== null);
  return closed;
}

function summary({ files }: MonthClose) {
  return JSON.parse(files[0]?.text ?? "");
}

function items({ files }: MonthClose): string[] {
  return (files[1]?.text ?? "").trimEnd().split("\r\n").slice(1)
    .map((line) => line.split(",").slice(0, 3).join(" "));
}

Deno.test("Months.close() stores the books of a month under the chain", async () => {
  await using at = await ledgerAt("2026-12-02T08:00:00Z");
  const { ledger } = at;
  await ledger.append(november);
  const close = await closed(ledger, "2026-11");
  assert.deepEqual(items(close), [
    "order 2026-11-20 O1",
    "order 2026-11-21 O2",
  ]);
  const { totals, excluded } = summary(close);
  assert.deepEqual(
    [totals[0].currencyAmount, totals[0].partnerFeeUsdUnknown],
    ["40", 1],
  );
  assert.equal(excluded.unconfirmed, 1);
  assert.deepEqual(close.asOf, { position: 3, events: 3 });
  assert.equal(close.bookBy, "confirmed");
  await ledger.project();
  assert.equal((await ledger.verify()).ok, true);
  assert.equal((await ledger.stats()).events.month_closed, 1);
  // The chain covers the books: what is written over them is damage.
  await ledger.driver.batch([{
    sql: "UPDATE events SET body = ? WHERE kind = 'month_closed'",
    args: [new TextEncoder().encode('{"month":"2026-11"}')],
  }], "write");
  const verification = await ledger.verify();
  assert.equal(verification.ok, false);
});

Deno.test("Months.close() stores nothing that names a person", async () => {
  await using at = await ledgerAt("2026-12-02T08:00:00Z");
  await at.ledger.append(november);
  const { files } = await closed(at.ledger, "2026-11");
  assert.doesNotMatch(JSON.stringify(files), /PERSON|0xaa/i);
});

Deno.test("a closed month never changes; a reversal is a row of the month it became known in", async () => {
  await using at = await ledgerAt("2026-12-02T08:00:00Z");
  const { ledger } = at;
  await ledger.append(november);
  const first = await closed(ledger, "2026-11");
  await ledger.append([
    monthReading({
      order: "O1",
      status: "cancelled",
      at: "2026-12-10T10:00:00Z",
    }),
  ]);
  at.clock.time = "2027-01-02T08:00:00Z";
  const again = await ledger.months.close("2026-11", terms);
  assert.ok(again.refused?.code === "already_closed");
  assert.equal(again.refused.first.closedAt, first.closedAt);
  assert.deepEqual(await ledger.months.get("2026-11"), first);

  const open = await ledger.months.recompute("2026-11");
  assert.deepEqual(open?.differences, []);
  assert.deepEqual(
    open?.changes.map(({ kind, orderId, day, bookedIn }) => [
      kind,
      orderId,
      day,
      bookedIn,
    ]),
    [["reversal", "O1", "2026-12-10", null]],
  );
  const second = await closed(ledger, "2026-12");
  assert.deepEqual(items(second), ["reversal 2026-12-10 O1"]);
  const [total] = summary(second).totals;
  assert.deepEqual([total.orders, total.currencyAmount], [-1, "-30.1"]);
  const done = await ledger.months.recompute("2026-11");
  assert.equal(done?.changes[0]?.bookedIn, "2026-12");
  assert.deepEqual((await ledger.months.recompute("2026-12"))?.changes, []);
});

Deno.test("what becomes known while a month is closed is a row of the month in which it became known", async () => {
  await using at = await ledgerAt("2026-12-02T08:00:00Z");
  const { ledger } = at;
  await ledger.append(november);
  const late = monthReading({
    ...{ order: "O1", status: "cancelled", at: "2026-12-02T08:00:01Z" },
  });
  const { closed: first } = await ledger.months.close("2026-11", {
    ...terms,
    onProgress: () => void ledger.append([late]),
  });
  assert.equal(items(first as MonthClose).length, 2);
  // It is read once more before the next closing.
  await ledger.append([
    monthReading({
      ...{ order: "O1", status: "cancelled", at: "2027-01-05T08:00:00Z" },
    }),
  ]);
  at.clock.time = "2027-01-10T08:00:00Z";
  assert.deepEqual(items(await closed(ledger, "2026-12")), [
    "reversal 2026-12-02 O1",
  ]);
});

Deno.test("a unit that a file cannot hold as it is is no correction of what was booked", async () => {
  await using at = await ledgerAt("2026-12-02T08:00:00Z");
  const { ledger } = at;
  await ledger.append([
    monthReading({
      at: "2026-11-20T10:00:00Z",
      fields: { crypto: '"eth.simple.ether\\u200beum"' },
    }),
  ]);
  assert.equal(items(await closed(ledger, "2026-11")).length, 1);
  at.clock.time = "2027-01-10T08:00:00Z";
  assert.deepEqual(items(await closed(ledger, "2026-12")), []);
});

Deno.test("a month that was closed without any event is computed again without any", async () => {
  await using at = await ledgerAt("2026-12-02T08:00:00Z");
  await closed(at.ledger, "2026-11");
  const late = monthReading({ order: "O1", at: "2026-11-20T10:00:00Z" });
  const to = await ledgerAt("2026-12-02T08:00:00Z");
  await to.ledger.append([late]);
  await to.ledger.import(at.ledger.export());
  for (const { ledger } of [at, to]) {
    await ledger.append([late]);
    const found = await ledger.months.recompute("2026-11");
    assert.deepEqual(found?.differences, []);
    assert.deepEqual(found?.changes.map(({ kind }) => kind), ["late"]);
  }
  await to[Symbol.asyncDispose]();
});

Deno.test("Months.get() says which month it cannot read, whatever its event holds", async () => {
  await using at = await ledgerAt("2026-12-02T08:00:00Z");
  const { ledger } = at;
  await closed(ledger, "2026-11");
  for (const body of ["{", "null", '{"month":"2026-11"}']) {
    await ledger.driver.batch([{
      sql: "UPDATE events SET body = ? WHERE kind = 'month_closed'",
      args: [new TextEncoder().encode(body)],
    }], "write");
    await assert.rejects(
      ledger.months.get("2026-11"),
      /^SyntaxError: Cannot read the closed month at position 1: /,
    );
  }
});

Deno.test("Months.close() keeps the order of months, and waits for their end", async () => {
  await using at = await ledgerAt("2026-11-30T22:59:00Z");
  const { months } = at.ledger;
  const code = async (month: string, options = {}) =>
    (await months.close(month, options)).refused?.code ?? "closed";
  assert.equal(await code("2026-11", terms), "not_over");
  assert.equal(
    await code("2026-12", { ...terms, beforeEnd: true }),
    "not_over",
  );
  at.clock.time = "2026-11-30T23:01:00Z"; // December in Berlin.
  assert.equal(await code("2026-11"), "terms_missing");
  assert.equal(await code("2026-11", terms), "closed");
  at.clock.time = "2027-03-01T08:00:00Z";
  const skipped = await months.close("2027-01");
  assert.deepEqual(skipped.refused, { code: "not_next", next: "2026-12" });
  assert.equal(await code("2026-10", terms), "not_next");
  assert.equal(await code("2026-12"), "closed");
  assert.equal((await months.get("2026-12"))?.timeZone, "Europe/Berlin");
  await assert.rejects(() => months.close("2026-13", terms), RangeError);
});

Deno.test("Months.close() closes a month once when two close it together", async () => {
  await using at = await ledgerAt("2026-12-02T08:00:00Z");
  await at.ledger.append(november);
  const both = await Promise.all([
    at.ledger.months.close("2026-11", terms),
    at.ledger.months.close("2026-11", { ...terms, bookBy: "created" }),
  ]);
  assert.equal(both.filter(({ refused }) => refused === null).length, 1);
  assert.equal((await at.ledger.stats()).events.month_closed, 1);
});

Deno.test("Months.close() stores nothing when it is stopped on its way", async () => {
  await using at = await ledgerAt("2026-12-02T08:00:00Z");
  await at.ledger.append(november);
  const stop = new AbortController();
  const seen: number[] = [];
  const closing = at.ledger.months.close("2026-11", {
    ...terms,
    signal: stop.signal,
    onProgress: (orders) => {
      seen.push(orders);
      stop.abort(new Error("stopped"));
    },
  });
  await assert.rejects(closing, /stopped/);
  assert.equal(seen[0], 1);
  assert.equal(await at.ledger.months.get("2026-11"), null);
});

Deno.test("a closed month survives export and import, and is computed again there", async () => {
  await using at = await ledgerAt("2026-12-02T08:00:00Z");
  const [first, ...rest] = november;
  assert.ok(first !== undefined);
  // Each repeat leaves a gap, so that an import gives other positions: what was
  // stored after the closing is there before the position that it names.
  for (let repeat = 0; repeat < 4; repeat++) await at.ledger.append([first]);
  await at.ledger.append(rest);
  const close = await closed(at.ledger, "2026-11");
  await at.ledger.append([
    monthReading({ order: "O9", at: "2026-11-19T10:00:00Z" }),
  ]);
  await using other = await ledgerAt("2026-12-03T08:00:00Z");
  await other.ledger.import(at.ledger.export());
  await other.ledger.project();
  const imported = await other.ledger.months.get("2026-11");
  assert.deepEqual(imported?.files, close.files);
  assert.notEqual(imported?.position, close.position);
  assert.equal((await other.ledger.verify()).ok, true);
  const found = await other.ledger.months.recompute("2026-11");
  assert.deepEqual(found?.differences, []);
  assert.deepEqual(
    found?.changes.map(({ kind, orderId }) => `${kind} ${orderId}`),
    ["late O9"],
  );
});

Deno.test("Months.recompute() names what is erased, and finds what is altered", async () => {
  await using at = await ledgerAt("2026-12-02T08:00:00Z");
  const { ledger } = at;
  await ledger.append(november);
  await closed(ledger, "2026-11");
  await eraseBody(ledger.driver, 1);
  const erased = await ledger.months.recompute("2026-11");
  assert.deepEqual(
    [erased?.erased, erased?.differences, erased?.changes],
    [["O1"], [], []],
  );
  const other = monthReading({
    order: "O2",
    at: "2026-11-21T10:00:00Z",
    fields: { currency_amount: "9.91" },
  });
  await ledger.driver.batch([{
    sql: "UPDATE events SET body = ? WHERE position = 2",
    args: [other.body],
  }], "write");
  const altered = await ledger.months.recompute("2026-11");
  assert.deepEqual(
    altered?.differences.map(({ orderId, field }) => [orderId, field]),
    [["O2", "money.currencyAmount"], ["O2", "money.partnerFeeUsd"]],
  );
});
