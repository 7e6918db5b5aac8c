import assert from "node:assert/strict";
import {
  decodeStatement,
  readStatement,
  statementAmount,
  statementDay,
} from "./read_statement.ts";
import { readStatementMap } from "./statement_map.ts";

const utcDay = (time: string) => time.slice(0, 10);

const BANK = readStatementMap({
  columns: {
    externalOrderId: "Verwendungszweck",
    amount: "Betrag",
    currency: "Währung",
    day: "Buchungstag",
  },
  delimiter: ";",
  decimalMark: ",",
  thousandsMark: ".",
  dayFormat: "DD.MM.YYYY",
});

Deno.test("readStatement() reads a bank's file by its mapping, quotes, marks and encoding", () => {
  const text = "Buchungstag;Verwendungszweck;Betrag;Währung;Saldo\r\n" +
    '20.11.2026;"basket ""7""; paid";1.234,50;eur;9\r\n' +
    "\r\n;;;;9\r\n" +
    '1.12.2026;"two\r\nlines";-30,10;EUR\r\n';
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const rows = readStatement(decodeStatement(bytes), BANK, utcDay);
  assert.deepEqual(
    rows.map((
      { line, externalOrderId, amount, currency, day },
    ) => [line, externalOrderId, amount, currency, day]),
    [
      [2, 'basket "7"; paid', "1234.50", "EUR", "2026-11-20"],
      [6, "two\nlines", "-30.10", "EUR", "2026-12-01"],
    ],
  );
  const marked = `\ufeff${text}`;
  const utf8 = decodeStatement(new TextEncoder().encode(marked));
  assert.deepEqual(readStatement(utf8, BANK, utcDay), rows);
});

Deno.test("readStatement() keeps a row of which something cannot be read, and says what", () => {
  const text = "Buchungstag;Verwendungszweck;Betrag;Währung\n" +
    "31.02.2026;basket-7;lots;EUR\n";
  const [row] = readStatement(text, BANK, utcDay);
  assert.equal(row?.unreadable, 'amount "lots", day "31.02.2026"');
  assert.equal(row?.externalOrderId, "basket-7");
});

Deno.test("readStatement() says which column is not there, and where the file is no CSV", () => {
  const read = (text: string) => () => readStatement(text, BANK, utcDay);
  assert.throws(read("a;b\n1;2\n"), {
    name: "StatementError",
    message: 'Wrong statement: it has no column "Verwendungszweck"; its ' +
      'columns are "a", "b"',
  });
  assert.throws(read(""), /it has no line/);
  const heading = "Buchungstag;Verwendungszweck;Betrag;Währung";
  assert.throws(read(`${heading};Betrag\n`), /several columns "Betrag"/);
  assert.throws(
    read(`${heading}\n1;"open\n`),
    /line 2 is not CSV \(quote not closed\)/,
  );
});

Deno.test("statementAmount() takes amounts as statements write them, and nothing that only looks like one", () => {
  const amount = (text: string, thousandsMark = "", decimalMark = ".") =>
    statementAmount(text, { thousandsMark, decimalMark } as typeof BANK);
  assert.equal(amount("0.012300000000000001"), "0.012300000000000001");
  assert.equal(amount("1,234.50", ","), "1234.50");
  assert.equal(amount("1 234,50", " ", ","), "1234.50");
  assert.equal(amount("1\u00a0234,50", " ", ","), "1234.50");
  assert.equal(amount("(30.10)"), "-30.10");
  assert.equal(amount("30.10-"), "-30.10");
  assert.equal(amount("\u221230.10"), "-30.10");
  assert.equal(amount("+007"), "7");
  assert.equal(amount("-0.00"), "0.00");
  assert.equal(amount("'30.10"), "30.10");
  const wrong = [
    "",
    "1.234,50",
    "1e3",
    "--1",
    "(1",
    "1)",
    "-1-",
    ".",
    "1.",
    "x",
  ];
  for (const text of wrong) assert.equal(amount(text), null, text);
  // A comma may not stand where it would change the amount a thousandfold.
  assert.equal(amount("30,10", ","), null);
  assert.equal(amount("1,2345", ","), null);
});

Deno.test("statementDay() reads days by their format, and moments by the time zone of the books", () => {
  const berlin = (text: string) =>
    statementDay(text, "YYYY-MM-DD", () => "2026-12-01");
  assert.equal(berlin("2026-11-30"), "2026-11-30");
  assert.equal(berlin("2026-11-30 23:30"), "2026-11-30");
  assert.equal(berlin("2026-11-30T23:30:00Z"), "2026-12-01");
  assert.equal(berlin("2026-11-30 23:30:00 +0000"), "2026-12-01");
  const day = (text: string, format: string) =>
    statementDay(text, format, utcDay);
  assert.equal(day("11/2/2026", "MM/DD/YYYY"), "2026-11-02");
  assert.equal(day("20261102", "YYYYMMDD"), "2026-11-02");
  for (const text of ["2026-02-30", "20.11.2026", "soon", "2026-11-301"]) {
    assert.equal(day(text, "YYYY-MM-DD"), null, text);
  }
});

Deno.test("readStatementMap() names what is wrong in a mapping", () => {
  const columns = { orderId: "Order" };
  for (
    const [map, message] of [
      [[], /Wrong the mapping/],
      [{ columns: {} }, /name at least one of orderId/],
      [{ columns: { order: "x" } }, /Wrong columns: "order": there is no such/],
      [{ columns, decimal: "," }, /"decimal": there is no such field/],
      [{ columns: { amount: "A" } }, /name the column currency/],
      [{ columns, delimiter: ";;" }, /Wrong delimiter: ";;"/],
      [{ columns, thousandsMark: "." }, /decimalMark is the same/],
      [{ columns, dayFormat: "DD.MM.YY" }, /write YYYY, MM and DD once/],
      [{ columns, daysApart: 1.5 }, /from 0 to 31/],
      [{ columns, amountOf: "amount" }, /one of \["currencyAmount"/],
    ] as const
  ) assert.throws(() => readStatementMap(map), { name: "TypeError", message });
});
