import assert from "node:assert/strict";
import {
  ATTENTION_KINDS,
  type OutcomeCode,
} from "../../ledger/for_resources.ts";
import { type AttentionKind, openLedger } from "../../ledger/mod.ts";
import { testApi } from "../../server/api/testing/test_api.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";
import { testConsole } from "../kit/console.ts";
import { minutesAgo, oddReading } from "../kit/odd_ledger.ts";
import { orderOfRow, outcomeEvents } from "../kit/outcome_orders.ts";

/** A reversed order of which the service still names the transaction. */
const REVERSED_AND_SENT = "01KREVERSED_AND_SENT";

/** Orders that a person has dealt with, and what is left of them. */
const BY_HAND = {
  nothing_recorded: "delivered",
  not_as_requested: "refunded",
  paid_twice: "refunded",
  cancelled_after_payment: "refunded",
  reversed: "refunded",
  sent_without_success: "refunded",
} as const satisfies Partial<Record<OutcomeCode, "delivered" | "refunded">>;

/** What waits for each reason, apart from what time alone makes wait. */
const WAITING: Readonly<Partial<Record<AttentionKind, readonly string[]>>> = {
  reversed_after_success: [
    orderOfRow("reversed"),
    orderOfRow("success_withdrawn"),
    REVERSED_AND_SENT,
  ],
  sent_without_success: [orderOfRow("sent_without_success"), REVERSED_AND_SENT],
  no_longer_shown: [orderOfRow("no_longer_shown")],
  forged_or_unknown: [orderOfRow("unknown_to_service")],
  paid_twice: [],
  not_as_requested: [],
  not_comparable: [orderOfRow("incomplete")],
  cancelled_after_payment: [orderOfRow("end_changed")],
  several_match: [orderOfRow("several_match")],
};

Deno.test("ledger, command line, API and console list the same orders for each reason, without those that a person has settled", async () => {
  await using file = await temporaryLedger();
  const env = {
    RAMPKIT_DATABASE_URL: file.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
  };
  await using ledger = await openLedger({
    url: file.url,
    environment: "sandbox",
    worker: false,
  });
  await ledger.append([
    ...outcomeEvents(),
    oddReading(REVERSED_AND_SENT, "success", 300),
    oddReading(REVERSED_AND_SENT, "failed", 240, {
      tx_id: `0x${"1".repeat(64)}`,
      changed_at: minutesAgo(241),
      created_at: minutesAgo(360),
    }),
  ]);
  await ledger.project();
  for (const [code, outcome] of Object.entries(BY_HAND)) {
    await ledger.release(orderOfRow(code as OutcomeCode), {
      outcome,
      ...{ by: "Ada", why: "at the counter" },
      ...(outcome === "delivered"
        ? { for: "basket-5", newReference: true }
        : {}),
    });
  }
  await ledger.project();
  await using api = await testApi({ ledger, now: Date.now });
  const pages = testConsole(ledger, Date.now);
  const idsOf = (items: readonly { readonly order: { orderId: string } }[]) =>
    items.map(({ order }) => order.orderId);
  for (const kind of ATTENTION_KINDS) {
    const listed = idsOf(await Array.fromAsync(ledger.attention(kind)));
    const wanted = WAITING[kind];
    if (wanted !== undefined) {
      assert.deepEqual(listed.toSorted(), wanted.toSorted(), kind);
    }
    const answer = await api.get(`/v1/attention?kind=${kind}&limit=1000`);
    assert.deepEqual(idsOf((await answer.json()).items), listed, kind);
    const orders = await api.get(`/v1/orders?attention=${kind}&limit=1000`);
    const found = (await orders.json()).items.map((
      { orderId }: { orderId: string },
    ) => orderId);
    assert.deepEqual(found.toSorted(), listed.toSorted(), kind);
    const page = await pages.read(`/attention?kind=${kind}`);
    for (const id of listed) assert.ok(page.includes(id), `${kind} ${id}`);
    const settled = Object.keys(BY_HAND).map((code) =>
      orderOfRow(code as OutcomeCode)
    ).filter((id) => !listed.includes(id));
    for (const id of settled) {
      assert.ok(!page.includes(`${id} `), `${kind} ${id}`);
    }
  }
  for (const kind of ["sent_without_success", "paid_twice"] as const) {
    const ran = await cli(["attention", kind, "--json"], env);
    const lines = ran.out.split("\n").filter(Boolean);
    assert.deepEqual(
      idsOf(lines.map((line) => JSON.parse(line))).toSorted(),
      WAITING[kind]?.toSorted(),
      ran.err,
    );
  }
});

