import assert from "node:assert/strict";
import {
  CONSOLE_ORIGIN,
  type TestConsole,
  testConsole,
} from "../../../tests/kit/console.ts";
import {
  ODD_NOW_MS,
  oddLedger,
  oddReading,
} from "../../../tests/kit/odd_ledger.ts";

const now = () => ODD_NOW_MS;
const OPERATES = { kind: "open", operates: true } as const;
const WHOLE = { id: "O1", outcome: "refunded", why: "paid twice" };

async function press(
  opened: TestConsole,
  fields: Readonly<Record<string, string>>,
  form?: string,
) {
  const page = await opened.ask("/orders/O1");
  const cookie = page.headers.get("set-cookie")?.split(";")[0] ?? "";
  const [, own = ""] = /name="form" value="([^"]+)"/.exec(await page.text()) ??
    [];
  return await opened.ask("/released", {
    headers: { cookie, origin: CONSOLE_ORIGIN },
    fields: { form: form ?? own, ...fields },
  });
}

Deno.test("POST /released records what a person did, and the order's page and the log say who", async () => {
  const ledger = await oddLedger([oddReading("O1", "success", 5)]);
  await using opened = testConsole(ledger, now, OPERATES);
  assert.match(await opened.read("/orders/O1"), /Release by hand/);
  for (
    const [fields, why] of [
      [{ ...WHOLE, outcome: "sent" }, /The form is not whole/],
      [{ ...WHOLE, why: " " }, /Wrong why/],
      [{ ...WHOLE, id: "O9" }, /does not have/],
    ] as const
  ) {
    const refused = await press(opened, fields);
    assert.equal(refused.status, 400);
    assert.match(await refused.text(), why);
  }
  assert.equal((await press(opened, WHOLE, "guessed")).status, 403);
  assert.equal(await ledger.handRelease("O1"), null);

  const answer = await press(opened, WHOLE);
  assert.equal(answer.headers.get("location"), "/orders/O1");
  assert.equal((await ledger.handRelease("O1"))?.by, "local");
  const page = await opened.read("/orders/O1");
  assert.match(page, /By hand: refunded by local at .*: paid twice/);
  assert.doesNotMatch(page, /Release by hand/);
  assert.deepEqual(opened.logged.map((line) => JSON.parse(line)), [{
    event: "console_released",
    fields: { author: "local", orderId: "O1", outcome: "refunded" },
  }]);
});

Deno.test("POST /released records nothing for who only reads", async () => {
  const ledger = await oddLedger([oddReading("O1", "success", 5)]);
  await using opened = testConsole(ledger, now);
  assert.doesNotMatch(await opened.read("/orders/O1"), /Release by hand/);
  assert.equal((await press(opened, WHOLE)).status, 403);
  assert.equal(await ledger.handRelease("O1"), null);
});
