import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { Ledger, NewEvent } from "../../../ledger/mod.ts";
import { deliveryUnanswered } from "../../../ledger/testing/mod.ts";
import { addRefusedRequests } from "../../../sync/check/drift.ts";
import { monthReading } from "../../../ledger/testing/month_test_events.ts";
import { MONTH_FILE_NAMES } from "../../../resources/months/month_files.ts";
import { registerTarget } from "../../../ledger/for_server.ts";
import {
  orderOfRow,
  outcomeEvents,
} from "../../../tests/kit/outcome_orders.ts";
import { until } from "../../../tests/kit/until.ts";
import { CONSOLE_ORIGIN, testConsole } from "../../../tests/kit/console.ts";
import {
  minutesAgo,
  ODD_NOW_MS,
  ODD_ORDERS,
  ODD_USERS,
  oddEvents,
  oddLedger,
  oddWebhook,
  transactionOf,
} from "../../../tests/kit/odd_ledger.ts";

const now = () => ODD_NOW_MS;

/** Orders of October, of which one states no fee of the partner. */
const october: readonly NewEvent[] = [
  monthReading({ order: "OCT1", at: "2026-10-05T10:00:00Z" }),
  monthReading({
    order: "OCT2",
    at: "2026-10-31T23:30:00Z",
    fields: { partner_fee: undefined, currency_amount: "9.90" },
  }),
  monthReading({ order: "OCT3", at: "2026-10-06T10:00:00Z" }),
  monthReading({
    order: "OCT4",
    at: "2026-10-07T10:00:00Z",
    status: "failed",
    fields: {
      fail_reason: '"4016"',
      currency_amount: "70.70",
      tx_id: undefined,
    },
  }),
];

