import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { openLedger } from "../../ledger/mod.ts";
import {
  monthClaim,
  monthReading,
} from "../../ledger/testing/month_test_events.ts";
import { csvRows } from "../../core/csv/csv.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";

const NOVEMBER = ["month", "close", "2025-11", "--tz", "Europe/Berlin"];

/** A ledger with November of a year that is over. */
async function november() {
  const file = await temporaryLedger();
  await using ledger = await openLedger({
    url: file.url,
    environment: "sandbox",
    worker: false,
  });
  await ledger.append([
    monthReading({ order: "727E28", at: "2025-11-20T10:00:00Z" }),
    monthReading({
      order: "O2",
      at: "2025-11-21T10:00:00Z",
      fields: { partner_fee: undefined },
    }),
    monthClaim("FORGED", "2025-11-22T10:00:00Z"),
    monthReading({
      order: "727E28",
      at: "2025-12-03T10:00:00Z",
      fields: { partner_fee: "0.31" },
    }),
  ]);
  return file;
}

Deno.test("rampkit month closes a month once, and shows the bytes that its hashes name", async () => {
  await using ledger = await november();
  const env = { RAMPKIT_DATABASE_URL: ledger.url };
  const unnamed = await cli(["month", "close", "2025-11"], env);
  assert.equal(unnamed.code, 2);
  assert.match(unnamed.err, /--tz ZONE --book-by TIME/);

  const close = [...NOVEMBER, "--book-by", "confirmed"];
  const closed = await cli(close, env);
  assert.equal(closed.code, 0, closed.err);
  assert.match(closed.out, /60\.2/);
  assert.match(closed.out, /Left out: 1 order, only webhooks say/);
  const again = await cli(close, env);
  assert.equal(again.code, 1);
  assert.match(again.err, /2025-11 is closed already, since 20/);

  const json = await cli(["month", "show", "2025-11", "--json"], env);
  const { files } = JSON.parse(json.out);
  const file = `${ledger.folder}/november.csv`;
  for (const [at, name] of ["summary.json", "items.csv"].entries()) {
    const show = ["month", "show", "2025-11", "--file", name];
    const { out } = await cli(show, env);
    const hash = createHash("sha256").update(out).digest("hex");
    assert.equal(hash, files[at].sha256);
    await cli([...show, "--output", file], env);
    assert.equal(await Deno.readTextFile(file), out);
  }
  const items = ["month", "show", "2025-11", "--file", "items.csv", "--bom"];
  assert.equal((await cli(items, env)).code, 2);
  await cli([...items, "--output", file], env);
  const [first, second, third] = await Deno.readFile(file);
  assert.deepEqual([first, second, third], [0xef, 0xbb, 0xbf]);

  const compared = await cli(["month", "show", "2025-11", "--recompute"], env);
  assert.equal(compared.code, 0);
  assert.match(compared.out, /no difference/);
  const listed = await cli(["month", "list"], env);
  assert.match(listed.out, /2025-11 .*Europe\/Berlin +confirmed +4/);
  assert.equal(
    (await cli(["month", "show", "2025-10", "--recompute"], env)).code,
    1,
  );
  assert.equal((await cli(["month", "show", "2025-13"], env)).code, 2);
});

Deno.test("rampkit month show prints a table and the files of a month, closed or not", async () => {
  await using ledger = await november();
  const env = { RAMPKIT_DATABASE_URL: ledger.url };
  const open = await cli(["month", "show", "2025-11"], env);
  assert.equal(open.code, 0, open.err);
  assert.match(open.out, /Closed +no: this is what a closing would store now/);
  assert.match(open.out, /Sales +USD +ETH .* 2 +60\.20/);
  const json = await cli(["month", "show", "2025-11", "--json"], env);
  const { closedAt, kinds, files } = JSON.parse(json.out);
  assert.equal(closedAt, null);
  assert.deepEqual(
    kinds.map((total: { kind: string; rows: number }) => [
      total.kind,
      total.rows,
    ]),
    [["order", 2], ["all", 2]],
  );
  const printed = async (name: string, ...flags: string[]) =>
    (await cli(["month", "show", "2025-11", "--file", name, ...flags], env))
      .out;
  for (const { name, sha256 } of files) {
    const text = await printed(name);
    assert.equal(createHash("sha256").update(text).digest("hex"), sha256);
  }
  const orders = [...csvRows(await printed("orders.csv"))];
  const [titles = [], first = []] = orders;
  const cell = (title: string) => first[titles.indexOf(title)];
  assert.deepEqual(
    ["order_id", "external_order_id", "user_id", "tx_id", "order_page"]
      .map(cell),
    [
      ...["727E28", "X-PERSON", "U-PERSON", `0x${"a".repeat(64)}`],
      "http://127.0.0.1:8790/orders/727E28",
    ],
  );
  const pages = await printed(
    "orders.csv",
    ...["--console-url", "https://console.example/"],
  );
  assert.match(pages, /,https:\/\/console\.example\/orders\/727E28\r\n/);
  assert.match(
    await printed("totals.csv"),
    /order,USD,ETH,ethereum,2,'60\.2,60\.2/,
  );
});

