import assert from "node:assert/strict";
import type { Verdict, VerdictReason } from "../core/chain/verdict.ts";
import { createChainWitness } from "./chain_witness.ts";
import { readChains } from "./chains_file.ts";
import {
  type Anvil,
  anvilAvailable,
  forwardInput,
  input,
  startAnvil,
} from "./testing/anvil.ts";
import { FAKE_GENESIS, FakeBitcoin } from "./testing/fake_bitcoin.ts";
import type { Look, NodeProblem, TransferQuestion } from "./transfer.ts";

const CHAIN = 31_337;
const WALLET = `0x${"a1".repeat(20)}`;
const STRANGER = `0x${"b2".repeat(20)}`;
const ETHER = 10n ** 18n;

/** What happens to a call of a method on its way: an answer, or nothing. */
type Meddle = (method: string, url: string) => Response | undefined;

/** What stands on the chain, made once for all cases. */
interface World {
  readonly anvil: Anvil;
  readonly usdc: string;
  readonly lookAlike: string;
  readonly feeToken: string;
  readonly payer: string;
  readonly shop: string;
}

/** How a look is made. */
interface LookOptions {
  readonly meddle?: Meddle;
  readonly nodes?: number;
  readonly quorum?: number;
  readonly confirmations?: number;
  readonly chainId?: number;
  readonly nowMs?: number;
}

function look(
  world: World,
  question: Partial<TransferQuestion> & { readonly txId: string },
  options: LookOptions = {},
): Promise<Look> {
  const { meddle = () => undefined, nodes = 1, confirmations = 1 } = options;
  const chains = readChains({
    ethereum: {
      nodes: Object.fromEntries(
        Array.from({ length: nodes }, (_, at) => [
          `node-${at + 1}`,
          { url: world.anvil.url, headers: { "x-node": String(at + 1) } },
        ]),
      ),
      ...(options.quorum === undefined ? {} : { quorum: options.quorum }),
      confirmations,
      chainId: options.chainId ?? CHAIN,
      tokens: {
        USDC: { contract: world.usdc, decimals: 6 },
        LAI: { contract: world.feeToken, decimals: 18 },
      },
    },
  });
  return createChainWitness({
    chains,
    fetch: async (url, init) => {
      const { method } = JSON.parse(String(init?.body));
      const node = new Headers(init?.headers).get("x-node") ?? "";
      return meddle(method, node) ?? await fetch(url, init);
    },
    timeoutMs: 20_000,
    ...(options.nowMs === undefined ? {} : { now: () => options.nowMs ?? 0 }),
  }).look({
    network: "ethereum",
    asset: "ETH",
    address: WALLET,
    amount: "0.0042",
    ...question,
  });
}

const AMOUNT = 42n * 10n ** 14n;

const rpcError = (code: number, message: string) =>
  Response.json({ jsonrpc: "2.0", id: 1, error: { code, message } });
const noTrace: Meddle = (method) =>
  /^(?:debug|trace)_/.test(method)
    ? rpcError(-32601, "the method does not exist")
    : undefined;
const says = (of: string, result: unknown, node?: string): Meddle =>
(
  method,
  from,
) =>
  method === of && (node === undefined || node === from)
    ? Response.json({ jsonrpc: "2.0", id: 1, result })
    : undefined;
const fails = (status: number, node?: string): Meddle => (_method, from) =>
  node === undefined || node === from
    ? new Response("no", { status })
    : undefined;

/** A case of the table: what happened, and what is to be said of it. */
interface Case {
  readonly name: string;
  readonly run: (world: World) => Promise<Look>;
  readonly verdict: Verdict;
  readonly reason?: VerdictReason;
  readonly arrived?: string;
  readonly final?: boolean;
  readonly problems?: readonly NodeProblem[];
}

const native = (
  value: bigint,
  to: string = WALLET,
  options: LookOptions = {},
  question: Partial<TransferQuestion> = {},
) =>
async (world: World) =>
  await look(
    world,
    { ...await world.anvil.settle({ to, value }), ...question },
    options,
  );