Deno.test("homePage() counts what waits and lists the newest orders", async () => {
  await using opened = testConsole(await oddLedger(), now);
  const text = await opened.read("/");
  assert.match(text, /Waits for a person .*1 Paid after the order's time/);
  assert.match(text, /Newest orders .*01KQPENDING000000000000001/);
});

Deno.test("ordersPage() lists orders by the filters, and lists nothing for a word that it does not know", async () => {
  await using opened = testConsole(await oddLedger(), now);
  const all = await opened.read("/orders?release=&user=");
  assert.ok(
    all.includes(ODD_ORDERS.reversed) && all.includes(ODD_ORDERS.stuck),
  );
  const wrong = await opened.read("/orders?release=maybe");
  assert.match(wrong, /Wrong release: .maybe. is not one of yes, /);
  assert.ok(!wrong.includes(ODD_ORDERS.reversed));
  const day = await opened.read("/orders?from=2026-11-20&to=yesterday");
  assert.match(day, /Wrong to: /);
  const reversed = await opened.read("/orders?release=no&reason=final_changed");
  assert.ok(reversed.includes(ODD_ORDERS.reversed));
  assert.ok(!reversed.includes(ODD_ORDERS.failed));
  const waiting = await opened.read("/orders?release=wait&reason=not_final");
  assert.ok(waiting.includes(ODD_ORDERS.stuck));
  assert.ok(!waiting.includes(ODD_ORDERS.reversed));
  const bought = await opened.read(`/orders?user=${ODD_USERS.buyer}`);
  assert.ok(bought.includes(ODD_ORDERS.failed));
  const form = await (await opened.ask("/orders?release=wait")).text();
  assert.match(form, /<option value="wait"[^>]*selected/);
});

Deno.test("userPage() says what a user may do, with all orders", async () => {
  await using opened = testConsole(await oddLedger(), now);
  const buyer = await opened.read(`/users/${ODD_USERS.buyer}`);
  assert.match(buyer, /Verified by the verification with documents: may buy/);
  assert.match(buyer, /Full KYC success \(confirmed\)/);
  assert.ok(buyer.includes(ODD_ORDERS.failed));
  const retry = await opened.read(`/users/${ODD_USERS.retry}`);
  assert.match(retry, /the user must hand in documents again/);
  assert.equal((await opened.ask("/users/nobody")).status, 404);
});

Deno.test("monthPage() shows a closed month as it was closed, with its files byte for byte", async () => {
  const ledger = await oddLedger(october);
  const terms = { timeZone: "Europe/Berlin", bookBy: "confirmed" } as const;
  const { closed } = await ledger.months.close("2026-10", terms);
  await using opened = testConsole(ledger, now);
  assert.match(
    await opened.read("/months"),
    /Closed Month .* 2026-10 2 60\.20 USD 2026-11-20 12:00:00 Europe\/Berlin confirmed/,
  );
  const text = await opened.read("/months/2026-10");
  assert.match(
    text,
    /Time zone Europe\/Berlin Booked by the time an order was/,
  );
  assert.match(text, /As of position 4, 4 events Orders 2/);
  // OCT2 is of November in Berlin.
  assert.match(text, /Sales USD 2 60\.20 0\.60 2, 0 2\.10 2, 0 In all USD 2/);
  assert.match(text, /Refunds due: 70\.70 USD, 1 order/);
  assert.match(
    text,
    /2026-10-05: 1 order, 30\.10 USD 1 5 2026-10-06: 1 order, 30\.10 USD 1 6/,
  );
  assert.match(text, /Sales: 2 rows .* 2026-10-05 OCT1 30\.10 USD/);
  for (const { name, sha256 } of closed?.files ?? []) {
    const answer = await opened.ask(`/months/2026-10/${name}`);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    assert.equal(createHash("sha256").update(bytes).digest("hex"), sha256);
    assert.match(
      answer.headers.get("content-disposition") ?? "",
      new RegExp(`^attachment; filename="2026-10-${name}"`),
    );
    assert.ok(text.includes(sha256));
  }
  assert.equal((await opened.ask("/months/2026-10/events.db")).status, 404);
  assert.equal((await opened.ask("/months/2026-13")).status, 404);
});

Deno.test("monthPage() leads from a closed month to what changed later, in closed months and in the open one", async () => {
  const ledger = await oddLedger(october);
  const terms = { timeZone: "UTC", bookBy: "confirmed" } as const;
  assert.ok((await ledger.months.close("2026-10", terms)).closed);
  await using opened = testConsole(ledger, now);
  const page = async () => {
    let text = "";
    await until(async () => {
      text = await opened.read("/months/2026-10");
      return !text.includes("is being worked out");
    });
    return /Changed since it was closed(.*)Sales, and apart/.exec(text)?.[1];
  };
  assert.match(await page() ?? "", /Nothing: what it booked still stands/);
  await ledger.append([
    monthReading({
      order: "OCT1",
      at: "2026-11-03T10:00:00Z",
      status: "cancelled",
    }),
    monthReading({
      order: "OCT3",
      at: "2026-11-04T10:00:00Z",
      fields: { currency_amount: "31.10" },
    }),
  ]);
  const early = { beforeEnd: true } as const;
  assert.ok((await ledger.months.close("2026-11", early)).closed);
  const later = await page() ?? "";
  assert.match(later, /3 rows in 2026-11 :/);
  assert.match(later, /2026-11-03 reversal OCT1 -30\.10 USD/);
  assert.match(
    later,
    /2026-11-04 reversal OCT3 -30\.10 USD .* 2026-11-04 restatement OCT3 31\.10 USD/,
  );
  const html = await (await opened.ask("/months/2026-11")).text();
  assert.match(html, /href="\/orders\/OCT1"/);
  assert.match(html, /href="\/months\/2026-10"/);
});

Deno.test("monthPage() works the books of an open month out, and stores nothing", async () => {
  const ledger = await oddLedger(october);
  await using opened = testConsole(ledger, now);
  const { position } = await ledger.stats();
  const text = await opened.read("/months/2026-10");
  assert.match(text, /2026-10 open How it was worked out Closed Not closed/);
  assert.match(text, /Time zone UTC/);
  assert.match(text, /Sales USD 3 70\.10 0\.60 2, 1 3\.15 3, 0/);
  assert.match(text, /Refunds due: 70\.70 USD, 1 order/);
  assert.match(text, /2026-10-31 OCT2 9\.90 USD .* not stated 1\.05/);
  for (const file of MONTH_FILE_NAMES) {
    const answer = await opened.ask(`/months/2026-10/${file}`);
    assert.equal(answer.status, 200);
    assert.match(
      await answer.text(),
      /OCT2|^kind,currency|^currency,rows|"order": 3/,
    );
  }
  const orders = await (await opened.ask("/months/2026-10/orders.csv")).text();
  assert.match(orders, /,http:\/\/[^/,]+\/orders\/OCT1\r\n/);
  assert.equal((await ledger.stats()).position, position);
  assert.equal(await ledger.months.get("2026-10"), null);
});

Deno.test("deliveryPage() says whether webhooks come, and shows the last of them", async () => {
  await using opened = testConsole(await oddLedger(), now);
  const all = await opened.read("/delivery");
  assert.match(
    all,
    /Webhooks come: Nothing is overdue; the last webhook was received at/,
  );
  assert.match(all, /order_complete 01KQCLAIMED000000000000001/);
});

Deno.test("deliveriesPage() lists what came, page by page, and alone what cannot be read or names an order", async () => {
  await using opened = testConsole(await oddLedger(), now);
  const all = await opened.read("/deliveries");
  assert.match(all, /2026-11-20 11:15:00 cannot be read/);
  assert.match(all, /order_complete 01KQCLAIMED000000000000001/);
  const odd = await opened.read("/deliveries?quarantined=true");
  assert.match(odd, /cannot be read/);
  assert.ok(!odd.includes("order_complete"));
  assert.match(odd, /rampkit deliveries list --quarantined Copy/);
  const own = await opened.read(`/deliveries?order=${ODD_ORDERS.claimed}`);
  assert.match(own, /order_complete 01KQCLAIMED000000000000001/);
  assert.ok(!own.includes("cannot be read"));
  const buyers = await opened.read(`/deliveries?user=${ODD_USERS.buyer}`);
  assert.match(buyers, /order_complete/);
  const many = Array.from(
    { length: 51 },
    (_, n) => oddWebhook(`O${n}`, "payment_started", n),
  );
  await using other = testConsole(await oddLedger(many), now);
  const page = await (await other.ask("/deliveries")).text();
  const [, next = ""] = /href="(\/deliveries\?after=[^"]+)"/.exec(page) ?? [];
  const earlier = await other.read(next);
  assert.equal(earlier.match(/payment_started/g)?.length, 1);
  const wrong = await other.ask("/deliveries?after=2");
  assert.equal(wrong.status, 400);
  assert.match(await wrong.text(), /Wrong cursor: &quot;2&quot; is not/);
  assert.deepEqual(other.logged, []);
});

