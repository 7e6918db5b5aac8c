// What the service may state of a transaction, an address and a time.
import assert from "node:assert/strict";
import type { RecordedEvent } from "../events/event.ts";
import { foldOrder } from "../testing/fold_order.ts";
import { orderState } from "../states/order_state.ts";
import {
  chainLook,
  expectation,
  facts,
  ORDER,
  orderRead,
  requirement,
  serviceTime,
} from "../testing/given_facts.ts";
import { JoinedFacts } from "../orders/expectations.ts";

const TX = `0x${"71".repeat(32)}`;
const EVM = `0x${"aB".repeat(20)}`;
const HASH = "83dfd552e63729b472fcbcc8c45ebcc6691702558b68ec7527e1ba403a0f31a8";

function stateOf(...events: readonly RecordedEvent[]) {
  const joined = new JoinedFacts();
  const all = facts(...events);
  for (const fact of all) joined.add(fact);
  return orderState(joined.join(foldOrder(ORDER, all)));
}

const asked = expectation(-1, { currency: "USD", currency_amount: "30" });

Deno.test("orderState() releases no success whose transaction is not in the form of its network", () => {
  const stated: readonly [value: unknown, tx: string][] = [
    ["  ", "empty"],
    ["\u200b", "empty"],
    ["0x", "empty"],
    ["null", "empty"],
    ["-", "empty"],
    ["pending", "empty"],
    ["\0", "empty"],
    [0, "empty"],
    [false, "empty"],
    [[], "empty"],
    ["processing", "unreadable"],
    [TX.slice(0, -1), "unreadable"],
  ];
  for (const [tx_id, tx] of stated) {
    const state = stateOf(asked, orderRead(9, "success", 5, { tx_id }));
    assert.equal(
      `${state.facts.tx} ${state.release} ${state.releaseReason}`,
      `${tx} wait no_transaction`,
      JSON.stringify(tx_id),
    );
    assert.equal(
      state.anomalies.some(({ kind }) => kind === "transaction_unreadable"),
      tx === "unreadable",
    );
  }
  const good = stateOf(asked, orderRead(9, "success", 5, { tx_id: TX }));
  assert.equal(good.release, "yes");
});

Deno.test("orderState() counts a look at the chain only for exactly the reading that it was made for", () => {
  const read = { tx_id: TX, address: EVM };
  const look = chainLook(8, {
    ...{ network: "ethereum", asset: "ETH", type: "simple" },
    ...{ tx_id: TX.toUpperCase().replace("X", "x"), address: EVM },
  });
  const released = (order: Readonly<Record<string, unknown>>, seen = look) => {
    const later = orderRead(9, "success", 7, { ...read, ...order });
    const first = orderRead(6, "success", 5, read);
    const state = stateOf(asked, requirement(-1, "all"), first, seen, later);
    return `${state.facts.chain} ${state.release}`;
  };
  assert.equal(released({}), "agrees yes");
  assert.equal(released({ address: EVM.toLowerCase() }), "agrees yes");
  for (
    const other of [
      { crypto: "usdc.simple.ethereum" },
      { crypto: "eth.simple.base" },
      { crypto: "eth.sc.ethereum" },
      { tx_id: `0x${"72".repeat(32)}` },
      { address: `0x${"ac".repeat(20)}` },
      { crypto_amount: 0.0124 },
      { sc_input_data: "0xabcd" },
    ]
  ) assert.equal(released(other), "none wait", JSON.stringify(other));
  const unsupported = chainLook(8, {
    ...{ network: "ethereum", asset: "ETH", type: "simple" },
    ...{ tx_id: TX, address: EVM, verdict: "unsupported", final: false },
  });
  const events = [
    ...[asked, requirement(-1, "supported")],
    ...[orderRead(6, "success", 5, read), unsupported],
  ];
  assert.equal(stateOf(...events).release, "yes");
  const moved = { ...read, crypto: "usdc.simple.ethereum" };
  assert.equal(
    stateOf(...events, orderRead(9, "success", 7, moved)).release,
    "wait",
  );
});

Deno.test("orderState() takes every spelling of an address for the same", () => {
  const compared = (crypto: string, wallet: string, address: string) =>
    stateOf(
      expectation(-1, {
        ...{ currency: "USD", currency_amount: "30", wallet_address: wallet },
      }),
      orderRead(9, "success", 5, {
        ...{ crypto, address, tx_id: HASH, crypto_amount: 1 },
      }),
    ).release;
  const ton = [
    `0:${HASH}`,
    "EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N",
    "UQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqEBI",
  ];
  for (const one of ton) {
    for (const other of ton) {
      assert.equal(compared("ton.simple.ton", one, other), "yes", one);
    }
  }
  const bech32 = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
  const bitcoin = "btc.simple.bitcoin";
  assert.equal(compared(bitcoin, bech32.toUpperCase(), bech32), "yes");
  const base58 = "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2";
  assert.equal(compared(bitcoin, base58.toLowerCase(), base58), "wait");
});

Deno.test("orderState() takes a time of change before the creation for none", () => {
  const zero = { changed_at: "0001-01-01 00:00:00" };
  const end = stateOf(
    orderRead(6, "success", 5, zero),
    orderRead(9, "failed", 8, zero),
  );
  assert.equal(`${end.status} ${end.release}`, "failed no");
  assert(end.anomalies.some(({ kind }) => kind === "time_before_creation"));
  for (const changed_at of [zero.changed_at, null]) {
    const { status } = stateOf(
      orderRead(6, "progress", 5),
      orderRead(9, "success", 8, { changed_at }),
    );
    assert.equal(status, "success");
  }
});

Deno.test("orderState() takes zero times for none, whatever the service states of the creation", () => {
  for (const zero of ["0001-01-01 00:00:00", "1970-01-01 00:00:00"]) {
    for (const created_at of [zero, null, "2099-01-01 00:00:00"]) {
      const times = { created_at, changed_at: zero };
      const end = stateOf(
        orderRead(6, "success", 5, times),
        orderRead(9, "failed", 8, times),
      );
      assert.equal(`${end.status} ${end.release}`, "failed no");
    }
    const { createdAt } = stateOf(
      orderRead(6, "success", 5, { created_at: zero }),
    );
    assert.equal(createdAt, null);
  }
});

Deno.test("orderState() tells of a time of change to come as that, whenever it was created", () => {
  const { anomalies } = stateOf(orderRead(9, "created", 8, {
    // The service's clock is a minute ahead of ours.
    created_at: serviceTime(10),
    changed_at: "9999-12-31 23:59:59",
  }));
  assert.deepEqual(
    anomalies.map(({ kind }) => kind),
    ["time_in_future"],
  );
});
