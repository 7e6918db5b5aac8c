import assert from "node:assert/strict";
import type { Ledger } from "../../../ledger/mod.ts";
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

const keyOf = (order: string) => `order:${order}:confirmed.pending`;

/** A ledger of which the subscription "shop" took nothing of these orders. */
async function refusedBy(
  shop: { takes: boolean; readonly heard: string[] },
  orders: readonly string[],
) {
  const ledger = await oddLedger(
    orders.map((order) => oddReading(order, "pending", 5)),
  );
  const subscription = await ledger.subscribe(
    "shop",
    { on: "order.*.*", from: "start", start: false, maxAttempts: 1 },
    ({ key }) => {
      if (!shop.takes) throw new Error("<b>HTTP 500</b>");
      shop.heard.push(key);
    },
  );
  await subscription.dispatch();
  return { ledger, subscription };
}

/** Sends a form of the page on which dead letters are. */
async function press(
  opened: TestConsole,
  operation: "retryDeadLetters" | "dropDeadLetter" | "eraseUser",
  fields: Readonly<Record<string, string>>,
  form?: string,
) {
  const page = await opened.ask("/attention");
  const cookie = page.headers.get("set-cookie")?.split(";")[0] ?? "";
  const [, own = ""] = /name="form" value="([^"]+)"/.exec(await page.text()) ??
    [];
  return await opened.ask(`/do/${operation}`, {
    headers: { cookie, origin: CONSOLE_ORIGIN },
    fields: {
      form: form ?? own,
      subscription: "shop",
      back: "/attention#dead",
      ...fields,
    },
  });
}

async function deadOf(ledger: Ledger): Promise<string[]> {
  const dead = await ledger.subscriptions.deadLetters("shop");
  return dead.map(({ transition }) => transition.key);
}

Deno.test("the form of dead letters sends one again, drops one, sends the rest, and leaves a line that says who", async () => {
  const shop = { takes: false, heard: [] as string[] };
  const { ledger, subscription } = await refusedBy(shop, ["A", "B", "C", "D"]);
  await using opened = testConsole(ledger, now, OPERATES);
  const text = await opened.read("/attention");
  assert.match(text, /shop 4 dead letters A pending, confirmed of/);
  assert.match(text, /tried 1 time <b>HTTP 500<\/b> Send again Drop/);
  assert.match(text, /Send all 4 again/);
  shop.takes = true;

  const one = await press(opened, "retryDeadLetters", { key: keyOf("A") });
  assert.equal(one.status, 303);
  assert.equal(one.headers.get("location"), "/attention#dead");
  await press(opened, "dropDeadLetter", { key: keyOf("B") });
  await subscription.dispatch();
  assert.deepEqual(shop.heard, [keyOf("A")]);
  assert.deepEqual(await deadOf(ledger), [keyOf("C"), keyOf("D")]);
  await press(opened, "retryDeadLetters", {});
  await subscription.dispatch();
  assert.deepEqual(shop.heard, ["A", "C", "D"].map(keyOf));
  assert.doesNotMatch(await opened.read("/attention"), /dead letter/);
  const line = (action: string, fields: Readonly<Record<string, unknown>>) =>
    JSON.stringify({
      event: "operated",
      fields: { action, by: "local", subscription: "shop", ...fields },
    });
  assert.deepEqual(opened.logged, [
    line("retry", { key: keyOf("A"), retried: 1, hastened: 0 }),
    line("drop", { key: keyOf("B"), dropped: 1 }),
    line("retry", { retried: 2, hastened: 0 }),
  ]);
  await subscription.stop();
});

Deno.test("the form of dead letters changes nothing without the form's token, without operate, or when it is wrong", async () => {
  const shop = { takes: false, heard: [] };
  const { ledger, subscription } = await refusedBy(shop, ["A"]);
  await using opened = testConsole(ledger, now, OPERATES);
  const key = keyOf("A");
  const strange = await press(opened, "dropDeadLetter", { key }, "guessed");
  assert.equal(strange.status, 403);
  for (
    const [operation, fields, status, why] of [
      ["dropDeadLetter", {}, 400, /Missing key: The dead letter to delete/],
      ["retryDeadLetters", { key: "" }, 400, /Wrong key: it is empty/],
      ["eraseUser", { key }, 404, /There is no such page/],
      ["dropDeadLetter", { key: keyOf("B") }, 400, /no such dead letter/],
      ["retryDeadLetters", { key: keyOf("B") }, 400, /no such delivery failed/],
      ["retryDeadLetters", { key, subscription: "other" }, 400, /are shop/],
    ] as const
  ) {
    const answer = await press(opened, operation, fields);
    assert.equal(answer.status, status, JSON.stringify(fields));
    assert.match(await answer.text(), why);
  }
  assert.deepEqual(await deadOf(ledger), [key]);
  await subscription.stop();

  const other = await refusedBy(shop, ["A"]);
  await using reads = testConsole(other.ledger, now);
  const text = await (await reads.ask("/attention")).text();
  assert.match(text, /rampkit subscriptions retry shop/);
  assert.doesNotMatch(text, /action="\/do\//);
  await other.subscription.stop();
});
