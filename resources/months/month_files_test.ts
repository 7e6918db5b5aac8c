import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "fast-check";
// @ts-types="@types/big.js"
import Big from "big.js";
import { csvRows } from "../../core/csv/csv.ts";
import type { Ledger } from "../../ledger/mod.ts";
import {
  type MonthRow,
  type MonthSummary,
  ROW_KINDS,
} from "../../ledger/for_resources.ts";
import { monthReading } from "../../ledger/testing/month_test_events.ts";
import { type MonthBooks, readMonthBooks } from "./month_books.ts";
import { type MonthFileName, monthFileText } from "./month_files.ts";
import { emptyLedger } from "../../ledger/testing/mod.ts";
import { tries } from "../../tests/kit/thorough.ts";

/** The cells of a file as a spreadsheet has them: by title, a row each. */
async function sheet(
  name: MonthFileName,
  books: MonthBooks,
  ledger: Ledger,
): Promise<Record<string, string>[]> {
  const orderUrl = (id: string) => `https://console.example/orders/${id}`;
  const text = (await Array.fromAsync(
    monthFileText(name, books, { ledger, orderUrl }),
  )).join("");
  // As the file has them: the mark that makes a text of an amount stays.
  const lines = text.trimEnd().split("\r\n").map((line) => line.split(","));
  const [titles = []] = [...csvRows(text)];
  return lines.slice(1).map((cells) =>
    Object.fromEntries(titles.map((title, at) => [title, cells[at] ?? ""]))
  );
}

const amount = (decimals: number) =>
  fc.tuple(
    fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
    fc.nat(decimals),
  ).map(([units, scale]) =>
    new Big(units.toString()).div(new Big(10).pow(scale)).toFixed()
  );
const cents = fc.integer({ min: -1_000_000, max: 1_000_000 })
  .map((units) => new Big(units).div(100).toFixed(2));
const unknown = { nil: null, freq: 4 };

