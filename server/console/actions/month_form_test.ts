import assert from "node:assert/strict";
import { monthReading } from "../../../ledger/testing/month_test_events.ts";
import {
  CONSOLE_ORIGIN,
  type TestConsole,
  testConsole,
} from "../../../tests/kit/console.ts";
import { ODD_NOW_MS, oddLedger } from "../../../tests/kit/odd_ledger.ts";

const now = () => ODD_NOW_MS;
const OPERATES = { kind: "open", operates: true } as const;
const TERMS = { timeZone: "Europe/Berlin", bookBy: "created" } as const;

/** Orders of three months, of which the present one is not over. */
const threeMonths = () =>
  oddLedger(
    ["2026-09", "2026-10", "2026-11"].map((month, order) =>
      monthReading({ order: `O${order}`, at: `${month}-05T10:00:00Z` })
    ),
  );

/** Sends the form of a month's page. */
async function press(
  opened: TestConsole,
  month: string,
  fields: Readonly<Record<string, string>>,
  form?: string,
) {
  // Any page with a form has the token.
  const page = await opened.ask("/orders/O0");
  const cookie = page.headers.get("set-cookie")?.split(";")[0] ?? "";
  const [, own = ""] = /name="form" value="([^"]+)"/.exec(await page.text()) ??
    [];
  return await opened.ask("/do/closeMonth", {
    headers: { cookie, origin: CONSOLE_ORIGIN },
    fields: { form: form ?? own, month, back: `/months/${month}`, ...fields },
  });
}

Deno.test("the form of a month closes the next month by the terms of the one before, and the log says who", async () => {
  const ledger = await threeMonths();
  await ledger.months.close("2026-09", TERMS);
  await using opened = testConsole(ledger, now, OPERATES);
  assert.match(
    await opened.read("/months"),
    /2026-11 not over yet 2026-10 over The books .* Closed Month .* 2026-09 1 /,
  );
  assert.match(await opened.read("/months/2026-10"), /Close 2026-10/);
  const later = await opened.read("/months/2026-11");
  assert.match(later, /2026-10 is not closed yet\. Until it is, .* Late 1 /);
  assert.doesNotMatch(later, /Close it/);

  const unsure = await press(opened, "2026-10", {});
  assert.equal(unsure.status, 400);
  assert.match(await unsure.text(), /tick that you are sure/);
  const strange = await press(opened, "2026-10", { sure: "yes" }, "guessed");
  assert.equal(strange.status, 403);
  assert.equal(await ledger.months.get("2026-10"), null);

  const answer = await press(opened, "2026-10", { sure: "yes" });
  assert.equal(answer.headers.get("location"), "/months/2026-10");
  const closed = await ledger.months.get("2026-10");
  assert.deepEqual([closed?.timeZone, closed?.bookBy], [
    TERMS.timeZone,
    TERMS.bookBy,
  ]);
  assert.match(await opened.read("/months/2026-10"), /2026-10 closed .* 1 /);
  const present = await opened.read("/months/2026-11");
  assert.doesNotMatch(present, /is not closed yet|Late/);
  assert.deepEqual(opened.logged.map((line) => JSON.parse(line)), [{
    event: "operated",
    fields: {
      action: "close_month",
      by: "local",
      month: "2026-10",
      ...TERMS,
      position: closed?.position,
    },
  }]);
  for (
    const [month, why] of [
      ["2026-10", /is closed already/],
      ["2026-11", /Cannot close 2026-11: it is not over, today is 2026-11-20/],
      ["2026-12", /the next one is 2026-11/],
      ["2026-13", /Wrong month: .*2026-13/],
    ] as const
  ) {
    const refused = await press(opened, month, { sure: "yes" });
    assert.equal(refused.status, 400, month);
    assert.match(await refused.text(), why);
  }
});

Deno.test("the form of a month leaves the first month to the command, and closes nothing for who only reads", async () => {
  await using opened = testConsole(await threeMonths(), now, OPERATES);
  assert.match(
    await opened.read("/months/2026-10"),
    /rampkit month close 2026-10 --tz UTC --book-by confirmed/,
  );
  const first = await press(opened, "2026-10", { sure: "yes" });
  assert.match(await first.text(), /The first month that is closed/);

  const ledger = await threeMonths();
  await ledger.months.close("2026-09", TERMS);
  await using reads = testConsole(ledger, now);
  assert.match(
    await reads.read("/months/2026-10"),
    /Somebody with an operate token can close it here/,
  );
  assert.equal((await press(reads, "2026-10", { sure: "yes" })).status, 403);
  assert.equal(await ledger.months.get("2026-10"), null);
});
