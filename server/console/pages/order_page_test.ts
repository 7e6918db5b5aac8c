import assert from "node:assert/strict";
import { orderRead } from "../../../ledger/testing/projection_test_kit.ts";
import { POLL_LEASE, takeLease } from "../../../ledger/for_sync.ts";
import { CONSOLE_ORIGIN, testConsole } from "../../../tests/kit/console.ts";
import {
  ODD_NOW_MS,
  ODD_ORDERS,
  ODD_USERS,
  oddDelivery,
  oddEvents,
  oddLedger,
  oddReading,
  transactionOf,
} from "../../../tests/kit/odd_ledger.ts";

const now = () => ODD_NOW_MS;

Deno.test("orderPage() says of each order what is true, whether to release, and what to tell", async () => {
  await using opened = testConsole(await oddLedger(), now);
  const said: Record<string, readonly RegExp[]> = {
    success: [
      /Success, as asked for\. Final\. Crypto was sent: 0x30314b5153/,
      /100\.50 USD for 0\.031 ETH on ethereum/,
      /Release yes/,
      /Next: Release what expected\.reference names/,
      /Your order is complete: our payment partner says that the crypto was sent/,
      /Your reference Basket-77/,
    ],
    failed: [
      /Failed: the card's issuer declined the payment\. Final/,
      /Release no/,
      /Your bank declined the payment\. Please ask your bank/,
    ],
    pending: [/Paid, and not sent yet/, /Release wait/],
    forged: [
      /Unknown to the service/,
      /Next: Treat it as forged/,
      /cannot find/,
    ],
    reversed: [
      /Failed: the service showed success before, and took it back/,
      /Next: Stop what is not delivered/,
      /We are checking your order/,
    ],
    refund: [/The service should refund the customer/, /owes you a refund/],
    withoutTransaction: [/names no transaction/, /No transaction is named/],
    unknownStatus: [/frozen, a status that this version does not know/],
  };
  for (const [name, patterns] of Object.entries(said)) {
    const id = ODD_ORDERS[name as keyof typeof ODD_ORDERS];
    const text = await opened.read(`/orders/${id}`);
    for (const pattern of patterns) assert.match(text, pattern, name);
  }
});

Deno.test("orderPage() offers to settle what has ended, says before what that records, and offers nothing before", async () => {
  await using opened = testConsole(await oddLedger(), now, {
    kind: "open",
    operates: true,
  });
  const pageOf = async (name: keyof typeof ODD_ORDERS) =>
    await (await opened.ask(`/orders/${ODD_ORDERS[name]}`)).text();
  for (const name of ["pending", "forged", "unknownStatus"] as const) {
    const page = await pageOf(name);
    assert.doesNotMatch(page, /I delivered it|I refunded it/, name);
    assert.match(page, /Note/, name);
  }
  for (const name of ["success", "failed", "reversed"] as const) {
    const page = await pageOf(name);
    const said = page.indexOf("I delivered it: nobody is told any more");
    const button = page.indexOf('value="delivered"');
    assert.ok(said > 0 && button > said, name);
  }
  assert.match(
    await opened.read(`/orders/${ODD_ORDERS.success}`),
    /The service shows success: 100\.50 USD, asked for 100\.50 USD, reference Basket-77 ?\./,
  );
  assert.match(
    await pageOf("success"),
    /<input type="checkbox" name="confirmed" value="true">/,
  );
});

Deno.test("orderPage() tells in words what happened, when, when it was heard and by whom", async () => {
  await using opened = testConsole(await oddLedger(), now);
  const text = await opened.read(`/orders/${ODD_ORDERS.success}`);
  const happened = text.slice(text.indexOf("What happened"));
  for (
    const pattern of [
      /You made a session for the widget Heard 2026-11-20 08:40:00 \(3 h ago\) your own/,
      /A webhook says: the payment began Heard 2026-11-20 09:50:00 .* webhook/,
      /The service shows: it is complete, and the crypto was sent Happened 2026-11-20 10:00:00 \. Heard 2026-11-20 10:01:00 \(119 min ago\) reading/,
    ]
  ) assert.match(happened, pattern);
});

Deno.test("orderPage() lists the user's other orders, and leads to user, explorer and dashboard", async () => {
  await using opened = testConsole(await oddLedger(), now);
  const answer = await opened.ask(`/orders/${ODD_ORDERS.success}`);
  const page = await answer.text();
  for (
    const link of [
      `href="/users/${ODD_USERS.buyer}"`,
      `href="/orders/${ODD_ORDERS.failed}"`,
      `href="https://etherscan.io/tx/${transactionOf(ODD_ORDERS.success)}"`,
      'href="https://dashboard.example"',
      'href="/deliveries/01KQ',
    ]
  ) assert.ok(page.includes(link), link);
  const others = page.slice(page.indexOf('id="others"'));
  assert.ok(!others.includes(`href="/orders/${ODD_ORDERS.success}"`));
});

Deno.test("orderPage() names the order in its title", async () => {
  await using opened = testConsole(await oddLedger(), now);
  const answer = await opened.ask(`/orders/${ODD_ORDERS.success}`);
  assert.match(await answer.text(), /<title>Order SUCCES - Rampkit<\/title>/);
});