Deno.test("rampkit note takes notes and rampkit release records what was done, and attention, find and show go by it", async () => {
  await using live = await temporaryLedger();
  const env = { RAMPKIT_DATABASE_URL: live.url };
  {
    await using ledger = await openLedger({
      url: live.url,
      environment: "sandbox",
      worker: false,
    });
    await ledger.append([
      oddReading("01KLATE", "failed", 300, { fail_reason: "4016" }),
    ]);
    await ledger.project();
  }
  const id = "01KLATE";
  const note = ["note", "order", id];
  assert.match((await cli(note, env)).out, /^Nothing is noted/);
  const asked = await cli([
    ...[...note, "--acknowledge", "--by", "Ada"],
    ...["--text", "asked the service", "--json"],
  ], env);
  const { action, reasons } = JSON.parse(asked.out);
  assert.deepEqual([action, reasons], ["acknowledge", ["refund_due"]]);
  const told = await cli([
    ...[...note, "--by", "Bob", "--text", "told the customer"],
  ], env);
  assert.match(told.out, /order 01KLATE: Bob noted: told the customer/);
  const shown = await cli(note, env);
  assert.match(
    shown.out,
    /Ada acknowledged it: asked the service\n.*Bob noted/,
  );
  const waiting = await cli(["attention", "--json"], env);
  assert.equal(JSON.parse(waiting.out).order.orderId, id, "it still waits");
  const found = await cli(["find", id], env);
  assert.match(found.out, /01KLATE/);
  assert.match(
    found.out,
    /By hand, and what your shop was told:\n.*show 01KLATE/,
  );
  const done = await cli([
    ...["release", id, "--refunded", "--by", "Bob", "--why", "RF-1"],
  ], env);
  assert.equal(done.code, 0, done.err);
  assert.match(
    (await cli(["orders", "explain", id], env)).out,
    /Bob recorded that it was refunded: RF-1/,
  );
  assert.equal((await cli(["attention", "--json"], env)).out, "");
  for (
    const [args, code] of [
      [[...note, "--text", "x", "--acknowledge", "--reopen", "--by", "A"], 2],
      [[...note, "--text", "x"], 2],
      [[...note, "--by", "Ada"], 2],
      [["note", "month", id, "--text", "x", "--by", "Ada"], 2],
      [["note", "order", "NONE", "--text", "x", "--by", "Ada"], 1],
      [["note", "user", "NONE", "--text", "x", "--by", "Ada"], 1],
      [["note", "delivery", "NONE"], 1],
    ] as const
  ) {
    const refused = await cli(args, env);
    assert.equal(refused.code, code, `${args.join(" ")}: ${refused.err}`);
  }
});

Deno.test("attention's table and the order's page say how much was paid of what was asked for", async () => {
  await using file = await temporaryLedger();
  await using ledger = await openLedger({
    url: file.url,
    environment: "sandbox",
    worker: false,
  });
  await ledger.append(outcomeEvents());
  await ledger.project();
  const id = orderOfRow("not_as_requested");
  const env = {
    RAMPKIT_DATABASE_URL: file.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
  };
  const { out } = await cli(["attention"], env);
  assert.match(out, new RegExp(`${id}.* 100\\.50 of 900\\.00 USD `));
  const text = await testConsole(ledger, Date.now).read(`/orders/${id}`);
  assert.match(
    text,
    /Waits for a person Success, and not what was asked for: paid 100\.50 of 900\.00 USD\./,
  );
});

Deno.test("each of two orders of one purchase is shown with the other one by command, API and page", async () => {
  await using file = await temporaryLedger();
  const env = {
    RAMPKIT_DATABASE_URL: file.url,
    RAMPKIT_ENVIRONMENT: "sandbox",
  };
  await using ledger = await openLedger({
    url: file.url,
    environment: "sandbox",
    worker: false,
  });
  await ledger.append(outcomeEvents());
  await ledger.project();
  const second = orderOfRow("paid_twice");
  const first = `${second}_FIRST`;
  await using api = await testApi({ ledger, now: Date.now });
  const pages = testConsole(ledger, Date.now);
  for (const [id, other] of [[first, second], [second, first]] as const) {
    const shown = await cli(["orders", "show", id], env);
    assert.match(shown.out, new RegExp(`Paid twice +yes, by ${other}\\n`));
    const { paidTwice } = await (await api.get(`/v1/orders/${id}`)).json();
    assert.deepEqual(paidTwice, { answer: "yes", orders: [other] });
    assert.match(
      await pages.read(`/orders/${id}`),
      new RegExp(`Paid twice\\? Yes : the same purchase was paid by ${other}`),
    );
  }
  const alone = orderOfRow("created");
  assert.doesNotMatch(
    (await cli(["orders", "show", alone], env)).out,
    /Paid twice/,
  );
});
