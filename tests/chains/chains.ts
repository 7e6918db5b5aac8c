/**
 * The adapters of Bitcoin's family against a real node: `deno task test:chains`.
 * It needs Debian's package `litecoind`, and so is no part of the suite.
 *
 * @module
 */
import { bech32m } from "@scure/base";
import assert from "node:assert/strict";
import type { Verdict, VerdictReason } from "../../core/chain/verdict.ts";
import {
  type ChainSettings,
  createChainWitness,
  type Look,
  type NodeProblem,
  type NodeSettings,
  readChains,
  type TransferQuestion,
} from "../../witness/mod.ts";
import { serveEsplora } from "./esplora_server.ts";
import { type Litecoind, PREFIX, startLitecoind } from "./litecoind.ts";

/** What the service states, and the same in smallest units. */
const AMOUNT = "0.0042";
const SAT = 420_000;

/** The ways in which the node is asked. */
const KINDS = ["core", "esplora"] as const;

/** What stands, made once for all cases. */
interface World {
  readonly node: Litecoind;
  /** Follows the other, and finds no transaction of a block. */
  readonly plain: Litecoind;
  readonly esploraUrl: string;
  readonly genesis: string;
  /** Whom the orders pay. */
  readonly wallet: string;
  readonly stranger: string;
}

type Question = Partial<TransferQuestion> & { readonly txId: string };

/** How a look is made. */
interface LookOptions extends Partial<ChainSettings> {
  readonly nowMs?: number;
}

/** Asks by the way that the case is run for. */
type See = (question: Question, options?: LookOptions) => Promise<Look>;

/** What happened, and what is to be said of it. */
interface Case {
  readonly name: string;
  readonly run: (world: World, see: See) => Promise<Look>;
  readonly verdict: Verdict;
  readonly reason?: VerdictReason;
  readonly arrived?: string | null;
  readonly index?: number | null;
  readonly final?: boolean;
  readonly confirmations?: number | null;
  readonly nodes?: readonly string[];
  readonly problems?: readonly NodeProblem[];
}

const settled = (sat: number) => async ({ node, wallet }: World, see: See) =>
  await see({ txId: await node.settle({ address: wallet, sat }) });

/** Pays an address of a form, and asks for it as it is written somewhere. */
const toForm = (
  make: (world: World) => Promise<string> | string,
  written: (address: string) => string = (address) => address,
) =>
async (world: World, see: See) => {
  const address = await make(world);
  return await see({
    txId: await world.node.settle({ address, sat: SAT }),
    address: written(address),
  });
};

/** An address of Taproot's form, with any beginning. */
function taproot(prefix: string, filledWith: number): string {
  const program = bech32m.toWords(new Uint8Array(32).fill(filledWith));
  return bech32m.encode(prefix, [1, ...program]);
}

/** Returns nothing: data that stands in the chain and pays nobody. */
const NOTE = { script: "6a0474657374", sat: 0 };