Deno.test("ordersPage() says how many orders there are and their sum, turns the list round, and gives it as command and CSV", async () => {
  await using opened = testConsole(await oddLedger(), now);
  const path = "/orders?status=failed&min=100.5&sort=oldest";
  const text = await opened.read(path);
  assert.match(
    text,
    /Oldest first (\d+) orders ([\d.,]+) USD in \1 orders/,
  );
  assert.match(
    text,
    /rampkit orders list --status failed --min 100\.5 --sort oldest Copy/,
  );
  const order = (list: string) =>
    [...list.matchAll(/01KQ[A-Z]+0+1/g)].map(([id]) => id);
  const newest = await opened.read("/orders?status=failed&min=100.5");
  assert.deepEqual(order(text).toReversed(), order(newest));
  const file = await opened.ask(path.replace("/orders", "/orders.csv"));
  assert.match(
    file.headers.get("content-disposition") ?? "",
    /attachment; filename="orders.csv"/,
  );
  const lines = (await file.text()).trim().split("\r\n");
  assert.match(lines[0] ?? "", /^order_id,reference,status,/);
  assert.deepEqual(
    lines.slice(1).map((line) => line.split(",")[0]),
    [...new Set(order(text))],
  );
  const wrong = await opened.ask("/orders.csv?min=much");
  assert.equal(wrong.status, 400);
  assert.match(await wrong.text(), /Wrong min: .*is not an amount/);
  const sum = await opened.read("/orders/totals?status=failed&min=100.5");
  assert.match(sum, /Sum of orders (\d+) orders ([\d.,]+) USD in \1 orders/);
});