Deno.test("orderPage() leads from any other name of an order to it", async () => {
  await using opened = testConsole(await oddLedger(), now);
  const search = await opened.ask("/orders/basket-77");
  assert.equal(search.headers.get("location"), "/search?q=basket-77");
  const found = await opened.ask("/search?q=basket-77");
  assert.equal(found.status, 303);
  assert.equal(
    found.headers.get("location"),
    `/orders/${ODD_ORDERS.success}`,
  );
});

Deno.test("searchPage() lists several with what matched, and says what can be searched when there is none", async () => {
  await using opened = testConsole(await oddLedger(), now);
  const several = await opened.read("/search?q=01kq");
  assert.match(several, /^14 found/);
  assert.match(several, /01KQSUCCESS000000000000001 yes order id 2026/);
  const wallet = await opened.read(
    "/search?q=0xABCDEF0123456789abcdef0123456789ABCDEF01",
  );
  assert.match(wallet, /address 0xAbCdEf0123456789abcdef/);
  const none = await opened.read("/search?q=" + encodeURIComponent("<b>x"));
  assert.match(none, /^Nothing found for <b>x/);
  assert.match(none, /first four characters/);
  const empty = await opened.ask("/search?q=+");
  assert.equal(empty.headers.get("location"), "/");
  const user = await opened.ask(`/search?q=${ODD_USERS.retry.toLowerCase()}`);
  assert.equal(user.headers.get("location"), `/users/${ODD_USERS.retry}`);
});

Deno.test("bodyPage() shows a body as it came, and why it is odd", async () => {
  await using opened = testConsole(await oddLedger(), now);
  const bodies = oddEvents().filter(({ kind }) => kind === "webhook");
  assert.ok(bodies.length > 5);
  const quarantined = oddDelivery("no JSON at all <b>", 1);
  await using other = testConsole(await oddLedger([quarantined]), now);
  const text = await other.read(`/deliveries/${quarantined.eventId}`);
  assert.match(text, /Quarantined yes/);
  assert.match(text, /Body no JSON at all <b>$/);
  assert.equal((await opened.ask("/deliveries/unknown")).status, 404);
});

Deno.test("pages show hostile values as text, without what turns the reading round, and cut to a length", async () => {
  const id = `01<script>alert(1)</script>"'&\u202e`;
  const huge = "W".repeat(1_000_000);
  const ledger = await oddLedger([
    oddReading(id, "success", 5, {
      external_order_id: `"><img src=x onerror=alert(2)>`,
      click_id: huge,
      address: `javascript:alert(3)`,
      tx_id: `</script><script>alert(4)</script>\u200f\u0007`,
      currency: "<b>USD</b>",
      user_id: `../../etc/<passwd>`,
      fail_reason: huge,
    }),
  ]);
  await using opened = testConsole(ledger, now);
  for (const path of ["/", `/orders/${encodeURIComponent(id)}`]) {
    const answer = await opened.ask(path);
    assert.equal(answer.status, 200);
    const page = await answer.text();
    assert.doesNotMatch(page, /<script>|<img|<b>|href="javascript/i);
    for (const odd of ["\u202e", "\u200f", "\u0007"]) {
      assert.ok(!page.includes(odd));
    }
    assert.ok(page.length < 60_000, `${path}: ${page.length} characters`);
  }
});

Deno.test("orderPage() is where the links of an order lead whose id is a step through a path", async () => {
  const ledger = await oddLedger();
  await ledger.append([
    orderRead(1, { orderId: "..", status: "pending", user: "." }),
  ]);
  await ledger.project();
  await using opened = testConsole(ledger, now);
  const list = await (await opened.ask("/users/%00.")).text();
  const [, link = ""] = /href="(\/orders\/[^"]*)"/.exec(list) ?? [];
  // What a browser makes of the link.
  const { pathname } = new URL(link, CONSOLE_ORIGIN);
  assert.equal(pathname, "/orders/%00..");
  assert.match(await opened.read(pathname), /Order \.\. /);
});

Deno.test("orderPage() has the order read again for who may operate, while somebody polls", async () => {
  const ledger = await oddLedger();
  const path = `/orders/${ODD_ORDERS.pending}`;
  const operates = { kind: "open", operates: true } as const;
  await using pages = testConsole(ledger, now, operates);
  const button = /Ask the service now/;
  assert.doesNotMatch(await pages.read(path), button);
  await takeLease(ledger.driver, {
    name: POLL_LEASE,
    holder: "another process",
    leaseMs: 60_000,
  });
  const page = await pages.ask(path);
  const cookie = page.headers.get("set-cookie")?.split(";")[0] ?? "";
  const text = await page.text();
  assert.match(text, button);
  const [, form = ""] = /name="form" value="([^"]+)"/.exec(text) ?? [];
  const sent = await pages.ask("/do/readOrder", {
    headers: { cookie, origin: CONSOLE_ORIGIN },
    fields: { form, ref: ODD_ORDERS.pending, back: path },
  });
  assert.deepEqual([sent.status, sent.headers.get("location")], [303, path]);
  assert.match(pages.logged.join("\n"), /read_order/);
  const reader = testConsole(ledger, now);
  assert.doesNotMatch(await reader.read(path), button);
});
