import assert from "node:assert/strict";
import { type Ledger, LedgerError, type Transition } from "../ledger/mod.ts";
import {
  emptyLedger,
  orderSnapshot,
  webhookEvent,
  witnessRequired,
} from "../ledger/testing/mod.ts";
import { readChains } from "./chains_file.ts";
import { createChainWitness } from "./chain_witness.ts";
import { lookAtOrder } from "./look_at_order.ts";
import { FAKE_GENESIS, FakeBitcoin } from "./testing/fake_bitcoin.ts";
import type { Look } from "./transfer.ts";
import { createWatcher, nextLookMs } from "./watcher.ts";

const BTC = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
const START = Date.UTC(2026, 10, 24, 12);
const MINUTE = 60_000;

/** A ledger, a chain, and a clock that both go by. */
class Desk implements AsyncDisposable {
  readonly bitcoin = new FakeBitcoin(START / 1000);
  readonly ledger: Ledger;
  nowMs = START;
  requests = 0;

  constructor(ledger: Ledger) {
    this.ledger = ledger;
  }

  static async open(): Promise<Desk> {
    return new Desk(
      await emptyLedger({
        environment: "production",
        goLive: "2020-01-01T00:00:00.000Z",
      }),
    );
  }

  readonly now = () => this.nowMs;

  readonly chains = readChains({
    bitcoin: {
      nodes: { own: "http://127.0.0.1:8332" },
      confirmations: 3,
      genesis: FAKE_GENESIS,
    },
    ethereum: { nodes: { silent: "http://127.0.0.1:8545" }, confirmations: 1 },
  });

  witness(send: typeof fetch = this.bitcoin.core()) {
    return createChainWitness({
      chains: this.chains,
      now: this.now,
      fetch: (url, init) => {
        this.requests++;
        return send(url, init);
      },
    });
  }

  watcher(send?: typeof fetch) {
    return createWatcher({
      ledger: this.ledger,
      witness: this.witness(send),
      chains: this.chains,
      now: this.now,
    });
  }

  /** The service shows an order as a success. */
  async succeed(
    id: string,
    txId: string,
    rest: Readonly<Record<string, unknown>> = {},
  ): Promise<void> {
    const time = new Date(this.nowMs).toISOString();
    await this.ledger.append([orderSnapshot({
      source: JSON.stringify({
        order_id: id,
        status: "success",
        user_id: "01JUSER",
        click_id: `click-${id}`,
        currency: "USD",
        currency_amount: "400",
        crypto: "btc.simple.bitcoin",
        crypto_amount: "0.0042",
        address: BTC,
        tx_id: txId,
        created_at: time.slice(0, 19).replace("T", " "),
        changed_at: time.slice(0, 19).replace("T", " "),
        ...rest,
      }),
      readAt: time,
      recordedAt: time,
      salt: new Uint8Array(16),
    })]);
    await this.ledger.project();
  }

  async witnessOf(id: string) {
    const order = await this.ledger.orders.get(id);
    return order?.witness ?? null;
  }

  async entered(): Promise<readonly string[]> {
    const all: readonly Transition[] = await this.ledger.transitions();
    return all.filter(({ machine }) => machine === "witness")
      .map(({ key }) => key);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.ledger.close();
  }
}

