import assert from "node:assert/strict";
import { parseWebhook } from "../core/webhook_event/parse_webhook.ts";
import {
  ORDER_EVENT_TYPES,
  REJECT_TYPES,
  USER_EVENT_TYPES,
} from "../core/webhook_event/webhook_event.ts";
import { createSandbox, USER_STEPS, virtualClock } from "./mod.ts";

// deno-lint-ignore no-explicit-any -- the bodies are what is looked at
type Body = any;

/** A sandbox on a clock that stands, and the bodies of its webhooks. */
function scene() {
  const clock = virtualClock(Date.UTC(2026, 0, 1));
  const sandbox = createSandbox({
    clock,
    webhookUrl: "http://partner/hook",
    fetch: () => Promise.resolve(new Response(null, { status: 204 })),
  });
  const bodies = (): Body[] =>
    sandbox.deliveries().map(({ body }) => JSON.parse(body));
  return { clock, sandbox, bodies };
}

const STATES = ["initiated", "progress", "retry", "success", "failed"];

/** Throws unless a body is as the documentation has its type. */
function checkBody(body: Body): void {
  const event = parseWebhook(JSON.stringify(body));
  assert.notEqual(event.type, "unrecognised", JSON.stringify(body));
  if (body.user) {
    const { fkyc, lkyc } = body.user.verification_status;
    assert.ok(STATES.includes(fkyc.state), JSON.stringify(body));
    assert.ok(STATES.includes(lkyc.state), JSON.stringify(body));
    if (body.type === "verify_retry") assert.equal(fkyc.state, "retry");
    if (body.type === "verify_failed") assert.equal(lkyc.state, "failed");
    if (body.type === "verify_success") {
      assert.ok([fkyc.state, lkyc.state].includes("success"));
    }
  }
  const isFailure = body.type === "verify_failed";
  assert.equal("reject_type" in body, isFailure);
  if (isFailure) assert.ok(body.reject_type in REJECT_TYPES, body.reject_type);
  if (body.type === "otp_status") {
    assert.ok(!("user" in body) && !("hpp_session_id" in body));
    assert.ok(["requested", "success", "failed"].includes(body.status));
    assert.equal("status_detail" in body, body.status === "failed");
  }
  if (!body.order || body.type === "test") return;
  for (const field of ["id", "base", "quote", "address", "external_order_id"]) {
    assert.ok(body.order[field], `${field} of ${JSON.stringify(body)}`);
  }
  assert.match(body.order.base_amount, /^\d+(\.\d+)?$/);
  assert.match(body.order.quote_amount, /^\d+(\.\d+)?$/);
  const { transaction_id } = body.order;
  if (["transfer_started", "order_complete"].includes(body.type)) {
    assert.ok(transaction_id, JSON.stringify(body));
  } else assert.equal(transaction_id, null, JSON.stringify(body));
  assert.equal("error_code" in body.order, body.type === "order_failed");
  if (body.type === "order_failed") assert.ok(body.order.error_code);
  const isContract = body.order.partner_data !== undefined;
  assert.equal("hpp_session_id" in body, !isContract);
  assert.ok(body.user, JSON.stringify(body));
}

const TYPES = [...ORDER_EVENT_TYPES, ...USER_EVENT_TYPES, "verify_failed"];

Deno.test("trigger() sends what is documented of an event about an order that has taken no step", () => {
  const { sandbox, bodies } = scene();
  for (const cryptoType of ["simple", "sc"] as const) {
    const { orderId } = sandbox.createOrder({ cryptoType });
    for (const type of ORDER_EVENT_TYPES) sandbox.trigger({ type, orderId });
  }
  assert.equal(bodies().length, 10);
  for (const body of bodies()) checkBody(body);
  for (const order of sandbox.orders()) {
    assert.deepEqual([order.status, order.txId], ["created", ""]);
  }
});

Deno.test("trigger() sends the same transaction again, and the order's own once it has one", () => {
  const { sandbox, bodies } = scene();
  const { orderId } = sandbox.createOrder();
  const claimed = () => {
    sandbox.trigger({ type: "order_complete", orderId });
    return bodies().at(-1).order.transaction_id;
  };
  assert.equal(claimed(), claimed());
  sandbox.advance(orderId, "pay");
  sandbox.advance(orderId, "complete");
  assert.equal(claimed(), sandbox.order(orderId)?.txId);
});

