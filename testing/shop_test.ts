import assert from "node:assert/strict";
import { Webhook } from "standardwebhooks";
import type { TransitionHandler } from "../ledger/mod.ts";
import type { Handlers } from "../server/start/handlers.ts";
import { ChaosError } from "./chaos.ts";
import { signForwarded } from "./sign_forwarded.ts";
import { testShop } from "./shop.ts";

Deno.test("signForwarded() fills in what fits its type, and refuses what is none", () => {
  const secret = `whsec_${btoa("thirty-two-bytes-of-a-test-secret")}`;
  const read = (type: string) => {
    const { headers, body } = signForwarded({ type }, secret);
    return new Webhook(secret).verify(body, headers) as {
      readonly data: Record<string, unknown>;
    };
  };
  assert.partialDeepStrictEqual(read("order.release.yes").data, {
    ...{ key: "order:01ORDER:release.yes", machine: "release" },
    ...{ status: "success", release: "yes", entity: "order" },
  });
  assert.partialDeepStrictEqual(read("order.confirmed.failed").data, {
    ...{ key: "order:01ORDER:confirmed.failed", machine: "order" },
    release: null,
  });
  assert.partialDeepStrictEqual(read("user.fkyc.confirmed.retry").data, {
    ...{ key: "user:01USER:fkyc.confirmed.retry", machine: "fkyc" },
  });
  for (const type of ["order", "order.release", "order.confirmed", "a.b.yes"]) {
    assert.throws(() => signForwarded({ type }, secret), /not a type of/, type);
  }
});

Deno.test("testShop() plays what customers, the service and strangers do, and each reaches its handler", async () => {
  const told: string[] = [];
  const tell = (what: string): TransitionHandler => (_, { reference }) =>
    void told.push(`${what} ${reference}`);
  await using shop = await testShop({
    on: {
      "order.release.yes": tell("ship"),
      "order.release.no": tell("no"),
      "order.release.wait": tell("wait"),
    },
    sessions: { authorise: () => "ada", plan: () => ({ reference: "page" }) },
  });
  const sale = (reference: string) => shop.sell({ reference });
  const paid = await sale("paid");
  assert.match(paid.clickId, /^[0-9a-f-]{36}$/);
  await shop.pay(paid);
  await shop.pay(await sale("short"), { amount: "4.99" });
  const other = { asset: "POL", network: "amoy" };
  await shop.pay(await sale("other"), other);
  const { orderId } = await shop.fail(await sale("declined"));
  const late = await shop.refund(await sale("late"));
  const forged = await shop.forge(await sale("forged"));
  await shop.settle();
  assert.deepEqual(told.toSorted(), ["ship paid", "wait null", "wait null"]);
  const declined = await shop.orders.get(orderId);
  assert.deepEqual(
    [declined?.status, declined?.failReason],
    ["failed", "4001"],
  );
  assert.equal((await shop.orders.get(late.orderId))?.failReason, "4016");
  assert.equal((await shop.orders.get(forged.orderId))?.trust, "claimed");
  // Once the service has disagreed for ten minutes, a claim no longer counts.
  await shop.advance(11 * 60_000);
  await shop.settle();
  assert.equal((await shop.orders.get(forged.orderId))?.release, "wait");
  await shop.reverse(paid);
  await shop.settle();
  assert.ok(told.includes("no paid"), told.join());
  await assert.rejects(shop.reverse({ ...paid, clickId: "c" }), RangeError);
  assert.equal((await shop.find("paid")).found.length, 1);
  assert.ok((await shop.status()).ok);
  assert.deepEqual(
    new Set(shop.problems.map(({ code }) => code)),
    new Set(["order_waits"]),
  );
  const { clickId } = await shop.expect({
    reference: "direct",
    amount: 50,
    currency: "USD",
  });
  await shop.pay({ sessionId: "", clickId }, { amount: "50.00" });
  await shop.settle();
  assert.ok(told.includes("ship direct"), told.join());
});

/** A shop whose handlers note what they ship, and what chaos makes of it. */
async function chaos(
  make: (ship: (name: string | null) => void) => Handlers,
  seeds: number,
) {
  const shipped: string[] = [];
  const handlers = make((name) => void shipped.push(String(name)));
  await using shop = await testShop({ on: handlers });
  return await shop.chaos({ seeds, effects: () => shipped });
}

/** What chaos says of handlers that are wrong. */
async function caught(
  make: (ship: (name: string | null) => void) => Handlers,
): Promise<ChaosError> {
  try {
    await chaos(make, 100);
  } catch (error) {
    if (error instanceof ChaosError) return error;
    throw error;
  }
  assert.fail("Nothing broke");
}

Deno.test("TestShop.chaos() passes a handler that ships what is released, once", async () => {
  const report = await chaos((ship) => {
    const done = new Set<string | null>();
    return {
      "order.release.yes": (_, { reference, release }) => {
        if (release !== "yes" || done.has(reference)) return;
        done.add(reference);
        ship(reference);
      },
    };
  }, 12);
  assert.equal(report.seeds, 12);
  assert.ok(report.shipped > 6 && report.steps > 50, JSON.stringify(report));
});

Deno.test("TestShop.chaos() catches a handler that ships on a claim, with the shortest history", async () => {
  const error = await caught((ship) => {
    const done = new Set<string>();
    return {
      "order.claimed.success": (_, { state }) => {
        const clickId = state !== null && "clickId" in state
          ? String(state.clickId)
          : "";
        if (!done.has(clickId)) ship(clickId);
        done.add(clickId);
      },
    };
  });
  assert.equal(error.guarantee, "never_unpaid");
  assert.match(error.message, /^Broke never_unpaid at seed \d+: Basket \d/);
  assert.equal(error.history.length, 2, error.message);
  assert.match(error.history[1] ?? "", /^a stranger's webhook claims/);
});

Deno.test("TestShop.chaos() catches a handler that ignores release", async () => {
  const error = await caught((ship) => {
    const done = new Set<string>();
    return {
      "order.confirmed.success": ({ id }) => {
        if (!done.has(id)) ship(id);
        done.add(id);
      },
    };
  });
  assert.notEqual(error.guarantee, "paid_is_shipped");
  assert.ok(error.history.length <= 4, error.message);
});

Deno.test("TestShop.chaos() catches a handler that is not idempotent", async () => {
  const error = await caught((ship) => ({
    "order.release.yes": (_, { reference, release }) => {
      if (release === "yes") ship(reference);
    },
  }));
  assert.equal(error.guarantee, "shipped_once");
  assert.ok(
    error.history.some((line) => /crashes/.test(line)),
    error.message,
  );
});

Deno.test("TestShop.chaos() catches a handler that forgets what was paid", async () => {
  const error = await caught(() => ({ "order.release.yes": () => {} }));
  assert.equal(error.guarantee, "paid_is_shipped");
});