Deno.test("once() looks at a success until it is final, and then never", async () => {
  await using desk = await Desk.open();
  const { bitcoin } = desk;
  const txId = bitcoin.add({ address: BTC, sat: 420_000 });
  bitcoin.mine(1);
  await desk.succeed("01JORDER", txId);
  const watcher = desk.watcher();
  assert.equal((await watcher.once()).length, 1);
  const shallow = await desk.witnessOf("01JORDER");
  assert.deepEqual(
    [shallow?.verdict, shallow?.final, shallow?.blockHeight],
    ["delivered", false, 1],
  );
  assert.deepEqual(await desk.entered(), []);
  assert.equal((await watcher.once()).length, 0, "not due yet");
  desk.nowMs += 20 * MINUTE;
  bitcoin.tipTime = desk.nowMs / 1000;
  assert.equal((await watcher.once())[0]?.recorded, false, "nothing new");
  bitcoin.mine(2);
  desk.nowMs += 40 * MINUTE;
  bitcoin.tipTime = desk.nowMs / 1000;
  assert.equal((await watcher.once())[0]?.recorded, true);
  assert.equal((await desk.witnessOf("01JORDER"))?.final, true);
  assert.deepEqual(await desk.entered(), ["order:01JORDER:witness.delivered"]);
  const { requests } = desk;
  desk.nowMs += 24 * 60 * MINUTE;
  assert.deepEqual(await watcher.once(), []);
  assert.deepEqual(await desk.watcher().once(), [], "after a restart too");
  assert.equal(desk.requests, requests);
});

Deno.test("once() looks again after a reorganisation, and logs each verdict once", async () => {
  await using desk = await Desk.open();
  const { bitcoin } = desk;
  const txId = bitcoin.add({ address: BTC, sat: 420_000 });
  bitcoin.mine(1);
  await desk.succeed("01JORDER", txId);
  const watcher = desk.watcher();
  const step = async () => {
    desk.nowMs += 60 * MINUTE;
    bitcoin.tipTime = desk.nowMs / 1000;
    await watcher.once();
    return (await desk.witnessOf("01JORDER"))?.verdict;
  };
  assert.equal(await step(), "delivered");
  bitcoin.drop(1);
  bitcoin.mine(1);
  assert.equal(await step(), "reorged");
  assert.deepEqual(await desk.entered(), ["order:01JORDER:witness.reorged"]);
  bitcoin.mine(3);
  assert.equal(await step(), "reorged", "final now");
  assert.deepEqual(await desk.entered(), ["order:01JORDER:witness.reorged"]);
  assert.equal((await desk.witnessOf("01JORDER"))?.final, true);
});

Deno.test("once() tells what differs: the release waits, and a person is told", async () => {
  await using desk = await Desk.open();
  const { bitcoin, ledger } = desk;
  await ledger.expect({
    clickId: "click-01JORDER",
    reference: "basket-7",
    currency: "USD",
    currencyAmount: "400",
    askedAt: new Date(START - MINUTE).toISOString(),
  });
  const txId = bitcoin.add({
    address: "1BoatSLRHtKNngkdXEeobR76b53LETtpyT",
    sat: 420_000,
  });
  bitcoin.mine(3);
  await desk.succeed("01JORDER", txId);
  assert.equal((await ledger.orders.get("01JORDER"))?.release, "yes");
  await desk.watcher().once();
  const order = await ledger.orders.get("01JORDER");
  assert.deepEqual([order?.release, order?.releaseReason, order?.outcome], [
    "wait",
    "chain_differs",
    "chain_differs",
  ]);
  assert.deepEqual(order?.attention, ["chain_differs"]);
  const logged = (await ledger.transitions()).map(({ key }) => key);
  assert.deepEqual(logged.slice(1), [
    "order:01JORDER:release.yes",
    "order:01JORDER:witness.other_recipient_or_asset",
    "order:01JORDER:release.wait",
  ]);
  const explained = await ledger.explain("01JORDER");
  assert.equal(explained?.events.at(-1)?.content.code, "chain");
});

