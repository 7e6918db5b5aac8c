import assert from "node:assert/strict";
import type { Ledger, Transition } from "../ledger/mod.ts";
import { orderSnapshot } from "../ledger/for_sync.ts";
import { emptyLedger, witnessRequired } from "../ledger/testing/mod.ts";
import { readChains } from "./chains_file.ts";
import { createChainWitness } from "./chain_witness.ts";
import { lookAtOrder } from "./look_at_order.ts";
import { nextLookMs } from "./next_look.ts";
import { FAKE_GENESIS, FakeBitcoin } from "./testing/fake_bitcoin.ts";
import { createWatcher } from "./watcher.ts";

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
