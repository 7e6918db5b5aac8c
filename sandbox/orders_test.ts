import assert from "node:assert/strict";
import fc from "fast-check";
import { nextSteps, takeStep } from "./orders_and_users.ts";
import { Factory } from "./factory.ts";
import { Random } from "./random.ts";
import type { OrderStep, SandboxOrder } from "./sandbox.ts";

const STEPS: OrderStep[] = [
  "pay",
  "authorise",
  "transfer",
  "complete",
  "fail",
  "cancel",
];

function newOrder(): SandboxOrder {
  const factory = new Factory(new Random(1), "sandbox");
  return factory.order({}, factory.user({}, 0), 0);
}

const facts = (atMs: number) => ({
  atMs,
  txId: "0xabc",
  failReason: "4004",
  errorText: "Declined",
});

Deno.test("nextSteps() lists exactly the steps that takeStep() takes", () => {
  const statuses = [
    "created",
    "progress",
    "pending",
    "success",
    "failed",
    "cancelled",
    "refund_review",
  ];
  for (const status of statuses) {
    for (const transferStarted of [false, true]) {
      const order = { ...newOrder(), status, transferStarted };
      for (const step of STEPS) {
        const allowed = nextSteps(order).includes(step);
        if (allowed) takeStep(order, step, facts(1));
        else {
          assert.throws(() => takeStep(order, step, facts(1)), RangeError);
        }
      }
    }
  }
});

Deno.test("takeStep() refuses an unknown step", () => {
  assert.throws(
    () => takeStep(newOrder(), "toString" as OrderStep, facts(1)),
    /"toString" is not a step/,
  );
});

Deno.test("takeStep() keeps an order consistent along any series of steps", () => {
  fc.assert(fc.property(
    fc.array(fc.tuple(fc.nat(5), fc.nat(5_000)), { maxLength: 12 }),
    (choices) => {
      let order = newOrder();
      let nowMs = 0;
      for (const [choice, laterMs] of choices) {
        const steps = nextSteps(order);
        const step = steps[choice % Math.max(1, steps.length)];
        if (!step) break;
        nowMs += laterMs;
        const before = order;
        order = takeStep(order, step, facts(nowMs)).order;
        assert.equal(order.changedAtMs, nowMs);
        assert.equal(order.history.at(-1)?.status, order.status);
        assert.deepEqual(
          order.history.slice(0, before.history.length),
          before.history,
        );
        if (order.status === "success") assert.equal(order.txId, "0xabc");
        assert.equal(order.failReason !== "", order.status === "failed");
      }
      assert.deepEqual(order.history[0], { status: "created", atMs: 0 });
    },
  ));
});

Deno.test("takeStep() sends the documented webhook of each step", () => {
  const sent: (string | null)[] = [];
  let order = newOrder();
  for (const step of STEPS.filter((one) => one !== "fail")) {
    const taken = takeStep(order, step, facts(1));
    order = taken.order;
    sent.push(taken.event);
  }
  assert.deepEqual(sent, [
    "payment_started",
    null,
    "transfer_started",
    "order_complete",
    "order_cancelled",
  ]);
  assert.equal(
    takeStep(newOrder(), "fail", facts(1)).event,
    "order_failed",
  );
});