Deno.test("once() records that nobody can look at a pair, so that its release does not wait where the rule says so", async () => {
  for (const unsupported of ["yes", "wait"] as const) {
    await using desk = await Desk.open();
    const { ledger } = desk;
    const since = new Date(START - 10 * MINUTE).toISOString();
    await ledger.append([witnessRequired({
      required: { since, unsupported },
      recordedAt: since,
      salt: new Uint8Array(16),
    })]);
    await ledger.expect({
      clickId: "click-01JORDER",
      reference: "basket-7",
      currency: "USD",
      currencyAmount: "400",
      askedAt: new Date(START - MINUTE).toISOString(),
    });
    await desk.succeed("01JORDER", `0x${"5a".repeat(32)}`, {
      crypto: "eth.simple.base",
      address: `0x${"a1".repeat(20)}`,
    });
    const release = async () => (await ledger.orders.get("01JORDER"))?.release;
    assert.equal(await release(), "wait");
    await desk.watcher().once();
    assert.equal(await release(), unsupported);
    const witness = await desk.witnessOf("01JORDER");
    assert.deepEqual([witness?.verdict, witness?.reason, desk.requests], [
      "unsupported",
      "network_not_configured",
      0,
    ]);
    assert.deepEqual(await desk.watcher().once(), [], "and once is enough");
  }
});

Deno.test("lookAtOrder() decides nothing of a transaction that two orders share", async () => {
  await using desk = await Desk.open();
  const { bitcoin, ledger } = desk;
  const txId = bitcoin.add({ address: BTC, sat: 840_000 });
  bitcoin.mine(3);
  await desk.succeed("01JONE", txId);
  await desk.succeed("01JTWO", txId.toUpperCase());
  for (const id of ["01JONE", "01JTWO"]) {
    const { look } = await lookAtOrder(ledger, id, { witness: desk.witness() });
    assert.deepEqual([look?.verdict, look?.reason], [
      "undecided",
      "shared_transaction",
    ]);
  }
});

Deno.test("lookAtOrder() sees that two orders share a transaction, however many forged orders name it", async () => {
  await using desk = await Desk.open();
  const { bitcoin, ledger } = desk;
  const txId = bitcoin.add({ address: BTC, sat: 840_000 });
  bitcoin.mine(3);
  await desk.succeed("01JONE", txId);
  await ledger.append(
    Array.from({ length: 130 }, (_, at) => {
      const order = { id: `01JFORGED${at}`, transaction_id: txId };
      const body = JSON.stringify({ type: "order_complete", order });
      return webhookEvent({
        id: `W${at}`,
        receivedAt: new Date(START).toISOString(),
        body: new TextEncoder().encode(body),
      }, new Uint8Array(16));
    }),
  );
  await ledger.project();
  assert.equal((await ledger.find(txId)).more, true);
  const reasonOf = async (id: string) => {
    const { look } = await lookAtOrder(ledger, id, { witness: desk.witness() });
    return look?.reason;
  };
  assert.equal(await reasonOf("01JONE"), null, "forged orders are no others");
  await desk.succeed("01JTWO", txId.toUpperCase(), {
    address: BTC.toUpperCase(),
  });
  assert.equal(await reasonOf("01JONE"), "shared_transaction");
  assert.equal(await reasonOf("01JTWO"), "shared_transaction");
});

Deno.test("lookAtOrder() decides nothing of a call that two smart-contract orders name", async () => {
  await using desk = await Desk.open();
  const address = `0x${"a1".repeat(20)}`;
  const call = {
    crypto: "eth.sc.ethereum",
    address,
    sc_input_data: "0x12345678",
  };
  const txId = `0x${"5a".repeat(32)}`;
  await desk.succeed("01JONE", txId, call);
  await desk.succeed("01JTWO", txId.toUpperCase().replace("X", "x"), {
    ...call,
    address: address.toUpperCase().replace("X", "x"),
  });
  const results: Readonly<Record<string, unknown>> = {
    eth_chainId: "0x1",
    eth_getBlockByNumber: {
      ...{ hash: "0xb1", number: "0x7" },
      timestamp: `0x${(START / 1000).toString(16)}`,
    },
    eth_getTransactionReceipt: {
      ...{ blockHash: "0xb1", blockNumber: "0x7", status: "0x1", logs: [] },
    },
    eth_getTransactionByHash: { to: address, input: "0x12345678" },
  };
  const witness = desk.witness((_url, init) => {
    const { method } = JSON.parse(String(init?.body));
    return Promise.resolve(
      Response.json({ jsonrpc: "2.0", id: 1, result: results[method] }),
    );
  });
  for (const id of ["01JONE", "01JTWO"]) {
    const { look } = await lookAtOrder(desk.ledger, id, { witness });
    assert.deepEqual([look?.verdict, look?.reason, look?.final], [
      "undecided",
      "shared_transaction",
      false,
    ]);
  }
});

