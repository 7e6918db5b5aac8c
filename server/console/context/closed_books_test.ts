import assert from "node:assert/strict";
import type { Ledger } from "../../../ledger/mod.ts";
import { monthReading } from "../../../ledger/testing/month_test_events.ts";
import { oddLedger } from "../../../tests/kit/odd_ledger.ts";
import { ClosedBooks } from "./page_context.ts";

Deno.test("ClosedBooks.list() reads each closed month once, and finds one that was closed meanwhile", async () => {
  await using ledger = await oddLedger([
    monthReading({ order: "O1", at: "2026-09-05T10:00:00Z" }),
    monthReading({ order: "O2", at: "2026-10-05T10:00:00Z" }),
  ]);
  let asked = 0;
  const { driver } = ledger;
  const books = new ClosedBooks({
    driver: {
      ...driver,
      batch: (...batch) => {
        asked++;
        return driver.batch(...batch);
      },
    },
  } as Ledger);
  const found = async () => {
    asked = 0;
    const months = await books.list();
    return [
      months.map(({ month, books }) => [month, books.summary.rows.order]),
    ];
  };
  const terms = { timeZone: "UTC", bookBy: "created" } as const;
  assert.deepEqual(await found(), [[]]);
  await ledger.months.close("2026-09", terms);
  assert.deepEqual(await found(), [[["2026-09", 1]]]);
  assert.equal(asked, 2);
  await ledger.months.close("2026-10");
  assert.deepEqual(await found(), [[["2026-09", 1], ["2026-10", 1]]]);
  assert.equal(asked, 2);
  await found();
  assert.equal(asked, 1);
  assert.equal(await books.get("2026-11"), null);
});