const CASES: readonly Case[] = [
  {
    name: "a direct payment",
    run: settled(SAT),
    verdict: "delivered",
    arrived: AMOUNT,
    index: 0,
    confirmations: 1,
    final: true,
  },
  {
    name: "to another address",
    run: async ({ node, stranger }, see) =>
      await see({ txId: await node.settle({ address: stranger, sat: SAT }) }),
    verdict: "other_recipient_or_asset",
    arrived: "0",
    final: true,
  },
  {
    name: "one unit short",
    run: settled(SAT - 1),
    verdict: "short",
    arrived: "0.00419999",
  },
  {
    name: "one unit more",
    run: settled(SAT + 1),
    verdict: "more",
    arrived: "0.00420001",
  },
  {
    name: "several outputs that add up",
    run: async ({ node, wallet, stranger }, see) =>
      await see({
        txId: await node.settle(
          { address: wallet, sat: SAT - 20_000 },
          { address: stranger, sat: 5_000 },
          NOTE,
          { address: wallet, sat: 20_000 },
        ),
      }),
    verdict: "delivered",
    arrived: AMOUNT,
    index: null,
  },
  {
    name: "several outputs, one unit short",
    run: async ({ node, wallet }, see) =>
      await see({
        txId: await node.settle(
          { address: wallet, sat: SAT - 20_000 },
          { address: wallet, sat: 19_999 },
        ),
      }),
    verdict: "short",
    arrived: "0.00419999",
  },
  {
    name: "two orders of one transaction, with a payment for each",
    run: async ({ node, wallet }, see) =>
      await see({
        txId: await node.settle(
          { address: wallet, sat: 1_000_000 },
          { address: wallet, sat: SAT },
        ),
        others: ["0.01"],
      }),
    verdict: "delivered",
    arrived: AMOUNT,
    index: 1,
  },
  {
    name: "two orders of one transaction, with one payment for both",
    run: async ({ node, wallet }, see) =>
      await see({
        txId: await node.settle({ address: wallet, sat: SAT + 1_000_000 }),
        others: ["0.01"],
      }),
    verdict: "undecided",
    reason: "shared_transaction",
    final: false,
  },
  {
    name: "waiting for a block",
    run: async ({ node, wallet }, see) => {
      const txId = await node.pay({ address: wallet, sat: SAT });
      const seen = await see({ txId });
      await node.mine(1);
      return seen;
    },
    verdict: "pending",
    arrived: null,
    confirmations: null,
    final: false,
  },
  {
    name: "not deep enough yet",
    run: async ({ node, wallet }, see) => {
      const txId = await node.settle({ address: wallet, sat: SAT });
      await node.mine(1);
      return await see({ txId }, { confirmations: 3 });
    },
    verdict: "delivered",
    confirmations: 2,
    final: false,
  },
  {
    name: "deep enough",
    run: async ({ node, wallet }, see) => {
      const txId = await node.settle({ address: wallet, sat: SAT });
      await node.mine(2);
      return await see({ txId }, { confirmations: 3 });
    },
    verdict: "delivered",
    confirmations: 3,
    final: true,
  },
  {
    name: "unknown",
    run: (_, see) => see({ txId: "ab".repeat(32) }),
    verdict: "absent",
    final: false,
  },
  {
    name: "replaced by one with a higher fee, before it had a block",
    run: async ({ node, wallet }, see) => {
      const txId = await node.pay({ address: wallet, sat: SAT });
      await node.call("bumpfee", txId);
      const seen = await see({ txId });
      await node.mine(1);
      return seen;
    },
    verdict: "absent",
    final: false,
  },
  {
    name: "taken out of the chain before it was final, and waiting again",
    run: async ({ node, wallet }, see) => {
      const txId = await node.settle({ address: wallet, sat: SAT });
      const { block: before } = await see({ txId }, { confirmations: 3 });
      await node.reorganise(1);
      const seen = await see({ txId, before }, { confirmations: 3 });
      await node.mine(1);
      return seen;
    },
    verdict: "reorged",
    final: false,
  },
  {
    name: "taken out of the chain, and in another block of it",
    run: async ({ node, wallet }, see) => {
      const txId = await node.settle({ address: wallet, sat: SAT });
      const { block: before } = await see({ txId });
      await node.reorganise(1, { instead: 2 });
      await node.mine(1);
      const seen = await see({ txId, before });
      assert.notEqual(seen.block?.blockHash, before?.blockHash);
      return seen;
    },
    verdict: "delivered",
    final: true,
  },
  {
    name: "taken out of the chain, whose end is lower than it was",
    run: async ({ node, wallet }, see) => {
      const txId = await node.settle({ address: wallet, sat: SAT });
      await node.mine(1);
      const { block: before } = await see({ txId });
      await node.reorganise(2, { instead: 0 });
      const seen = await see({ txId, before });
      await node.mine(3);
      return seen;
    },
    verdict: "pending",
    final: false,
  },
  {
    name: "taken out after it was final, and spent otherwise",
    run: async ({ node, wallet }, see) => {
      const txId = await node.settle({ address: wallet, sat: SAT });
      await node.mine(2);
      const options = { confirmations: 3 };
      const { block: before, final } = await see({ txId }, options);
      assert.equal(final, true);
      await node.reorganise(3, { instead: 4, spendOtherwise: txId });
      return await see({ txId, before }, options);
    },
    verdict: "reorged",
    final: true,
  },
  {
    name: "of another chain",
    run: async ({ node, wallet }, see) =>
      await see({ txId: await node.settle({ address: wallet, sat: SAT }) }, {
        genesis:
          "12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2",
      }),
    verdict: "wrong_chain",
    final: false,
    problems: ["wrong_chain"],
  },
  {
    name: "to an address of P2PKH",
    run: toForm(({ node }) => node.newAddress("legacy")),
    verdict: "delivered",
  },
  {
    name: "to an address of P2SH",
    run: toForm(({ node }) => node.newAddress("p2sh-segwit")),
    verdict: "delivered",
  },
  {
    name: "to an address of SegWit, written in capitals",
    run: toForm(
      ({ node }) => node.newAddress("bech32"),
      (address) => address.toUpperCase(),
    ),
    verdict: "delivered",
  },
  {
    name: "to an address of Taproot",
    run: toForm(() => taproot(PREFIX, 7)),
    verdict: "delivered",
    arrived: AMOUNT,
  },
  {
    name: "to an address of Taproot, written in capitals",
    run: toForm(() => taproot(PREFIX, 8), (address) => address.toUpperCase()),
    verdict: "delivered",
  },
  {
    name: "to the same key, written as another chain does",
    run: toForm(() => taproot(PREFIX, 9), () => taproot("bcrt", 9)),
    verdict: "other_recipient_or_asset",
  },
  {
    name: "to an address of P2PKH in another case, which is another address",
    run: toForm(
      ({ node }) => node.newAddress("legacy"),
      (address) => address.toLowerCase(),
    ),
    verdict: "other_recipient_or_asset",
  },
  {
    name: "to one of two who may spend it together",
    run: async ({ node }, see) => {
      const keys = await Promise.all(["legacy", "legacy"].map(async () => {
        const address = await node.newAddress("legacy");
        const { pubkey } = await node.call("getaddressinfo", address);
        return [address, String(pubkey)] as const;
      }));
      const [[address, first], [, second]] = keys as [
        readonly [string, string],
        readonly [string, string],
      ];
      const script = `5121${first}21${second}52ae`;
      return await see({
        txId: await node.settle({ script, sat: SAT }),
        address,
      });
    },
    verdict: "other_recipient_or_asset",
  },
  {
    name: "not known to a node that is hours behind",
    run: (_, see) =>
      see({ txId: "ac".repeat(32) }, { nowMs: Date.now() + 5 * 3_600_000 }),
    verdict: "undecided",
    reason: "no_node_answered",
    problems: ["lagging"],
  },
];

