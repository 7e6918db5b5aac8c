import assert from "node:assert/strict";
import fc from "fast-check";
import { verifyStates } from "../evidence/verify_states.ts";
import type { OrderView } from "../queries/orders.ts";
import { emptyLedger } from "../testing/empty_ledger.ts";
import { person } from "../testing/person_events.ts";
import { emptyStore, worlds } from "../testing/projection_test_kit.ts";
import { tries } from "../../tests/kit/thorough.ts";

function kept(
  { status, trust, release, booked, fees, history, ...order }: OrderView,
) {
  const { orderId, createdAt, changedAt, currency, currencyAmount } = order;
  const { commodity, cryptoAmount, activity } = order;
  return {
    ...{ orderId, status, trust, release, booked, fees, history },
    ...{ createdAt, changedAt, match: order.facts.match },
    ...{ currency, currencyAmount, commodity, cryptoAmount, activity },
  };
}

Deno.test("Erasures.prune() keeps what orders are, and states still follow from events", async () => {
  await fc.assert(
    fc.asyncProperty(worlds(30), async (events) => {
      await using ledger = await emptyLedger();
      await ledger.append(events);
      await ledger.project();
      const orders = async () =>
        (await Array.fromAsync(ledger.orders.list({}))).map(kept);
      const before = await orders();
      await ledger.erasures.prune("2026-11-20T08:45:00.000Z");
      assert.deepEqual(await orders(), before);
      await using scratch = {
        driver: await emptyStore(),
        [Symbol.asyncDispose]() {
          return this.driver.close();
        },
      };
      const { differences } = await verifyStates(ledger.driver, {
        scratch: scratch.driver,
        assets: "sandbox",
      });
      assert.deepEqual(differences, []);
      assert.equal((await ledger.refold()).changed, 0);
      const { ok, reason } = await ledger.verify();
      assert.equal(ok, true, reason?.code ?? "");
    }),
    { numRuns: tries(20) },
  );
});

Deno.test("Erasures.prune() takes bodies older than a time, leaves the latest reading of a user, and goes on where it was stopped", async () => {
  const people = Array.from({ length: 80 }, (_, n) => person(`P${n}`, 1));
  await using ledger = await emptyLedger();
  await ledger.append(people.flatMap(({ events }) => events));
  await ledger.project();
  const all = "2030-01-01T00:00:00.000Z";
  const old = await ledger.erasures.countOldBodies(all);
  assert.equal(old, 80 * 8);
  const stop = new AbortController();
  await assert.rejects(
    ledger.erasures.prune(all, {
      signal: stop.signal,
      onProgress: () => stop.abort(),
    }),
    { name: "AbortError" },
  );
  const done = await ledger.erasures.prune(all);
  assert.ok(done.pruned > 0 && done.pruned < old);
  assert.equal(done.left, 80, "the latest reading of each user");
  assert.equal((await ledger.erasures.prune(all)).pruned, 0);
  const order = await ledger.orders.get("O-P7-0");
  assert.deepEqual(
    [order?.status, order?.userId, order?.currencyAmount, order?.address],
    ["success", "user-P7-SECRET", "10.5", null],
  );
  assert.equal((await ledger.users.get("user-P7-SECRET"))?.country, "DE");
  // Who was pruned can be erased.
  await ledger.erasures.erase("user-P7-SECRET");
  const lines = await Array.fromAsync(ledger.export());
  assert.ok(lines.every((line) => !line.includes("-P7-SECRET")));
  assert.equal((await ledger.verify()).ok, true);
  assert.equal((await ledger.refold()).changed, 0);
});