const rowOfAny: fc.Arbitrary<MonthRow> = fc.record({
  kind: fc.constantFrom(...ROW_KINDS),
  day: fc.constant("2026-11-20"),
  orderId: fc.string({ minLength: 1, maxLength: 12 }).map((id) =>
    id.replace(/[",;\s]/g, "x")
  ),
  ofMonth: fc.constant("2026-11"),
  datedBy: fc.constant("confirmed" as const),
  times: fc.constant({ created: null, completed: null, confirmed: null }),
  knownAt: fc.constant("2026-11-20T10:00:00.000Z"),
  anomalies: fc.constant([]),
  witness: fc.constant({ verdict: "", final: "", block: "" }),
  money: fc.record({
    currency: fc.constantFrom("USD", "EUR", null),
    currencyAmount: fc.option(cents, unknown),
    commodity: fc.constantFrom("ETH", "BTC"),
    network: fc.constantFrom("ethereum", null),
    cryptoAmount: fc.option(amount(18), unknown),
    partnerFeeUsd: fc.option(cents, unknown),
    serviceFeeUsd: fc.option(amount(6), unknown),
  }),
});

const FIELDS = [
  "currency_amount",
  "crypto_amount",
  "partner_fee_usd",
  "service_fee_usd",
] as const;

/** What a spreadsheet adds up: numbers in binary, and no text. */
function added(cells: readonly string[]): number {
  return cells.filter((cell) => cell !== "")
    .reduce((sum, cell) => sum + Number(cell), 0);
}

Deno.test("the number columns of orders.csv add up to totals.csv, as a spreadsheet adds", async () => {
  await using ledger = await emptyLedger();
  await fc.assert(
    fc.asyncProperty(fc.array(rowOfAny, { maxLength: 60 }), async (rows) => {
      const summary = {} as unknown as MonthSummary;
      const books = { close: null, summary, rows };
      const orders = await sheet("orders.csv", books, ledger);
      const totals = await sheet("totals.csv", books, ledger);
      assert.equal(orders.length, rows.length);
      for (const total of totals) {
        const units = ["currency", "commodity", "network"];
        const own = orders.filter((row) =>
          (total.kind === "all" || row.kind === total.kind) &&
          units.every((unit) => row[unit] === total[unit])
        );
        assert.equal(total.rows, `${own.length}`);
        for (const field of FIELDS) {
          const numbers = own.map((row) => row[`${field}_number`] ?? "");
          const known = numbers.filter((cell) => cell !== "");
          assert.equal(total[`${field}_known`], `${known.length}`);
          assert.equal(
            total[`${field}_unknown`],
            `${own.length - known.length}`,
          );
          // Of each row a spreadsheet keeps 15 digits, and so of the sum.
          const size = known.reduce(
            (sum, cell) => sum + Math.abs(Number(cell)),
            0,
          );
          const sum = Number(total[`${field}_number`]);
          assert.ok(Math.abs(added(numbers) - sum) <= size * 1e-14);
          if (field === "currency_amount") {
            assert.equal(added(numbers).toFixed(2), sum.toFixed(2));
          }
          // And the texts hold every digit.
          const texts = own.map((row) => row[`${field}_text`] ?? "")
            .filter((cell) => cell !== "");
          assert.ok(texts.every((cell) => cell.startsWith("'")));
          const exact = texts.reduce(
            (sum, cell) => sum.plus(cell.slice(1)),
            new Big(0),
          );
          assert.equal(
            total[`${field}_text`],
            texts.length === 0 ? "" : `'${exact.toFixed()}`,
          );
        }
      }
    }),
    { numRuns: tries(60) },
  );
});

Deno.test("orders.csv joins each row with what the ledger knows of its order now", async () => {
  let time = "2026-11-20T08:00:00Z";
  await using ledger = await emptyLedger({
    now: () => Date.parse(time),
  });
  await ledger.expect({ clickId: "C-PERSON", reference: "basket-7" });
  time = "2026-12-02T08:00:00Z";
  await ledger.append([
    monthReading({ order: "O1", at: "2026-11-20T10:00:00Z" }),
    monthReading({
      order: "O2",
      at: "2026-11-21T10:00:00Z",
      fields: {
        external_order_id: `"=HYPERLINK(1)"`,
        click_id: `"C-OTHER"`,
        partner_fee: undefined,
      },
    }),
  ]);
  await ledger.project();
  const books = await readMonthBooks(ledger, "2026-11");
  const [first, second] = await sheet("orders.csv", books, ledger);
  const { tx_id, user_id, network, reference, order_page } = first ?? {};
  assert.deepEqual(
    { tx_id, user_id, network, reference, order_page },
    {
      tx_id: `0x${"aa".repeat(32)}`,
      user_id: "U-PERSON",
      network: "ethereum",
      reference: "basket-7",
      order_page: "https://console.example/orders/O1",
    },
  );
  assert.equal(first?.crypto_amount_text, "'0.012300000000000001");
  assert.equal(first?.crypto_amount_number, "0.0123");
  assert.equal(second?.external_order_id, "'=HYPERLINK(1)");
  assert.equal(second?.partner_fee_usd_number, "");
});

Deno.test("a closing has the hash of orders.csv without what an erasure changes", async () => {
  let time = "2026-11-20T08:00:00Z";
  await using ledger = await emptyLedger({ now: () => Date.parse(time) });
  time = "2026-12-02T08:00:00Z";
  await ledger.append([
    monthReading({ order: "O1", at: "2026-11-20T10:00:00Z" }),
    monthReading({
      order: "O2",
      at: "2026-11-21T10:00:00Z",
      fields: { partner_fee: undefined },
    }),
  ]);
  const terms = { timeZone: "UTC", bookBy: "confirmed" } as const;
  await ledger.months.close("2026-11", terms);
  const books = await readMonthBooks(ledger, "2026-11");
  const orders = await sheet("orders.csv", books, ledger);
  const booked = await sheet("booked.csv", books, ledger);
  const names = ["external_order_id", "reference", "user_id", "tx_id"];
  const changing = new Set([...names, "order_page"]);
  assert.deepEqual(
    booked,
    orders.map((row) =>
      Object.fromEntries(
        Object.entries(row).filter(([title]) => !changing.has(title)),
      )
    ),
  );
  assert.equal(orders[0]?.user_id, "U-PERSON");
  const orderUrl = (id: string) => `https://console.example/orders/${id}`;
  const [text = ""] = await Array.fromAsync(
    monthFileText("booked.csv", books, { ledger, orderUrl }),
  );
  const stored = books.close?.files.find(({ name }) => name === "booked.csv");
  assert.equal(
    stored?.sha256,
    createHash("sha256").update(text).digest("hex"),
  );
});
