// Which terms of a purchase count, and what the service leaves out of them.
import assert from "node:assert/strict";
import type { OrderExpectedBody, RecordedEvent } from "../events/event.ts";
import { foldOrder } from "../testing/fold_order.ts";
import { JoinedFacts } from "../orders/expectations.ts";
import { orderState } from "../states/order_state.ts";
import {
  chainLook,
  expectation,
  facts,
  ORDER,
  orderRead,
  requirement,
} from "../testing/given_facts.ts";

const TX = `0x${"71".repeat(32)}`;
const ADDRESS = `0x${"ab".repeat(20)}`;
const R1 = { reference: "r1" };

/** The state, whichever way the events come. */
function stateOf(...events: readonly RecordedEvent[]) {
  const folded = [events, events.toReversed()].map((all) => {
    const joined = new JoinedFacts();
    for (const fact of facts(...all)) joined.add(fact);
    return orderState(joined.join(foldOrder(ORDER, facts(...all))));
  });
  assert.deepEqual(folded[0], folded[1]);
  return folded[0] ?? assert.fail();
}

const decided = (...events: readonly RecordedEvent[]) => {
  const { release, releaseReason } = stateOf(...events);
  return `${release} ${releaseReason}`;
};

const asked = (
  minute: number,
  amount: number,
  body: Partial<OrderExpectedBody> = R1,
) =>
  expectation(minute, {
    ...{ currency: "USD", currency_amount: String(amount), ...body },
  });
const pending = orderRead(1, "pending", 1);
const success = (minute: number, order = {}) =>
  orderRead(minute, "success", minute, { tx_id: TX, ...order });

Deno.test("matchExpectations() counts the terms of a reference until success is first read", () => {
  const grown = [asked(0, 30), pending, asked(7, 900)];
  const late = stateOf(...grown, success(9));
  assert.equal(
    `${late.release} ${late.releaseReason}`,
    "wait not_as_requested",
  );
  assert.equal(late.expectedChanged, true);
  assert.equal(late.expected?.currencyAmount, "900");
  const restored = [...grown, asked(8, 30), success(9)];
  assert.equal(decided(...restored), "yes session_matched");
});

Deno.test("matchExpectations() does not count what is asked for after success was read, whatever the status did since", () => {
  const paid = [asked(0, 30), pending, success(9), asked(10, 900)];
  assert.equal(decided(...paid), "yes session_matched");
  const again = [orderRead(11, "pending", 11), asked(12, 900), success(13)];
  assert.equal(stateOf(...paid, ...again).facts.match, "matched");
  const grown = [asked(0, 30), pending, asked(7, 900), success(9)];
  assert.equal(decided(...grown, success(6)), "yes session_matched");
});

Deno.test("matchExpectations() counts the latest terms of a click id where there is no reference", () => {
  assert.equal(
    decided(asked(0, 30, {}), pending, asked(7, 900, {}), success(9)),
    "wait not_as_requested",
  );
});

Deno.test("matchExpectations() cannot tell which of two references was paid where each states another amount", () => {
  const asset = { commodity: "ETH", commodity_amount: "0.012300000000000001" };
  assert.equal(
    decided(
      asked(0, 30),
      expectation(0, { ...asset, reference: "r2" }),
      success(9, { currency_amount: undefined }),
    ),
    "wait several_match",
  );
});

Deno.test("matchExpectations() lets what the service leaves out agree with nothing", () => {
  const wallet = { ...R1, wallet_address: ADDRESS };
  const missed = (order: Readonly<Record<string, unknown>>, body = {}) => {
    const { release, releaseReason, uncompared, attention } = stateOf(
      asked(0, 30, { ...wallet, ...body }),
      success(9, { address: ADDRESS, ...order }),
    );
    const fields = uncompared.map(({ field }) => field).join();
    return [release, releaseReason, fields, attention.join()].join(" ");
  };
  const left = "not_comparable";
  assert.equal(missed({}), "yes session_matched  ");
  assert.equal(
    missed({ currency: undefined }),
    `unchecked incomplete currency,currencyAmount ${left}`,
  );
  assert.equal(
    missed({ address: null }),
    `unchecked incomplete address ${left}`,
  );
  const asset = { commodity: "ETH", network: "ethereum" };
  assert.equal(
    missed({ crypto: "eth" }, asset),
    `unchecked incomplete network ${left}`,
  );
  assert.equal(
    missed({ address: `0x${"ac".repeat(20)}` }),
    "wait not_as_requested  not_as_requested",
  );
  const usdc = { commodity: "USDC", network: "base", user_id: "01HZUSER" };
  const bare = { crypto: null, address: null, user_id: null, currency: null };
  assert.equal(
    missed(bare, usdc),
    "unchecked incomplete currency,currencyAmount,commodity,network,address " +
      left,
  );
});

Deno.test("a required witness holds a success of which nothing was recorded", () => {
  const waiting = [requirement(-1, "all"), success(9)];
  const state = stateOf(...waiting);
  assert.equal(`${state.release} ${state.releaseReason}`, "wait witness_open");
  assert.deepEqual(state.attention, ["not_comparable"]);
  const look = chainLook(10, {
    tx_id: TX,
    address: ADDRESS,
    ...{ asset: "ETH", type: "simple" },
  });
  assert.equal(decided(...waiting, look), "unchecked nothing_recorded");
});