Deno.test("rampkit month close --before-end asks, and closes after yes alone", async () => {
  await using ledger = await november();
  const env = { RAMPKIT_DATABASE_URL: ledger.url };
  const month = new Date().toISOString().slice(0, 7);
  const close = ["month", "close", month, "--tz", "UTC", "--before-end"];
  close.push("--book-by", "created");
  for (const flags of [[], ["--json"]]) {
    const unasked = await cli([...close, ...flags], env);
    assert.equal(unasked.code, 1);
    assert.match(unasked.err, /was not closed: add --yes/);
  }
  assert.match((await cli(["month", "list"], env)).out, /No month is closed/);
  assert.equal((await cli([...close, "--yes"], env)).code, 0);
});

Deno.test("rampkit month close refuses a month that is not over, and a zone that does not exist", async () => {
  await using ledger = await november();
  const env = { RAMPKIT_DATABASE_URL: ledger.url };
  const flags = ["--tz", "UTC", "--book-by", "created"];
  const far = await cli(["month", "close", "2999-01", ...flags], env);
  assert.equal(far.code, 1);
  assert.match(far.err, /is not over/);
  const zone = ["month", "close", "2025-11", "--tz", "Mars/Olympus"];
  assert.equal((await cli(zone, env)).code, 2);
});

Deno.test("rampkit month close leaves the month open when it is stopped", async () => {
  await using ledger = await november();
  const env = { RAMPKIT_DATABASE_URL: ledger.url };
  const close = [...NOVEMBER, "--book-by", "confirmed"];
  const stopped = await cli(close, env, AbortSignal.abort());
  assert.equal(stopped.code, 1);
  assert.match(stopped.err, /Stopped: 2025-11 was not closed/);
  assert.match((await cli(["month", "list"], env)).out, /No month is closed/);
});

Deno.test("the files that finance adds up have the decimal mark and delimiter that are asked for, no row with their sum, and their digest in the close", async () => {
  await using ledger = await november();
  const env = { RAMPKIT_DATABASE_URL: ledger.url };
  const show = async (...flags: string[]) =>
    await cli(["month", "show", "2025-11", ...flags], env);
  const cells = (text: string, delimiter: string) =>
    text.trimEnd().split("\r\n").map((line) => line.split(delimiter));
  for (
    const [flags, delimiter, amount] of [
      [["--decimal-mark", ","], ";", "60,2"],
      [["--decimal-mark", ",", "--delimiter", "tab"], "\t", "60,2"],
      [["--delimiter", ";"], ";", "60.2"],
      [[], ",", "60.2"],
    ] as const
  ) {
    const { out, err } = await show("--file", "currencies.csv", ...flags);
    const [titles = [], ...rows] = cells(out, delimiter);
    const at = titles.indexOf("currency_amount_number");
    assert.deepEqual(
      rows.map((row) => [row[0], row[at]]),
      [["USD", amount]],
      err,
    );
    const totals = cells(
      (await show("--file", "totals.csv", ...flags)).out,
      delimiter,
    );
    assert.deepEqual(totals.slice(1).map(([kind]) => kind), ["order"]);
    const orders = await show("--file", "orders.csv", ...flags);
    const exported = await cli(["orders", "export", ...flags], env);
    const point = amount.charAt(2);
    for (const { out, err } of [orders, exported]) {
      assert.match(
        out,
        new RegExp(`${delimiter}30[${point}]10?${delimiter}`),
        err,
      );
    }
  }
  const stored = await show("--file", "items.csv", "--decimal-mark", ",");
  assert.equal(stored.code, 2);
  assert.match(stored.err, /items\.csv has one form.*orders\.csv/);

  const { currencies } = JSON.parse((await show("--json")).out);
  assert.deepEqual(
    currencies.map((one: Record<string, unknown>) => [
      one.currency,
      one.rows,
      one.currencyAmount,
    ]),
    [["USD", 2, "60.2"]],
  );
  assert.match(
    (await show()).out,
    /All of a currency.*\n.*\n? *USD +2 +60\.20\b/,
  );
  const close = [...NOVEMBER, "--book-by", "confirmed", "--json"];
  const { files } = JSON.parse((await cli(close, env)).out);
  assert.deepEqual(files.map(({ name }: { name: string }) => name), [
    "summary.json",
    "items.csv",
    "totals.csv",
    "currencies.csv",
    "booked.csv",
  ]);
  for (const { name, sha256 } of files) {
    const { out } = await show("--file", name);
    assert.equal(createHash("sha256").update(out).digest("hex"), sha256, name);
  }
});