/** Cases of one way alone, or of both together: these name their nodes. */
const OF_NODES: readonly Case[] = [
  {
    name: "taken out and spent otherwise before anybody looked, at Core",
    run: async ({ node, wallet }, see) => {
      const txId = await node.settle({ address: wallet, sat: SAT });
      await node.reorganise(1, { instead: 2, spendOtherwise: txId });
      // It still finds the transaction in the block that was taken out.
      return await see({ txId }, { nodes: { own: node.url } });
    },
    verdict: "reorged",
  },
  {
    name: "in a block, at a node without an index",
    run: async ({ node, plain, wallet }, see) => {
      const txId = await node.settle({ address: wallet, sat: SAT });
      await plain.follow(node);
      return await see({ txId }, { nodes: { plain: plain.url } });
    },
    verdict: "undecided",
    reason: "no_node_answered",
    problems: ["no_index"],
  },
  {
    name: "waiting, at a node without an index",
    run: async ({ node, plain, wallet }, see) => {
      const txId = await node.pay({ address: wallet, sat: SAT });
      await plain.hearOf(txId);
      const seen = await see({ txId }, { nodes: { plain: plain.url } });
      await node.mine(1);
      return seen;
    },
    verdict: "pending",
    problems: [],
  },
  {
    name: "in a block, at a node without an index and one with it",
    run: async ({ node, plain, wallet }, see) => {
      const txId = await node.settle({ address: wallet, sat: SAT });
      await plain.follow(node);
      const nodes = { own: node.url, plain: plain.url };
      return await see({ txId }, { nodes, quorum: 1 });
    },
    verdict: "delivered",
    nodes: ["own"],
    problems: ["no_index"],
  },
  {
    name: "both nodes have to agree, and one has no index",
    run: async ({ node, plain, wallet }, see) => {
      const txId = await node.settle({ address: wallet, sat: SAT });
      await plain.follow(node);
      const nodes = { own: node.url, plain: plain.url };
      return await see({ txId }, { nodes });
    },
    verdict: "undecided",
    reason: "no_quorum",
    problems: ["no_index"],
  },
  {
    name: "Core and Esplora that agree on outputs, place and block",
    run: async ({ node, esploraUrl, wallet, stranger }, see) => {
      const txId = await node.settle(
        { address: stranger, sat: 9_000 },
        { address: wallet, sat: SAT },
      );
      const nodes: Record<string, string | NodeSettings> = {
        own: node.url,
        esplora: { url: esploraUrl, kind: "esplora" },
      };
      return await see({ txId }, { nodes });
    },
    verdict: "delivered",
    arrived: AMOUNT,
    index: 1,
    final: true,
    nodes: ["own", "esplora"],
    problems: [],
  },
  {
    name: "a node that does not take the password",
    run: ({ node }, see) =>
      see({ txId: "ad".repeat(32) }, { nodes: { own: node.urlWithoutAccess } }),
    verdict: "undecided",
    reason: "no_node_answered",
    problems: ["refused"],
  },
  {
    name: "a node of Core that is asked as Esplora",
    run: ({ node }, see) =>
      see({ txId: "ae".repeat(32) }, {
        nodes: { own: { url: node.url, kind: "esplora" } },
      }),
    verdict: "wrong_chain",
    problems: ["wrong_chain"],
  },
];