const token = (
  of: "usdc" | "lookAlike" | "feeToken",
  units: bigint,
  question: Partial<TransferQuestion>,
  to: string = WALLET,
) =>
async (world: World) =>
  await look(world, {
    ...await world.anvil.settle({
      to: world[of],
      data: input("transfer", to, units),
    }),
    ...question,
  });

const USDC = { asset: "USDC", amount: "25" };
const UNITS = 25_000_000n;

const batch = (
  world: World,
  payments: readonly (readonly [string, bigint])[],
) =>
  world.anvil.settle({
    to: world.payer,
    value: payments.reduce((sum, [, value]) => sum + value, 0n),
    data: input(
      "pay",
      payments.map(([to]) => to),
      payments.map(([, value]) => value),
    ),
  });

const CASES: readonly Case[] = [
  {
    name: "a direct payment",
    run: native(AMOUNT),
    verdict: "delivered",
    arrived: "0.0042",
    final: true,
  },
  {
    name: "a direct payment, the address in another case",
    run: native(AMOUNT, WALLET, {}, {
      address: WALLET.toUpperCase().replace("X", "x"),
    }),
    verdict: "delivered",
  },
  {
    name: "a payment to another address",
    run: native(AMOUNT, STRANGER),
    verdict: "other_recipient_or_asset",
    final: true,
  },
  {
    name: "one unit short",
    run: native(AMOUNT - 1n),
    verdict: "short",
    arrived: "0.004199999999999999",
  },
  {
    name: "one unit more",
    run: native(AMOUNT + 1n),
    verdict: "more",
    arrived: "0.004200000000000001",
  },
  {
    name: "not deep enough yet",
    run: native(AMOUNT, WALLET, { confirmations: 3 }),
    verdict: "delivered",
    final: false,
  },
  {
    name: "deep enough",
    run: async (world) => {
      const sent = await world.anvil.settle({ to: WALLET, value: AMOUNT });
      await world.anvil.mine(2);
      return await look(world, sent, { confirmations: 3 });
    },
    verdict: "delivered",
    final: true,
  },
  {
    name: "unknown",
    run: (world) => look(world, { txId: `0x${"77".repeat(32)}` }),
    verdict: "absent",
    final: false,
  },
  {
    name: "waiting for a block",
    run: async (world) => {
      await world.anvil.call("evm_setAutomine", [false]);
      const sent = await world.anvil.send({ to: WALLET, value: AMOUNT });
      const seen = await look(world, sent);
      await world.anvil.mine(1);
      await world.anvil.call("evm_setAutomine", [true]);
      return seen;
    },
    verdict: "pending",
    final: false,
  },
  {
    name: "reverted",
    run: async (world) =>
      await look(
        world,
        await world.anvil.settle({ to: world.shop, data: input("buy", 0) }),
      ),
    verdict: "reverted",
    final: true,
  },
  {
    name: "in a batch from inside a contract",
    run: async (world) =>
      await look(
        world,
        await batch(world, [[STRANGER, 5n], [WALLET, AMOUNT]]),
      ),
    verdict: "delivered",
    arrived: "0.0042",
  },
  {
    name: "in a batch, in two parts",
    run: async (world) =>
      await look(
        world,
        await batch(world, [[WALLET, AMOUNT - 7n], [WALLET, 7n]]),
      ),
    verdict: "delivered",
  },
  {
    name: "in a batch that pays others alone",
    run: async (world) =>
      await look(world, await batch(world, [[STRANGER, AMOUNT]])),
    verdict: "other_recipient_or_asset",
  },
  {
    name: "in a batch, traced by the other method alone",
    run: async (world) =>
      await look(world, await batch(world, [[WALLET, AMOUNT]]), {
        meddle: (method) =>
          method === "debug_traceTransaction"
            ? rpcError(-32601, "the method does not exist")
            : undefined,
      }),
    verdict: "delivered",
  },
  {
    name: "in a batch, at a node that cannot trace",
    run: async (world) =>
      await look(world, await batch(world, [[STRANGER, AMOUNT]]), {
        meddle: noTrace,
      }),
    verdict: "undecided",
    reason: "cannot_trace",
    final: false,
  },
  {
    name: "in a batch, at a node that answers traces with 403",
    run: async (world) =>
      await look(world, await batch(world, [[STRANGER, AMOUNT]]), {
        meddle: (method) =>
          /^(?:debug|trace)_/.test(method)
            ? new Response("forbidden", { status: 403 })
            : undefined,
      }),
    verdict: "undecided",
    reason: "cannot_trace",
  },
  {
    name: "to another plain account, at a node that cannot trace",
    run: native(AMOUNT, STRANGER, { meddle: noTrace }),
    verdict: "other_recipient_or_asset",
  },
  {
    name: "paid and undone inside of a contract",
    run: async (world) =>
      await look(
        world,
        await world.anvil.settle({
          to: world.payer,
          value: AMOUNT,
          data: input("payAndUndo", WALLET),
        }),
      ),
    verdict: "other_recipient_or_asset",
  },
  {
    name: "paid and undone, traced by the other method alone",
    run: async (world) =>
      await look(
        world,
        await world.anvil.settle({
          to: world.payer,
          value: AMOUNT,
          data: input("payAndUndo", WALLET),
        }),
        {
          meddle: (method) =>
            method === "debug_traceTransaction"
              ? rpcError(-32601, "the method does not exist")
              : undefined,
        },
      ),
    verdict: "other_recipient_or_asset",
  },
  {
    name: "a token",
    run: token("usdc", UNITS, USDC),
    verdict: "delivered",
    arrived: "25",
  },
  {
    name: "a token, one unit short",
    run: token("usdc", UNITS - 1n, USDC),
    verdict: "short",
    arrived: "24.999999",
  },
  {
    name: "a token to another address",
    run: token("usdc", UNITS, USDC, STRANGER),
    verdict: "other_recipient_or_asset",
  },
  {
    name: "a token that only looks alike",
    run: token("lookAlike", UNITS, USDC),
    verdict: "other_recipient_or_asset",
  },
  {
    name: "a token that nobody pinned",
    run: token("lookAlike", UNITS, { asset: "USDT", amount: "25" }),
    verdict: "unsupported",
    reason: "token_not_pinned",
  },
  {
    name: "a token that takes a fee",
    run: token("feeToken", ETHER, { asset: "LAI", amount: "1" }),
    verdict: "short",
    arrived: "0.99",
  },
  {
    name: "the chain's own asset in place of a token",
    run: native(AMOUNT, WALLET, {}, { asset: "USDC", amount: "0.0042" }),
    verdict: "other_recipient_or_asset",
  },
  {
    name: "a token in a batch",
    run: async (world) => {
      const { anvil, usdc, payer } = world;
      await anvil.settle({ to: usdc, data: input("transfer", payer, UNITS) });
      return await look(world, {
        ...await anvil.settle({
          to: payer,
          data: input("payTokens", usdc, [WALLET], [UNITS]),
        }),
        ...USDC,
      }, { meddle: noTrace });
    },
    verdict: "delivered",
  },
  {
    name: "the call of a smart-contract order",
    run: async (world) => {
      const data = input("buy", 7);
      return await look(world, {
        ...await world.anvil.settle({ to: world.shop, value: AMOUNT, data }),
        smartContract: { address: world.shop, inputData: data },
      });
    },
    verdict: "delivered",
    final: true,
  },
  {
    name: "the call of a smart-contract order, through another contract",
    run: async (world) => {
      const data = input("buy", 7);
      return await look(world, {
        ...await world.anvil.settle({
          to: world.payer,
          value: AMOUNT,
          data: forwardInput(world.shop, data),
        }),
        smartContract: { address: world.shop, inputData: data },
      });
    },
    verdict: "delivered",
  },
  {
    name: "a call of the right contract with another input",
    run: async (world) =>
      await look(world, {
        ...await world.anvil.settle({
          to: world.shop,
          data: input("buy", 8),
        }),
        smartContract: { address: world.shop, inputData: input("buy", 7) },
      }),
    verdict: "other_recipient_or_asset",
  },
  {
    name: "a call that failed",
    run: async (world) => {
      const data = input("buy", 0);
      return await look(world, {
        ...await world.anvil.settle({ to: world.shop, data }),
        smartContract: { address: world.shop, inputData: data },
      });
    },
    verdict: "reverted",
  },
  {
    name: "a call through another contract, at a node that cannot trace",
    run: async (world) => {
      const data = input("buy", 7);
      return await look(world, {
        ...await world.anvil.settle({
          to: world.payer,
          data: forwardInput(world.shop, data),
        }),
        smartContract: { address: world.shop, inputData: data },
      }, { meddle: noTrace });
    },
    verdict: "undecided",
    reason: "cannot_trace",
  },
  {
    name: "a batch, traced by a node that writes that no call has an error",
    run: async (world) => {
      const sent = await batch(world, [[STRANGER, 5n], [WALLET, AMOUNT]]);
      return await look(world, sent, {
        meddle: says("debug_traceTransaction", {
          ...{ type: "CALL", from: STRANGER, to: world.payer, error: null },
          ...{ value: "0x0", input: "0x" },
          calls: [{
            ...{ type: "CALL", from: world.payer, to: WALLET, error: null },
            ...{ value: `0x${AMOUNT.toString(16)}`, input: "0x" },
          }],
        }),
      });
    },
    verdict: "delivered",
  },
  {
    name: "a batch, listed by a node that writes that no call has an error",
    run: async (world) => {
      const sent = await batch(world, [[STRANGER, 5n], [WALLET, AMOUNT]]);
      return await look(world, sent, {
        meddle: (method) =>
          method === "debug_traceTransaction"
            ? rpcError(-32601, "the method does not exist")
            : says("trace_transaction", [
              {
                ...{ type: "call", traceAddress: [], error: null },
                action: {
                  ...{ callType: "call", from: STRANGER, to: world.payer },
                  ...{ value: "0x0", input: "0x" },
                },
              },
              {
                ...{ type: "call", traceAddress: [0], error: null },
                action: {
                  ...{ callType: "call", from: world.payer, to: WALLET },
                  ...{ value: `0x${AMOUNT.toString(16)}`, input: "0x" },
                },
              },
            ])(method, ""),
      });
    },
    verdict: "delivered",
  },
  ...["STATICCALL", "DELEGATECALL"].map((type): Case => ({
    name: `a ${type} of the right contract with the right input`,
    run: async (world) => {
      const data = input("buy", 7);
      return await look(world, {
        ...await batch(world, [[STRANGER, 5n]]),
        smartContract: { address: world.shop, inputData: data },
      }, {
        meddle: says("debug_traceTransaction", {
          ...{ type: "CALL", from: STRANGER, to: world.payer, input: "0x" },
          calls: [{ type, from: world.payer, to: world.shop, input: data }],
        }),
      });
    },
    verdict: "other_recipient_or_asset",
  })),
  {
    name: "reorganised before it was final",
    run: async (world) => {
      const sent = await world.anvil.settle({ to: WALLET, value: AMOUNT });
      const { block: before } = await look(world, sent, { confirmations: 5 });
      await world.anvil.reorganise(1);
      return await look(world, { ...sent, before }, { confirmations: 5 });
    },
    verdict: "reorged",
    final: false,
  },
  {
    name: "reorganised after it was final",
    run: async (world) => {
      const sent = await world.anvil.settle({ to: WALLET, value: AMOUNT });
      await world.anvil.mine(4);
      const { block: before, final } = await look(world, sent, {
        confirmations: 5,
      });
      assert.equal(final, true);
      await world.anvil.reorganise(5);
      return await look(world, { ...sent, before }, { confirmations: 5 });
    },
    verdict: "reorged",
    final: true,
  },
  {
    name: "a receipt of a block that is no part of the chain",
    run: async (world) => {
      const sent = await world.anvil.settle({ to: WALLET, value: AMOUNT });
      const receipt = await world.anvil.receipt(sent);
      return await look(world, sent, {
        meddle: says("eth_getTransactionReceipt", {
          ...receipt,
          blockHash: `0x${"99".repeat(32)}`,
        }),
      });
    },
    verdict: "reorged",
  },
  {
    name: "another chain",
    run: native(AMOUNT, WALLET, { chainId: 1 }),
    verdict: "wrong_chain",
    problems: ["wrong_chain"],
  },
  {
    name: "two nodes of three that agree, and one that lies",
    run: native(AMOUNT, WALLET, {
      nodes: 3,
      meddle: says("eth_getTransactionReceipt", null, "2"),
    }),
    verdict: "delivered",
    final: true,
    problems: ["says_otherwise"],
  },
  {
    name: "two nodes that say different things",
    run: native(AMOUNT, WALLET, {
      nodes: 2,
      meddle: says("eth_getTransactionReceipt", null, "2"),
    }),
    verdict: "undecided",
    reason: "nodes_disagree",
    problems: ["says_otherwise", "says_otherwise"],
  },
  {
    name: "two nodes of three that agree, and one of another chain",
    run: native(AMOUNT, WALLET, {
      nodes: 3,
      meddle: says("eth_chainId", "0x1", "1"),
    }),
    verdict: "delivered",
    problems: ["wrong_chain"],
  },
  {
    name: "one node of two that answers",
    run: native(AMOUNT, WALLET, { nodes: 2, meddle: fails(500, "1") }),
    verdict: "undecided",
    reason: "no_quorum",
    problems: ["bad_answer"],
  },
  {
    name: "a node that wants no more requests",
    run: native(AMOUNT, WALLET, { meddle: fails(429) }),
    verdict: "undecided",
    reason: "no_node_answered",
    problems: ["rate_limited"],
  },
  {
    name: "a node that answers 403",
    run: native(AMOUNT, WALLET, { meddle: fails(403) }),
    verdict: "undecided",
    problems: ["refused"],
  },
  {
    name: "a node that answers no JSON",
    run: native(AMOUNT, WALLET, {
      meddle: () => new Response("<html>"),
    }),
    verdict: "undecided",
    problems: ["bad_answer"],
  },
  {
    name: "a node that is hours behind and knows nothing",
    run: (world) =>
      look(world, { txId: `0x${"78".repeat(32)}` }, {
        nowMs: Date.now() + 5 * 3_600_000,
      }),
    verdict: "undecided",
    reason: "no_node_answered",
    problems: ["lagging"],
  },
  {
    name: "a node that has thrown the receipt away",
    run: native(AMOUNT, WALLET, {
      meddle: says("eth_getTransactionReceipt", null),
    }),
    verdict: "undecided",
    reason: "receipt_missing",
  },
  {
    name: "a node that says that it has pruned",
    run: native(AMOUNT, WALLET, {
      meddle: (method) =>
        method === "eth_getTransactionReceipt"
          ? rpcError(-32000, "pruned history unavailable")
          : undefined,
    }),
    verdict: "undecided",
    problems: ["pruned"],
  },
  {
    name: "a cached block number",
    run: native(AMOUNT, WALLET, { meddle: says("eth_blockNumber", "0x0") }),
    verdict: "delivered",
    final: true,
  },
  {
    name: "two orders of one transaction, each with its own payment",
    run: async (world) =>
      await look(world, {
        ...await batch(world, [[WALLET, AMOUNT], [WALLET, ETHER]]),
        others: ["1"],
      }),
    verdict: "delivered",
    arrived: "0.0042",
  },
  {
    name: "two orders of one transaction, with one payment",
    run: async (world) =>
      await look(world, {
        ...await batch(world, [[WALLET, AMOUNT]]),
        others: ["0.0042"],
      }),
    verdict: "undecided",
    reason: "shared_transaction",
    final: false,
  },
];

