/** Asks nodes of Bitcoin's family: Core by JSON-RPC, an Esplora server by HTTP. */
import { isRecord } from "../core/guards.ts";
import { isDecimal, unitsOfDecimal } from "../core/decimal.ts";
import type { Chain } from "./chains_file.ts";
import { type HttpNode, NodeFailure, parsed, RpcError } from "./http_node.ts";
import type { BlockPlace } from "./transfer.ts";
import type { ChainReader } from "./verdict.ts";

/** What a node of either kind shows of a transaction. */
interface Seen {
  readonly block: BlockPlace | null;
  readonly outputs: () => readonly Output[];
}

interface Output {
  /** No text where it goes to no address, or to several together. */
  readonly address: unknown;
  readonly units: () => bigint;
  readonly index: number;
}

/** Asks Core, which needs the index of transactions (`txindex=1`). */
export const core: Asking = asked((node) => {
  const header = async (hash: unknown) =>
    recordOf(await node.call("getblockheader", [hash]));
  return {
    hashAt: async (height) => textOf(await node.call("getblockhash", [height])),
    newest: async () => {
      const { height, time } = await header(
        await node.call("getbestblockhash", []),
      );
      return { tip: integer(height), tipMs: integer(time) * 1000 };
    },
    seen: async (txId) => {
      const found = await rawTransaction(node, txId);
      if (found === null) return null;
      const { blockhash: hash } = found;
      return {
        block: typeof hash === "string"
          ? {
            blockHash: hash,
            blockHeight: integer((await header(hash)).height),
          }
          : null,
        outputs: () =>
          listOf(found.vout).map(({ scriptPubKey, value, n }) => {
            const script = isRecord(scriptPubKey) ? scriptPubKey : {};
            // `addresses` is of before version 22 of Core.
            const addresses = Array.isArray(script.addresses)
              ? script.addresses
              : [script.address];
            return {
              address: addresses.length === 1 ? addresses[0] : null,
              units: () => {
                if (typeof value !== "string" || !isDecimal(value)) {
                  throw new NodeFailure("bad_answer");
                }
                return unitsOfDecimal(value, DECIMALS);
              },
              index: integer(n),
            };
          }),
      };
    },
  };
});

/** Asks an Esplora server. */
export const esplora: Asking = asked((node) => ({
  hashAt: async (height) =>
    (await node.get(`/block-height/${height}`))?.trim() ?? null,
  newest: async () => {
    const hash = await node.get("/blocks/tip/hash");
    const block = await node.get(`/block/${(hash ?? "").trim()}`);
    const { height, timestamp } = recordOf(parsed(block ?? ""));
    return { tip: integer(height), tipMs: integer(timestamp) * 1000 };
  },
  seen: async (txId) => {
    const text = await node.get(`/tx/${encodeURIComponent(txId)}`);
    if (text === null) return null;
    const { status, vout } = recordOf(parsed(text));
    return {
      block: isRecord(status) && status.confirmed === true
        ? {
          blockHash: textOf(status.block_hash),
          blockHeight: integer(status.block_height),
        }
        : null,
      outputs: () =>
        listOf(vout).map(({ scriptpubkey_address, value }, index) => ({
          address: scriptpubkey_address,
          units: () => BigInt(integer(value)),
          index,
        })),
    };
  },
}));

type Asking = (node: HttpNode, chain: Chain) => ChainReader;

/** What both kinds have alike. */
function asked(
  ask: (node: HttpNode) => Pick<ChainReader, "hashAt" | "newest"> & {
    readonly seen: (txId: string) => Promise<Seen | null>;
  },
): Asking {
  return (node, chain) => {
    const { seen, ...reader } = ask(node);
    return {
      ...reader,
      isOfChain: async () => await reader.hashAt(0) === chain.genesis,
      transaction: async ({ txId, address }) => {
        const found = await seen(txId);
        return found && {
          block: found.block,
          effect: () => ({
            kind: "paid",
            payments: found.outputs()
              .filter((output) => isSameAddress(output.address, address, chain))
              .map(({ units, index }) => ({ units: units(), index })),
          }),
        };
      },
    };
  };
}

/** Core's code for what it does not find. */
const NOT_FOUND = -5;

const DECIMALS = 8;

async function rawTransaction(
  node: HttpNode,
  txId: string,
): Promise<Readonly<Record<string, unknown>> | null> {
  try {
    return recordOf(await node.call("getrawtransaction", [txId, true]));
  } catch (error) {
    if (!(error instanceof RpcError) || error.code !== NOT_FOUND) throw error;
    // "... are still in the process of being indexed": it has not read all.
    if (/being indexed/i.test(error.message)) throw new NodeFailure("syncing");
    // "Use -txindex or provide a block hash": it has not looked into blocks.
    if (/txindex/i.test(error.message)) throw new NodeFailure("no_index");
    return null;
  }
}

/** SegWit addresses may be written in either case, others may not. */
function isSameAddress(
  shown: unknown,
  address: string,
  { prefix }: Chain,
): boolean {
  if (typeof shown !== "string") return false;
  if (shown === address) return true;
  const lower = address.toLowerCase();
  return lower.startsWith(`${prefix}1`) && shown.toLowerCase() === lower;
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(value)) throw new NodeFailure("bad_answer");
  return value;
}

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value)) throw new NodeFailure("bad_answer");
  return value.map(recordOf);
}

function textOf(value: unknown): string {
  if (typeof value !== "string") throw new NodeFailure("bad_answer");
  return value;
}

/** An integer that `parseExact` read. */
function integer(value: unknown): number {
  const number = typeof value === "string" && /^-?\d+$/.test(value)
    ? Number(value)
    : NaN;
  if (!Number.isSafeInteger(number)) throw new NodeFailure("bad_answer");
  return number;
}