Deno.test("usersPage() lists users by the filters", async () => {
  await using opened = testConsole(await oddLedger(), now);
  const all = await opened.read("/users");
  assert.ok(all.includes(ODD_USERS.buyer) && all.includes(ODD_USERS.retry));
  const verified = await opened.read("/users?status=success");
  assert.ok(verified.includes(ODD_USERS.buyer));
  assert.ok(!verified.includes(ODD_USERS.retry));
  assert.match(verified, /rampkit users list --status success Copy/);
  const wrong = await opened.read("/users?trust=much");
  assert.match(wrong, /Wrong trust: .much. is not one of claimed, confirmed/);
});

Deno.test("healthPage() says what each condition of the bar means, and the bar leads there", async () => {
  await using opened = testConsole(await oddLedger(), now);
  let bar = "";
  await until(async () => {
    bar = await (await opened.ask("/")).text();
    return bar.includes('href="/health#confirmations_waiting"');
  });
  for (
    const [part, page] of [["Webhooks", "/delivery"], [
      "Forwarding",
      "/targets",
    ]]
  ) {
    assert.match(
      bar,
      new RegExp(`<a href="${page}"[^>]*><span[^>]*>.</span> ${part}`),
    );
  }
  const page = await (await opened.ask("/health")).text();
  assert.match(page, /id="confirmations_waiting"><p><strong class="warn">/);
  assert.match(page, /Next:<\/span> Check that <code>serve<\/code>/);
  assert.match(
    page,
    /<summary>More<\/summary><p>What webhooks claimed.*<code>poll_failing<\/code>/,
  );
});

Deno.test("targetPage() names a target that fails with its address and last answer, and stops, resumes and sends again for who may operate", async () => {
  const ledger = await oddLedger();
  const name = "forward:https://shop.example/hooks";
  const url = "https://shop.example/hooks";
  const shop = await ledger.subscribe(
    name,
    { on: "order.confirmed.success", from: "start", start: false },
    () => {
      throw new Error("answered 500");
    },
  );
  await shop.dispatch();
  await registerTarget(ledger.driver, name, url);
  const path = `/targets/${encodeURIComponent(name)}`;
  await using opened = testConsole(ledger, now, {
    kind: "open",
    operates: true,
  });
  const text = await opened.read(path);
  assert.match(text, /A receiver fails.* to https:\/\/shop\.example\/hooks/);
  assert.match(text, /Last answer answered 500/);
  assert.match(text, /What waits .*01KQSUCCESS000000000000001 .*order success/);
  assert.match(
    await opened.read("/targets"),
    /forward:https:\/\/shop\.example/,
  );
  assert.equal((await opened.ask("/targets/nobody")).status, 404);

  const press = async (operation: string) => {
    const page = await opened.ask(path);
    const cookie = page.headers.get("set-cookie")?.split(";")[0] ?? "";
    const [, form = ""] = /name="form" value="([^"]+)"/.exec(
      await page.text(),
    ) ?? [];
    const answer = await opened.ask(`/do/${operation}`, {
      headers: { cookie, origin: CONSOLE_ORIGIN },
      fields: { form, subscription: name, back: path },
    });
    assert.equal(answer.status, 303, operation);
    return await opened.read(answer.headers.get("location") ?? "");
  };
  assert.match(await press("retryDeadLetters"), /order success .* 1 now/);
  assert.match(
    await press("stopTarget"),
    /A target is switched off: .* because it was stopped by a person/,
  );
  assert.doesNotMatch(await press("resumeTarget"), /switched off/i);
  assert.match(opened.logged.join(), /"action":"stop","by":"local"/);
  await shop.stop();

  await using reads = testConsole(await oddLedger(), now);
  assert.match(await reads.read("/targets"), /Nothing is forwarded/);
});