Deno.test({
  name: "look() says of each case on a real node what happened",
  ignore: !anvilAvailable,
  async fn(t) {
    await using anvil = await startAnvil(CHAIN);
    const world: World = {
      anvil,
      usdc: await anvil.deployToken(6),
      lookAlike: await anvil.deployToken(6),
      feeToken: await anvil.deployToken(18, 10),
      payer: await anvil.deployPayer(),
      shop: await anvil.deployShop(),
    };
    // Deep reorganisations must not take the contracts along.
    await anvil.mine(20);
    for (const one of CASES) {
      await t.step(one.name, async () => {
        const seen = await one.run(world);
        assert.equal(seen.verdict, one.verdict, JSON.stringify(seen));
        assert.equal(seen.reason, one.reason ?? seen.reason);
        if (one.arrived !== undefined) assert.equal(seen.arrived, one.arrived);
        if (one.final !== undefined) assert.equal(seen.final, one.final);
        assert.deepEqual(
          seen.evidence.problems.map(({ problem }) => problem),
          one.problems ?? [],
        );
      });
    }
  },
});

const BTC = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
const TAPROOT =
  "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0";
const NOW = Date.UTC(2026, 10, 24, 12);

function bitcoin(): FakeBitcoin {
  return new FakeBitcoin(NOW / 1000 - 60);
}