Deno.test("trigger() states of a user what its event says, and changes no user", () => {
  const { sandbox, bodies } = scene();
  const { userId } = sandbox.createUser();
  for (const type of [...USER_EVENT_TYPES, "verify_failed"]) {
    sandbox.trigger({ type, userId });
  }
  sandbox.trigger({ type: "otp_status", userId });
  assert.equal(bodies().length, 9);
  for (const body of bodies()) checkBody(body);
  assert.equal(sandbox.user(userId)?.lkyc, "not initiated");
});

Deno.test("trigger() invents a whole order and user where none is named, and another one each time", () => {
  const { sandbox, bodies } = scene();
  for (const type of [...TYPES, "otp_status", "order_complete"]) {
    sandbox.trigger({ type });
  }
  for (const body of bodies()) checkBody(body);
  const orders = bodies().filter(({ order }) => order);
  assert.equal(new Set(orders.map(({ order }) => order.id)).size, 6);
  assert.deepEqual([sandbox.orders(), sandbox.users()], [[], []]);
  // What is invented draws nothing away from what happens.
  const other = createSandbox({ clock: virtualClock(Date.UTC(2026, 0, 1)) });
  assert.deepEqual(sandbox.createOrder(), other.createOrder());
});

Deno.test("every step and every false webhook of the sandbox says what is documented", async () => {
  const { sandbox, clock, bodies } = scene();
  sandbox.setFaults({ forge: 1 });
  void sandbox.populate({ orders: 60, spanMs: 3_600_000 });
  await clock.advance(6 * 3_600_000);
  for (const step of USER_STEPS) {
    sandbox.advanceUser(sandbox.createUser().userId, step);
  }
  await sandbox.pressTest();
  for (const body of bodies()) checkBody(body);
  assert.equal(new Set(bodies().map(({ type }) => type)).size, 15);
  for (const type of ["payment_started", "order_complete", "order_failed"]) {
    const flavours = bodies().filter((body) => body.type === type)
      .map(({ order }) => "partner_data" in order);
    assert.equal(new Set(flavours).size, 2, type);
  }
  await sandbox.close();
});

Deno.test("a webhook states the order's own transaction, amounts with their cents, and the error that was given", () => {
  const { sandbox, bodies } = scene();
  const { orderId } = sandbox.createOrder({
    ...{ currencyAmount: "10", cryptoType: "sc" },
    sessionId: "3f0c8a4e-0000-4000-8000-000000000000",
  });
  const steps = ["pay", "transfer", "complete", "cancel"] as const;
  for (const step of steps) sandbox.advance(orderId, step);
  for (const body of bodies()) checkBody(body);
  const { txId } = sandbox.order(orderId) ?? {};
  assert.deepEqual(
    bodies().map(({ order }) => order.transaction_id),
    [null, txId, txId, null],
  );
  assert.equal(bodies()[0].order.quote_amount, "10.00");
  const failed = sandbox.createOrder().orderId;
  sandbox.advance(failed, "fail", { failReason: "4016", errorText: "Late" });
  assert.equal(bodies().at(-1).order.error_code, "Late");
  assert.equal(sandbox.order(failed)?.failReason, "4016");
});

Deno.test("cancelSpelling sets the type of a cancelled order", async () => {
  await using sandbox = createSandbox({ cancelSpelling: "order_canceled" });
  const { orderId } = sandbox.createOrder();
  sandbox.advance(orderId, "pay");
  sandbox.advance(orderId, "cancel");
  assert.equal(sandbox.deliveries().at(-1)?.type, "order_canceled");
});

Deno.test("users: limits follow the document verification once it has begun, else the light one", async () => {
  const { sandbox } = scene();
  const answer = async () => {
    const response = await sandbox.fetch(
      new Request("http://sandbox/api/external/users", {
        headers: { "x-api-key": sandbox.apiKey },
      }),
    );
    return (await response.json()).data[0].limits;
  };
  const { userId } = sandbox.createUser();
  const states = ["not initiated", ...STATES];
  for (const lkyc of states) {
    for (const fkyc of states) {
      sandbox.amendUser(userId, { lkyc, fkyc });
      const active = fkyc === "not initiated" ? lkyc : fkyc;
      const open = active === "success";
      const limits = await answer();
      for (const kind of ["crypto", "digital_goods"]) {
        assert.equal(
          limits[`${kind}_remaining`] !== "0.00",
          open,
          `${kind}: lkyc ${lkyc}, fkyc ${fkyc}`,
        );
      }
    }
  }
});
