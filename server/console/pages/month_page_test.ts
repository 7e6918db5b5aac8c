import assert from "node:assert/strict";
import { booksDigest } from "../../../resources/months/month_books.ts";
import type { OpenMonth, PageContext } from "../context/page_context.ts";
import { monthPage } from "./month_page.ts";

/** A page of a month whose books are as the test says. */
async function pageOf(open: OpenMonth) {
  const page = await monthPage({
    nowMs: Date.parse("2026-11-20T12:00:00Z"),
    closedBooks: {
      get: () => Promise.resolve(null),
      list: () => Promise.resolve([]),
    },
    openBooks: { of: () => Promise.resolve(open) },
    refunds: { of: () => Promise.resolve(new Map()) },
  } as unknown as PageContext, "2026-11");
  const text = String(page?.body).replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
  return { text, refreshSeconds: page?.refreshSeconds };
}

Deno.test("monthPage() says how far the books are while they are worked out, and loads itself again", async () => {
  const { text, refreshSeconds } = await pageOf({ last: null, underWay: 123 });
  assert.match(text, /2026-11 open The books are computed now/);
  assert.match(text, /123 orders read so far/);
  assert.equal(refreshSeconds, 5);
});

Deno.test("monthPage() shows the last books with their age while newer ones are worked out", async () => {
  const summary = {
    month: "2026-11",
    timeZone: "UTC",
    timeZoneVersion: null,
    bookBy: "confirmed",
    asOf: { position: 9, events: 9 },
    foldVersion: 1,
    rows: { order: 4, late: 0, reversal: 0, restatement: 0 },
    totals: [],
    anomalies: [{ kind: "amount_mismatch", orderIds: ["O1", "O2"] }],
    days: [],
    excluded: {
      unconfirmed: 0,
      reversed: 0,
      before_first_month: 0,
      erased: 0,
      unclear: 0,
    },
    unclear: [],
  } as const;
  const books = booksDigest({ summary, rows: [] });
  const atMs = Date.parse("2026-11-20T09:00:00Z");
  const old = await pageOf({ last: { books, atMs }, underWay: 1 });
  assert.match(old.text, /These are the books of 3 h ago\. .* 1 order read/);
  assert.match(old.text, /Orders 4/);
  assert.match(old.text, /Booked, and odd amount mismatch: +O1 +O2/);
  assert.equal(old.refreshSeconds, undefined);
  const fresh = await pageOf({ last: { books, atMs }, underWay: null });
  assert.doesNotMatch(fresh.text, /These are the books/);
});