function lookAt(
  send: typeof fetch,
  question: Partial<TransferQuestion> & { readonly txId: string },
  kind: "core" | "esplora" = "core",
): Promise<Look> {
  return createChainWitness({
    chains: readChains({
      bitcoin: {
        nodes: { own: { url: "http://127.0.0.1:8332", kind } },
        confirmations: 3,
        genesis: FAKE_GENESIS,
      },
    }),
    fetch: send,
    now: () => NOW,
  }).look({
    network: "bitcoin",
    asset: "BTC",
    address: BTC,
    amount: "0.0042",
    ...question,
  });
}

for (const kind of ["core", "esplora"] as const) {
  const send = (chain: FakeBitcoin) =>
    kind === "core" ? chain.core() : chain.esplora();

  Deno.test(`look() adds up the outputs to an address, by ${kind}`, async () => {
    const chain = bitcoin();
    const txId = chain.add(
      { address: BTC, sat: 400_000 },
      { address: TAPROOT, sat: 99 },
      { address: BTC, sat: 20_000 },
    );
    const seen = async (question: Partial<TransferQuestion> = {}) =>
      await lookAt(send(chain), { txId, ...question }, kind);
    assert.equal((await seen()).verdict, "pending");
    chain.mine(1);
    const shallow = await seen();
    assert.deepEqual(
      [shallow.verdict, shallow.confirmations, shallow.final],
      ["delivered", 1, false],
    );
    chain.mine(2);
    assert.equal((await seen()).final, true);
    assert.equal((await seen({ amount: "0.00420001" })).verdict, "short");
    assert.equal((await seen({ amount: "0.00419999" })).verdict, "more");
    assert.equal(
      (await seen({ address: BTC.toUpperCase() })).verdict,
      "delivered",
    );
    const taproot = await seen({ address: TAPROOT, amount: "0.00000099" });
    assert.deepEqual([taproot.verdict, taproot.evidence.index], [
      "delivered",
      1,
    ]);
    assert.equal(
      (await seen({ address: "1BoatSLRHtKNngkdXEeobR76b53LETtpyT" })).verdict,
      "other_recipient_or_asset",
    );
    assert.equal(
      (await seen({ txId: "ab".repeat(32) })).verdict,
      "absent",
    );
  });

  Deno.test(`look() tells two orders of one transaction apart by their outputs, by ${kind}`, async () => {
    const chain = bitcoin();
    const own = chain.add(
      { address: BTC, sat: 420_000 },
      { address: BTC, sat: 1_000_000 },
    );
    const joint = chain.add({ address: BTC, sat: 1_420_000 });
    chain.mine(3);
    const seen = async (txId: string) =>
      await lookAt(send(chain), { txId, others: ["0.01"] }, kind);
    assert.equal((await seen(own)).verdict, "delivered");
    const shared = await seen(joint);
    assert.deepEqual([shared.verdict, shared.reason, shared.final], [
      "undecided",
      "shared_transaction",
      false,
    ]);
  });

  Deno.test(`look() tells a reorganisation from a transaction that nobody knows, by ${kind}`, async () => {
    const chain = bitcoin();
    const txId = chain.add({ address: BTC, sat: 420_000 });
    chain.mine(1);
    const { block: before } = await lookAt(send(chain), { txId }, kind);
    chain.drop(1);
    chain.mine(1);
    const again = await lookAt(send(chain), { txId, before }, kind);
    assert.deepEqual([again.verdict, again.final], ["reorged", false]);
    assert.equal((await lookAt(send(chain), { txId }, kind)).verdict, "absent");
  });

  Deno.test(`look() takes nothing for delivered in a block that is no part of the chain, by ${kind}`, async () => {
    const chain = bitcoin();
    const txId = chain.add({ address: BTC, sat: 420_000 });
    chain.mine(3);
    // The node goes on showing the transaction and its block as they were.
    const before = new Map<string, string>();
    let isOver = false;
    const replaying: typeof fetch = async (url, init) => {
      const key = `${url} ${init?.body ?? ""}`;
      const isOfTransaction = key.includes(txId) ||
        key.includes("getblockheader");
      const known = isOver && isOfTransaction ? before.get(key) : undefined;
      if (known !== undefined) return new Response(known);
      const text = await (await send(chain)(url, init)).text();
      before.set(key, text);
      return new Response(text);
    };
    const look = () => lookAt(replaying, { txId }, kind);
    const { verdict, block } = await look();
    assert.equal(verdict, "delivered");
    chain.drop(3);
    chain.mine(4);
    isOver = true;
    const again = await look();
    assert.deepEqual([again.verdict, again.block, again.final], [
      "reorged",
      block,
      true,
    ]);
  });

  Deno.test(`look() asks nothing of another chain, by ${kind}`, async () => {
    const chain = bitcoin();
    const { verdict } = await createChainWitness({
      chains: readChains({
        bitcoin: {
          nodes: { own: { url: "http://127.0.0.1:8332", kind } },
          confirmations: 3,
        },
      }),
      fetch: send(chain),
    }).look({
      network: "bitcoin",
      asset: "BTC",
      txId: "ab".repeat(32),
      address: BTC,
      amount: "1",
    });
    assert.equal(verdict, "wrong_chain");
  });
}

