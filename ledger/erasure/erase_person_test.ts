import assert from "node:assert/strict";
import fc from "fast-check";
import type { OrderView } from "../reads/orders.ts";
import type { Ledger } from "../ledger.ts";
import { assertFollows } from "../testing/empty_ledger.ts";
import { worlds } from "../testing/projection_test_kit.ts";
import { emptyLedger } from "../testing/empty_ledger.ts";
import { tries } from "../../tests/kit/thorough.ts";

/** What must be the same of an order after the erasure of its person. */
function kept(order: OrderView) {
  const { cryptoType, activity, fees, claimed, confirmed, ...state } = order;
  return {
    orderId: state.orderId,
    status: state.status,
    trust: state.trust,
    reason: state.reason,
    release: state.release,
    booked: state.booked,
    match: state.facts.match,
    createdAt: state.createdAt,
    changedAt: state.changedAt,
    currency: state.currency,
    currencyAmount: state.currencyAmount,
    commodity: state.commodity,
    network: state.network,
    cryptoAmount: state.cryptoAmount,
    cryptoType,
    fees,
    history: state.history,
    activity,
    claimed: claimed && [claimed.status, claimed.currencyAmount],
    confirmed: confirmed && [confirmed.status, confirmed.currencyAmount],
    transferSeen: state.transferSeen,
  };
}

async function statesOf(ledger: Ledger) {
  const orders = await Array.fromAsync(ledger.orders.list({}));
  const users = await Array.fromAsync(ledger.users.list({}));
  return { orders, users };
}

Deno.test("erasePerson() keeps status, times, amounts and history of every order, and states still follow from events", async () => {
  await fc.assert(
    fc.asyncProperty(worlds(30), async (events) => {
      await using ledger = await emptyLedger();
      await ledger.append(events);
      await ledger.project();
      const before = await statesOf(ledger);
      const { orders, pseudonym } = await ledger.erasures.erase("U1", {
        force: true,
      });
      const now = async () => {
        const after = await statesOf(ledger);
        assert.deepEqual(after.orders.map(kept), before.orders.map(kept));
        assert.ok(after.users.every(({ userId }) => userId !== "U1"));
        for (const { orderId } of orders) {
          const order = await ledger.orders.get(orderId);
          assert.ok([pseudonym, null].includes(order?.userId ?? null));
        }
        await assertFollows(ledger);
        const verified = await ledger.verify();
        assert.equal(verified.ok, true, verified.reason?.code ?? "");
      };
      await now();
      // What was kept is folded, and changes nothing.
      await ledger.project();
      await now();
      assert.equal((await ledger.refold()).changed, 0);
      await now();
    }),
    { numRuns: tries(60) },
  );
});