function lookAt(
  world: World,
  nodes: ChainSettings["nodes"],
): See {
  return (question, { nowMs, ...settings } = {}) => {
    const { genesis, wallet } = world;
    return createChainWitness({
      chains: readChains({
        bitcoin: {
          nodes,
          confirmations: 1,
          genesis,
          prefix: PREFIX,
          ...settings,
        },
      }),
      ...(nowMs === undefined ? {} : { now: () => nowMs }),
    }).look({
      network: "bitcoin",
      asset: "BTC",
      address: wallet,
      amount: AMOUNT,
      ...question,
    });
  };
}

async function holds(one: Case, world: World, see: See): Promise<void> {
  const seen = await one.run(world, see);
  const told = JSON.stringify(seen);
  assert.equal(seen.verdict, one.verdict, told);
  assert.equal(seen.reason, one.reason ?? null, told);
  for (const field of ["arrived", "confirmations", "final"] as const) {
    if (one[field] !== undefined) assert.equal(seen[field], one[field], told);
  }
  const { index, nodes, problems } = seen.evidence;
  if (one.index !== undefined) assert.equal(index, one.index, told);
  if (one.nodes !== undefined) assert.deepEqual(nodes, one.nodes);
  assert.deepEqual(
    problems.map(({ problem }) => problem),
    one.problems ?? [],
  );
  assert.doesNotMatch(told, /hunter2|127\.0\.0\.1/);
}

Deno.test("look() says of each case on a real chain of Bitcoin's family what happened", async (t) => {
  await using node = await startLitecoind();
  await using plain = await startLitecoind({ txIndex: false, following: node });
  await using esplora = serveEsplora(node);
  const world: World = {
    node,
    plain,
    esploraUrl: esplora.url,
    genesis: String(await node.call("getblockhash", 0)),
    wallet: await node.newAddress("bech32"),
    stranger: await node.newAddress("bech32"),
  };
  const urls = { core: node.url, esplora: esplora.url };
  for (const kind of KINDS) {
    const see = lookAt(world, { own: { url: urls[kind], kind } });
    for (const one of CASES) {
      await t.step(`${kind}: ${one.name}`, () => holds(one, world, see));
    }
  }
  const see = lookAt(world, {});
  for (const one of OF_NODES) {
    await t.step(one.name, () => holds(one, world, see));
  }
});
