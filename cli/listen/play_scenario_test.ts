import assert from "node:assert/strict";
import { parseWebhook } from "../../core/webhook_event/parse_webhook.ts";
import { createSandbox } from "../../sandbox/mod.ts";
import { until } from "../../tests/kit/until.ts";
import { CommandError } from "../../core/settings/errors.ts";
import {
  playScenario,
  SandboxControl,
  type Scenario,
  SCENARIOS,
} from "./play_scenario.ts";

const { signal } = new AbortController();

/** A sandbox, how to control it, and the bodies of its webhooks so far. */
function world() {
  const bodies: string[] = [];
  const sandbox = createSandbox({
    webhookUrl: "http://partner/webhooks/secret",
    fetch: async (input, init) => {
      bodies.push(await new Request(input, init).text());
      return new Response(null, { status: 204 });
    },
  });
  const control = new SandboxControl({
    url: "http://sandbox",
    signal,
    fetch: (input, init) => sandbox.fetch(new Request(input, init)),
  });
  const play = (name: string) =>
    playScenario(SCENARIOS[name] as Scenario, {
      control,
      order: { clickId: "basket-7", currencyAmount: "25.00" },
      pause: () => sandbox.idle(),
      rest: () => sandbox.idle(),
      newId: () => "01HXINVENTED",
      answered: () => Promise.resolve(204),
      onStep: () => {},
    });
  const types = () =>
    bodies.map((body) => {
      try {
        return parseWebhook(body).type;
      } catch {
        return "unreadable";
      }
    });
  return {
    sandbox,
    play,
    bodies,
    types,
    [Symbol.asyncDispose]: () => sandbox.close(),
  };
}

/** What each scenario leads to: the order's or user's status, the webhooks. */
const ENDS: Readonly<Record<string, readonly [string | null, string]>> = {
  success: ["success", "payment_started transfer_started order_complete"],
  failed: ["failed", "payment_started order_failed"],
  cancelled: ["cancelled", "payment_started order_cancelled"],
  refund: ["failed", "payment_started order_failed"],
  reversed: [
    "cancelled",
    "payment_started transfer_started order_complete order_cancelled",
  ],
  forged: ["progress", "payment_started order_complete"],
  invented: [null, "order_complete"],
  lost: ["success", "payment_started"],
  broken: ["success", "payment_started unreadable"],
  repeated: [
    "success",
    "payment_started transfer_started order_complete order_complete",
  ],
  late: [
    "success",
    "payment_started transfer_started order_complete payment_started",
  ],
  unknown: ["pending", "payment_started unrecognised"],
  verified: ["success", "registration verify_start verify_success"],
  rejected: ["failed", "registration verify_start verify_failed"],
  test: [null, "test"],
};

Deno.test("playScenario() plays every scenario to its end, with its webhooks", async () => {
  assert.deepEqual(Object.keys(ENDS), Object.keys(SCENARIOS));
  for (const [name, [status, types]] of Object.entries(ENDS)) {
    await using here = world();
    const { orderId, userId, steps } = await here.play(name);
    const order = here.sandbox.order(orderId ?? "");
    const user = here.sandbox.user(userId ?? "");
    assert.equal(order?.status ?? user?.lkyc ?? null, status, name);
    if (order !== null) {
      assert.deepEqual(
        [order.clickId, order.currencyAmount],
        ["basket-7", "25.00"],
      );
    }
    await until(() => here.types().length === types.split(" ").length, name);
    assert.equal(here.types().join(" "), types, name);
    assert.ok(steps.length > 0, name);
    assert.deepEqual(
      [here.sandbox.faults.drop, here.sandbox.faults.malformed],
      [0, 0],
      name,
    );
  }
});

Deno.test("playScenario() claims as the service would: each success names a transaction, session and user", async () => {
  for (const name of Object.keys(SCENARIOS)) {
    await using here = world();
    await here.play(name);
    for (const text of here.bodies) {
      if (!text.endsWith("}")) continue;
      const { type, order, user, hpp_session_id } = JSON.parse(text);
      if (type !== "order_complete") continue;
      assert.ok(order.transaction_id && user, `${name}: ${text}`);
      assert.ok(hpp_session_id || order.partner_data, `${name}: ${text}`);
    }
  }
});

Deno.test("playScenario() leaves the faults in force as they were", async () => {
  await using here = world();
  here.sandbox.setFaults({ drop: 0.25, delay: 0.5 });
  await here.play("lost");
  assert.deepEqual(
    [here.sandbox.faults.drop, here.sandbox.faults.delay],
    [0.25, 0.5],
  );
});

Deno.test("SandboxControl says what is wrong with what answers, or that nothing does", async () => {
  const asked = (fetch: typeof globalThis.fetch) =>
    new SandboxControl({ url: "http://127.0.0.1:8788", signal, fetch })
      .delivery();
  const cases: readonly [() => Promise<Response>, RegExp][] = [
    [
      () => Promise.reject(new TypeError("Connection refused")),
      /^Cannot reach a sandbox at http:\/\/127\.0\.0\.1:8788: Connection refused; start one with `rampkit listen`/,
    ],
    [
      () => Promise.resolve(new Response("<html>", { status: 200 })),
      /is not a sandbox: it answered 200 to GET \/control\/state/,
    ],
    [
      () => Promise.resolve(Response.json({ error: "No" }, { status: 400 })),
      /^The sandbox at http:\/\/127\.0\.0\.1:8788 refused: No$/,
    ],
  ];
  for (const [answer, message] of cases) {
    await assert.rejects(
      asked(answer),
      (error) => error instanceof CommandError && message.test(error.message),
    );
  }
});
