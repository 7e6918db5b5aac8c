import assert from "node:assert/strict";
import type { Sandbox, SandboxOptions } from "../../../sandbox/mod.ts";
import type { Ledger } from "../../../ledger/mod.ts";
import {
  ledgerFor,
  moving,
  pollOnce,
  type Service,
  service,
} from "../../testing/polling_test_kit.ts";
import { judge } from "../conform.ts";
import { sampleLedger } from "../observing/ledger_sample.ts";
import type { Reader } from "../observing/reader.ts";
import { LEDGER_ROWS } from "./webhooks.ts";

const CLICK = "click-of-basket-7";
const SESSION = "0d9c6b0e-0000-4000-8000-000000000007";

interface World {
  readonly box: Service;
  readonly sandbox: Sandbox;
  readonly ledger: Ledger;
}

/** Names of the rows that differ, and of those that could not be seen. */
async function seen(
  { order = {}, options = {}, then = () => Promise.resolve() }: {
    readonly order?: Parameters<Sandbox["createOrder"]>[0];
    readonly options?: SandboxOptions;
    readonly then?: (world: World, orderId: string) => Promise<void>;
  } = {},
) {
  let minted = 0;
  const pending: Promise<void>[] = [];
  await using box = service({
    ...options,
    webhookUrl: "http://partner/webhooks/secret",
    fetch: (_, init) => {
      minted += 1;
      pending.push(ledger.appendDelivery({
        id: `01KB${String(minted).padStart(22, "0")}`,
        receivedAt: new Date(box.clock.now()).toISOString(),
        body: new TextEncoder().encode(String(init?.body)),
      }));
      return Promise.resolve(new Response(null, { status: 204 }));
    },
  });
  const { sandbox, clock } = box;
  await using ledger = await ledgerFor(box);
  await ledger.recordSession({
    session_id: SESSION,
    flow_type: "simple",
    currency: "USD",
    currency_amount: "25.50",
    click_id: CLICK,
  });
  const { orderId } = sandbox.createOrder({
    clickId: CLICK,
    sessionId: SESSION,
    currencyAmount: "25.5",
    cryptoType: "simple",
    ...order,
  });
  const cancelled = sandbox.createOrder({ cryptoType: "simple" }).orderId;
  for (const step of ["pay", "authorise", "transfer", "complete"] as const) {
    sandbox.advance(orderId, step);
    if (step !== "transfer" && step !== "complete") {
      sandbox.advance(cancelled, step);
    }
  }
  sandbox.advance(cancelled, "cancel");
  await moving(sandbox.idle(), clock);
  await pollOnce(box, ledger);
  await then({ box, sandbox, ledger }, orderId);
  await Promise.all(pending);
  await ledger.project();
  const sample = await sampleLedger(ledger);
  const observations = Object.fromEntries(
    await Promise.all(
      Object.entries(LEDGER_ROWS).map(async ([name, row]) =>
        [name, await row.look({ ledger: sample } as Reader)] as const
      ),
    ),
  );
  const judgements = judge(observations).filter(({ name }) =>
    name in LEDGER_ROWS
  );
  const named = (verdict: string) =>
    judgements.filter((one) => one.verdict === verdict).map(({ name }) => name);
  return { differs: named("differs"), agrees: named("agrees") };
}

Deno.test("sampleLedger() shows webhooks and readings that agree in every row", async () => {
  const { differs, agrees } = await seen();
  assert.deepEqual(differs, []);
  assert.deepEqual(agrees, Object.keys(LEDGER_ROWS));
});

Deno.test("sampleLedger() finds an amount that was rounded on its way", async () => {
  const { differs } = await seen({ order: { currencyAmount: "26" } });
  assert.deepEqual(differs, ["amounts_as_asked"]);
});

Deno.test("sampleLedger() finds a click id that came back otherwise", async () => {
  const { differs } = await seen({ order: { clickId: CLICK.toUpperCase() } });
  assert.deepEqual(differs, ["click_id_as_sent"]);
});

Deno.test("sampleLedger() finds claims that the API did not show in ten minutes", async () => {
  const { differs } = await seen({
    then: async ({ box, sandbox, ledger }) => {
      const orders = Array.from(
        { length: 9 },
        () => sandbox.createOrder({ cryptoType: "simple" }),
      );
      await pollOnce(box, ledger);
      for (const { orderId } of orders) {
        sandbox.trigger({ type: "order_complete", orderId });
      }
      await moving(sandbox.idle(), box.clock);
      for (let round = 0; round < 4; round++) {
        await ledger.project();
        await pollOnce(box, ledger);
        await box.clock.advance(6 * 60_000);
      }
    },
  });
  assert.deepEqual(differs, ["claims_shown_in_ten_minutes"]);
});

Deno.test("sampleLedger() finds a final status that the service took back", async () => {
  const { differs } = await seen({
    then: async ({ box, sandbox, ledger }, orderId) => {
      sandbox.amendOrder(orderId, { status: "failed", txId: "" });
      await box.clock.advance(11 * 60_000);
      await pollOnce(box, ledger);
    },
  });
  assert.deepEqual(differs, ["final_status_stands"]);
});

Deno.test("sampleLedger() finds a transfer of an order that is still in progress", async () => {
  const { differs } = await seen({
    then: async ({ box, sandbox, ledger }) => {
      const { orderId } = sandbox.createOrder({ cryptoType: "simple" });
      sandbox.advance(orderId, "pay");
      sandbox.trigger({ type: "transfer_started", orderId });
      await moving(sandbox.idle(), box.clock);
      await pollOnce(box, ledger);
    },
  });
  assert.deepEqual(differs, ["transfer_started_is_pending"]);
});

Deno.test("sampleLedger() finds another spelling of order_cancelled", async () => {
  const { differs } = await seen({
    options: { cancelSpelling: "order_canceled" },
  });
  assert.deepEqual(differs, ["cancelled_spelling"]);
});

Deno.test("sampleLedger() finds an event with a session and partner_data", async () => {
  const { differs } = await seen({
    then: async ({ box, sandbox }, orderId) => {
      sandbox.trigger({
        type: "payment_started",
        orderId,
        fields: { order: { partner_data: { sc_address: "0x" } } },
      });
      await moving(sandbox.idle(), box.clock);
    },
  });
  assert.deepEqual(differs, ["event_flavour"]);
});