Deno.test("lookAtOrder() asks nobody about what is no transaction of its network", async () => {
  const none = ["  ", "\u200b\u200b", "0x", "null", "-", "pending", "\0"];
  await using desk = await Desk.open();
  for (const [at, txId] of [...none, "no-hash-of-bitcoin"].entries()) {
    const id = `01JORDER${at}`;
    await desk.succeed(id, txId);
    const { nothing } = await lookAtOrder(desk.ledger, id, {
      witness: desk.witness(),
    });
    assert.equal(nothing, "no_transaction", JSON.stringify(txId));
  }
  assert.deepEqual(await desk.watcher().once(), []);
  assert.equal(desk.requests, 0);
});

/** A desk with a whole order, and one before and one after at which a look fails. */
async function withFailing() {
  const desk = await Desk.open();
  const fails = ["01JBAD", "01JWORSE"];
  const txId = (at: number) => String(at).repeat(64);
  await desk.succeed("01JBAD", txId(1));
  await desk.succeed("01JBLANK", " \t ");
  await desk.succeed("01JGOOD", txId(2));
  await desk.succeed("01JWORSE", txId(3));
  const whole = desk.witness();
  const errors: unknown[] = [];
  const looked: string[] = [];
  const watcher = (onLook: () => void = () => {}) =>
    createWatcher({
      ...{ ledger: desk.ledger, chains: desk.chains, now: desk.now },
      witness: {
        look: (question) => {
          if (question.txId !== txId(2)) throw new Error("cannot be looked at");
          return whole.look(question);
        },
      },
      sleep: () => new Promise((resolve) => setTimeout(resolve, 1)),
      onError: (error) => errors.push(error),
      onLook: ({ orderId }) => {
        looked.push(orderId);
        onLook();
      },
    });
  return { desk, fails, errors, looked, watcher };
}

Deno.test("once() lets an order that fails hold no other up, also after a restart", async () => {
  const { desk, errors, looked, watcher } = await withFailing();
  await using _ = desk;
  const first = watcher();
  await first.once();
  assert.deepEqual(looked, ["01JGOOD"]);
  assert.equal(errors.length, 2);
  desk.nowMs += 20 * MINUTE;
  await first.once();
  assert.deepEqual(looked, ["01JGOOD", "01JGOOD"]);
  assert.equal(errors.length, 4, "what failed is tried again");
  desk.nowMs += 20 * MINUTE;
  await watcher().once();
  assert.deepEqual(looked, ["01JGOOD", "01JGOOD", "01JGOOD"]);
});

Deno.test("run() lets an order that fails hold no other up, and does not ask for it in a loop", async () => {
  const { desk, errors, looked, watcher } = await withFailing();
  await using _ = desk;
  const stop = new AbortController();
  const late = setTimeout(() => stop.abort(), 10_000);
  await watcher(() => stop.abort()).run(stop.signal);
  clearTimeout(late);
  assert.deepEqual(looked, ["01JGOOD"]);
  assert.equal(errors.length <= 2, true, `${errors.length} failures`);
});