Deno.test("look() reads the addresses of old versions of Core", async () => {
  const chain = bitcoin();
  const txId = chain.add({ address: BTC, sat: 420_000 });
  chain.mine(3);
  const { verdict } = await lookAt(chain.core({ oldAddresses: true }), {
    txId,
  });
  assert.equal(verdict, "delivered");
});

Deno.test("look() takes nothing for absent at a node without an index, or with one that is not whole", async () => {
  const chain = bitcoin();
  const txId = chain.add({ address: BTC, sat: 420_000 });
  chain.mine(3);
  for (
    const [txIndex, problem] of [
      [false, "no_index"],
      ["building", "syncing"],
    ] as const
  ) {
    const { verdict, evidence } = await lookAt(chain.core({ txIndex }), {
      txId,
    });
    assert.equal(verdict, "undecided");
    assert.deepEqual(evidence.problems, [{ node: "own", problem }]);
  }
});

Deno.test("look() never names a node's address or key, whatever fails", async () => {
  const chains = readChains({
    bitcoin: {
      nodes: {
        own: {
          url: "http://alice:hunter2@127.0.0.1:8332/KEY-1",
          headers: { "x-api-key": "KEY-2" },
        },
      },
      confirmations: 3,
    },
  });
  const headers: (string | null)[] = [];
  const look = await createChainWitness({
    chains,
    fetch: (url, init) => {
      const sent = new Headers(init?.headers);
      headers.push(sent.get("authorization"), sent.get("x-api-key"));
      throw new TypeError(`error sending request for url (${url})`);
    },
  }).look({
    network: "bitcoin",
    asset: "BTC",
    txId: "ab".repeat(32),
    address: BTC,
    amount: "1",
  });
  assert.deepEqual(headers, [`Basic ${btoa("alice:hunter2")}`, "KEY-2"]);
  assert.equal(look.verdict, "undecided");
  assert.doesNotMatch(JSON.stringify(look), /hunter2|KEY-|127\.0\.0\.1/);
  for (
    const wrong of [
      { nodes: { own: "ftp://KEY-1@host" }, confirmations: 1 },
      { nodes: { own: { url: "http://h/KEY-1", headers: "KEY-1" } } },
      { nodes: { own: { url: "http://h/KEY-1" } }, confirmations: 0 },
      { nodes: { "a b": "http://h/KEY-1" }, confirmations: 1 },
    ]
  ) {
    assert.throws(
      () => readChains({ bitcoin: wrong }),
      (error: Error) =>
        error instanceof TypeError && !/KEY-1/.test(error.message),
    );
  }
});