Deno.test("userPage() says what waits, whether anything was paid twice, what to tell the customer, and how the verification went", async () => {
  await using opened = testConsole(
    await oddLedger([...oddEvents(), ...outcomeEvents()]),
    now,
  );
  const buyer = await opened.read(`/users/${ODD_USERS.buyer}`);
  assert.match(buyer, /Waits for a person: \d+ .*Next: /);
  assert.match(buyer, /Paid twice\? Yes : 01KPAID_TWICE/);
  assert.match(
    buyer,
    /What to tell the customer You are verified and can buy within/,
  );
  assert.match(
    buyer,
    /Steps of the verification .*Verification with documents: success/,
  );
  const order = await opened.read(`/orders/${orderOfRow("paid_twice")}`);
  assert.match(order, /Paid twice\? Yes : the same purchase was paid by 01K/);
  const once = await opened.read(`/orders/${orderOfRow("session_matched")}`);
  assert.match(
    once,
    /Paid twice\? Perhaps : the same user paid the same amount/,
  );
});

Deno.test("searchPage() takes what people paste, and says of an e-mail address what to ask for", async () => {
  await using opened = testConsole(await oddLedger(), now);
  const hash = transactionOf(ODD_ORDERS.success);
  for (
    const pasted of [
      ...["#SUCCES", "order SUCCES", `https://etherscan.io/tx/${hash}`],
      ...[`${hash.slice(0, 12)}\u2026\u2060${hash.slice(-6)}`],
      ...[`click-${ODD_ORDERS.success}`.slice(0, 14), hash.slice(0, 14)],
    ]
  ) {
    const answer = await opened.ask(`/search?q=${encodeURIComponent(pasted)}`);
    assert.equal(
      answer.headers.get("location"),
      `/orders/${ODD_ORDERS.success}`,
      pasted,
    );
  }
  const mail = await opened.read("/search?q=anna%40example.com");
  assert.match(mail, /does not provide e-mail addresses and phone numbers/);
  assert.match(mail, /Ask the customer for the order number/);
});

/** A ledger whose last delivery was answered late, two hours ago. */
function failingLedger(): Promise<Ledger> {
  const failing = oddWebhook("O1", "payment_started", 120);
  return oddLedger([
    oddWebhook("O0", "payment_started", 240),
    failing,
    deliveryUnanswered({
      unanswered: {
        id: failing.eventId,
        noticedAt: minutesAgo(119),
        answer: "late",
      },
      salt: new Uint8Array(16),
    }),
  ]);
}

Deno.test("deliveryPage() counts down in both readings and fills in the command when deliveries fail", async () => {
  const ledger = await failingLedger();
  await addRefusedRequests(ledger.driver, { wrong_secret: 7 }, ODD_NOW_MS);
  await using opened = testConsole(ledger, now);
  const text = await opened.read("/delivery");
  assert.match(text, /Webhooks come and are not answered in time/);
  assert.match(text, /at 2026-11-20 18:00:00 \(6 h 00 min left\)/);
  assert.match(text, /at 2026-11-21 01:05:00 \(13 h 05 min left\)/);
  assert.match(text, /rampkit recover --from 2026-11-20T10:00:00\.000Z/);
  assert.match(text, /wrong_secret 7 .* Compare the address/);
  await until(async () => {
    const page = await (await opened.ask("/")).text();
    return /class="part bad"><a[^>]*>\s*<span[^>]*>■<\/span> Webhooks/.test(
      page,
    );
  });
});