Deno.test("run() reads orders again after the ledger has failed", async () => {
  await using desk = await Desk.open();
  const { bitcoin, ledger } = desk;
  const txId = bitcoin.add({ address: BTC, sat: 420_000 });
  bitcoin.mine(3);
  await desk.succeed("01JORDER", txId);
  const errors: unknown[] = [];
  const { driver } = ledger;
  let isDown = true;
  const failing = new Proxy(driver, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (name !== "batch") return value.bind(target);
      return (...args: Parameters<typeof driver.batch>) => {
        if (isDown && JSON.stringify(args[0]).includes("01JORDER")) {
          return Promise.reject(new LedgerError("busy", "it is locked"));
        }
        return driver.batch(...args);
      };
    },
  });
  Object.defineProperty(ledger, "driver", { value: failing });
  const stop = new AbortController();
  const late = setTimeout(() => stop.abort(), 10_000);
  const looked: string[] = [];
  await createWatcher({
    ...{ ledger, chains: desk.chains, now: desk.now },
    witness: desk.witness(),
    sleep: () => new Promise((resolve) => setTimeout(resolve, 1)),
    onError: (error) => {
      errors.push(error);
      isDown = false;
    },
    onLook: ({ orderId }) => {
      looked.push(orderId);
      stop.abort();
    },
  }).run(stop.signal);
  clearTimeout(late);
  assert.deepEqual(looked, ["01JORDER"]);
  assert.deepEqual(errors.map((one) => (one as LedgerError).code), ["busy"]);
});

Deno.test("run() looks again at once when the service corrects what arrived", async () => {
  await using desk = await Desk.open();
  const { ledger } = desk;
  const since = new Date(START - 10 * MINUTE).toISOString();
  await ledger.append([witnessRequired({
    required: { since, unsupported: "yes" },
    recordedAt: since,
    salt: new Uint8Array(16),
  })]);
  await ledger.expect({
    clickId: "click-01JORDER",
    reference: "basket-7",
    currency: "USD",
    currencyAmount: "400",
    askedAt: new Date(START - MINUTE).toISOString(),
  });
  const shows = (crypto: string, txId: string) =>
    desk.succeed("01JORDER", txId, { crypto, crypto_amount: "1.5" });
  const seen: (readonly string[])[] = [];
  const stop = new AbortController();
  const delivered: Look = {
    verdict: "delivered",
    reason: null,
    arrived: "1.5",
    confirmations: 9,
    final: true,
    block: { blockHash: "0xb1", blockHeight: 7 },
    evidence: {
      index: null,
      nodes: ["silent"],
      answers: null,
      tolerance: null,
      problems: [],
    },
  };
  const unsupported: Look = {
    ...delivered,
    ...{ verdict: "unsupported", reason: "network_not_configured" },
    ...{ arrived: null, confirmations: null, final: false, block: null },
  };
  const corrections = [
    () => shows("eth.simple.ethereum", `0x${"5b".repeat(32)}`),
    () => shows("btc.simple.bitcoin", "5b".repeat(32)),
  ];
  await shows("sol.simple.solana", "5VERv8NM".repeat(8));
  const watcher = createWatcher({
    ...{ ledger, chains: desk.chains, now: desk.now },
    sleep: () => new Promise((resolve) => setTimeout(resolve, 1)),
    witness: {
      look: ({ network }) =>
        Promise.resolve(network === "solana" ? unsupported : delivered),
    },
    onLook: ({ look, recorded }) => {
      if (look === null || !recorded) return;
      (async () => {
        const order = await ledger.orders.get("01JORDER");
        seen.push([order?.network ?? "", look.verdict, order?.release ?? ""]);
        const correct = corrections.shift();
        if (correct === undefined) return stop.abort();
        desk.nowMs += 5_000;
        await correct();
        const waiting = await ledger.orders.get("01JORDER");
        seen.push([waiting?.network ?? "", "none", waiting?.release ?? ""]);
      })();
    },
  });
  const late = setTimeout(() => stop.abort(), 10_000);
  await watcher.run(stop.signal);
  clearTimeout(late);
  assert.deepEqual(seen, [
    ["solana", "unsupported", "yes"],
    ["ethereum", "none", "wait"],
    ["ethereum", "delivered", "yes"],
    ["bitcoin", "none", "wait"],
    ["bitcoin", "delivered", "yes"],
  ]);
});

Deno.test("run() lets a network that does not answer hold up nothing else", async () => {
  await using desk = await Desk.open();
  const { bitcoin } = desk;
  const txId = bitcoin.add({ address: BTC, sat: 420_000 });
  bitcoin.mine(3);
  await desk.succeed("01JSILENT", `0x${"5a".repeat(32)}`, {
    crypto: "eth.simple.ethereum",
    address: `0x${"a1".repeat(20)}`,
  });
  await desk.succeed("01JORDER", txId);
  const silent = Promise.withResolvers<Response>();
  const stop = new AbortController();
  const looked: string[] = [];
  const core = bitcoin.core();
  const watcher = createWatcher({
    ledger: desk.ledger,
    chains: desk.chains,
    now: desk.now,
    witness: desk.witness((url, init) =>
      String(url).includes("8545") ? silent.promise : core(url, init)
    ),
    onLook: ({ orderId }) => {
      looked.push(orderId);
      if (orderId === "01JORDER") {
        stop.abort();
        silent.resolve(new Response("gone", { status: 500 }));
      }
    },
  });
  await watcher.run(stop.signal);
  assert.deepEqual(looked, ["01JORDER"]);
  // What was broken off says nothing of the chain.
  assert.equal(await desk.witnessOf("01JSILENT"), null);
});

Deno.test("an erasure keeps verdict, finality and height of a look, and nothing that names a person", async () => {
  await using desk = await Desk.open();
  const { bitcoin, ledger } = desk;
  const txId = bitcoin.add({ address: BTC, sat: 420_000 });
  bitcoin.mine(3);
  await desk.succeed("01JORDER", txId);
  const [{ look: looked } = assert.fail()] = await desk.watcher().once();
  const before = await ledger.orders.get("01JORDER");
  assert.equal(before?.facts.chain, "agrees");
  await ledger.erasures.erase("01JUSER", { force: true });
  await ledger.project();
  const kept = await ledger.orders.get("01JORDER");
  assert.equal(kept?.facts.chain, "agrees");
  assert.deepEqual(kept?.witness, {
    ...before?.witness,
    blockHash: null,
    index: null,
  });
  // The digest of what the nodes answered leads to the transaction as well.
  const { answers = "" } = looked?.evidence ?? assert.fail();
  const lines: string[] = [];
  for await (const line of ledger.export()) {
    const { body } = JSON.parse(line);
    lines.push(line, typeof body === "string" ? atob(body) : "");
  }
  const exported = lines.join("\n");
  assert.equal(exported.includes(txId), false);
  assert.equal(exported.includes(BTC), false);
  assert.equal(exported.includes(answers ?? assert.fail()), false);
  const verified = await ledger.verify();
  assert.equal(verified.ok, true, verified.reason?.code ?? "");
  assert.equal((await ledger.refold()).changed, 0);
});

Deno.test("nextLookMs() waits longer for what does not change, and gives up after thirty days", () => {
  const sinceMs = START;
  const after = (ageMs: number) => {
    const readMs = START + ageMs;
    const next = nextLookMs({
      last: {
        verdict: "absent",
        final: false,
        confirmations: null,
        readAt: new Date(readMs).toISOString(),
      },
      sinceMs,
      blockMs: 12_000,
      confirmations: 32,
    });
    return next === null ? null : next - readMs;
  };
  assert.equal(after(0), 12_000);
  assert.equal(after(4 * 60 * MINUTE), 60 * MINUTE);
  assert.equal(after(10 * 24 * 60 * MINUTE), 6 * 60 * MINUTE);
  assert.equal(after(30 * 24 * 60 * MINUTE), null);
});
