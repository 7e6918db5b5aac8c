import { isRecord } from "../core/guards.ts";
import { parseExact } from "../core/json/exact_json.ts";
import { isDecimal } from "../core/decimal.ts";
import { unitsOfDecimal } from "./amounts.ts";
import {
  type Finding,
  type NewestBlock,
  NodeFailure,
  type Payment,
} from "./finding.ts";
import type { BlockPlace } from "./transfer.ts";
import type { NodeFinding } from "./evm_node.ts";
import { type HttpNode, RpcError } from "./http_node.ts";

/** What is looked for in a transaction of a chain of Bitcoin's family. */
export interface BitcoinTarget {
  /** Hash of the chain's first block: it identifies the chain. */
  readonly genesis: string;
  /** Beginning of its SegWit addresses, `bc`. */
  readonly prefix: string;
  /** The transaction. */
  readonly txId: string;
  /** Address that should have been paid. */
  readonly address: string;
  /** Block in which it was seen before. */
  readonly before: BlockPlace | null;
}

/** Decimals of the chain's asset. */
const DECIMALS = 8;

/** Core's code for what it does not find. */
const NOT_FOUND = -5;

/**
 * Asks a node of Bitcoin Core's family by JSON-RPC. It needs the index of
 * transactions (`txindex=1`), and says so where it has none.
 *
 * @param node The node.
 * @param target What is looked for.
 * @returns What it shows.
 * @throws {NodeFailure} When it cannot be used.
 */
export async function askCoreNode(
  node: HttpNode,
  target: BitcoinTarget,
): Promise<NodeFinding> {
  return await usable(() => lookAtCore(node, target));
}

/**
 * Asks a node of Bitcoin Core's family for its newest block.
 *
 * @param genesis Hash of the first block of the chain that it is to serve.
 * @throws {NodeFailure} When it cannot be used.
 */
export async function newestOfCore(
  node: HttpNode,
  genesis: string,
): Promise<NewestBlock> {
  return await usable(() => newestCoreBlock(node, genesis));
}

/** While it starts, Core answers every call with an error of its own. */
async function usable<Result>(ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    throw new NodeFailure(error.code === -28 ? "syncing" : "bad_answer");
  }
}

async function newestCoreBlock(
  node: HttpNode,
  genesis: string,
): Promise<NewestBlock> {
  if (await node.call("getblockhash", [0]) !== genesis) {
    throw new NodeFailure("wrong_chain");
  }
  const newest = await node.call("getbestblockhash", []);
  const header = await node.call("getblockheader", [newest]);
  if (!isRecord(header)) throw new NodeFailure("bad_answer");
  return { tip: integer(header.height), tipMs: integer(header.time) * 1000 };
}

async function lookAtCore(
  node: HttpNode,
  target: BitcoinTarget,
): Promise<NodeFinding> {
  const at = await newestCoreBlock(node, target.genesis);
  const { tip } = at;
  const found = await rawTransaction(node, target.txId);
  if (found === null || typeof found.blockhash !== "string") {
    const hashAt = (height: number) => node.call("getblockhash", [height]);
    return {
      ...at,
      finding: await inNoBlock(found !== null, target, tip, hashAt),
    };
  }
  const block = await node.call("getblockheader", [found.blockhash]);
  if (!isRecord(block)) throw new NodeFailure("bad_answer");
  const place = {
    blockHash: found.blockhash,
    blockHeight: integer(block.height),
  };
  if (integer(block.confirmations) < 1) {
    return { ...at, finding: dropped(place, tip) };
  }
  return {
    ...at,
    finding: inBlock(
      place,
      tip,
      outputsOfCore(found.vout, target),
    ),
  };
}

/** The transaction; null where the node, which has its index, knows none. */
async function rawTransaction(
  node: HttpNode,
  txId: string,
): Promise<Readonly<Record<string, unknown>> | null> {
  try {
    const found = await node.call("getrawtransaction", [txId, true]);
    if (!isRecord(found)) throw new NodeFailure("bad_answer");
    return found;
  } catch (error) {
    if (!(error instanceof RpcError) || error.code !== NOT_FOUND) throw error;
    // "... are still in the process of being indexed": it has not read all.
    if (/being indexed/i.test(error.message)) throw new NodeFailure("syncing");
    // "Use -txindex or provide a block hash": it has not looked into blocks.
    if (/txindex/i.test(error.message)) throw new NodeFailure("no_index");
    return null;
  }
}

function outputsOfCore(
  outputs: unknown,
  target: BitcoinTarget,
): readonly Payment[] {
  if (!Array.isArray(outputs)) throw new NodeFailure("bad_answer");
  return outputs.filter(isRecord).flatMap((output) => {
    const script = isRecord(output.scriptPubKey) ? output.scriptPubKey : {};
    // `addresses` is of before version 22 of Core.
    const addresses = Array.isArray(script.addresses)
      ? script.addresses
      : [script.address];
    const isPaid = addresses.length === 1 &&
      isSameAddress(addresses[0], target);
    if (!isPaid) return [];
    if (typeof output.value !== "string" || !isDecimal(output.value)) {
      throw new NodeFailure("bad_answer");
    }
    const units = unitsOfDecimal(output.value, DECIMALS);
    return [{ units, index: integer(output.n) }];
  });
}

async function hashOfHeight(
  node: HttpNode,
  height: number,
): Promise<string | null> {
  return (await node.get(`/block-height/${height}`))?.trim() ?? null;
}

/**
 * Asks an Esplora server for the newest block.
 *
 * @param genesis Hash of the first block of the chain that it is to serve.
 * @throws {NodeFailure} When it cannot be used.
 */
export async function newestOfEsplora(
  node: HttpNode,
  genesis: string,
): Promise<NewestBlock> {
  if (await hashOfHeight(node, 0) !== genesis) {
    throw new NodeFailure("wrong_chain");
  }
  const newest = await node.get("/blocks/tip/hash");
  const header = parsed(await node.get(`/block/${(newest ?? "").trim()}`));
  if (!isRecord(header)) throw new NodeFailure("bad_answer");
  const tipMs = integer(header.timestamp) * 1000;
  return { tip: integer(header.height), tipMs };
}

/**
 * Asks an Esplora server over HTTP.
 *
 * @param node The server.
 * @param target What is looked for.
 * @returns What it shows.
 * @throws {NodeFailure} When it cannot be used.
 */
export async function askEsplora(
  node: HttpNode,
  target: BitcoinTarget,
): Promise<NodeFinding> {
  const hashAt = (height: number) => hashOfHeight(node, height);
  const at = await newestOfEsplora(node, target.genesis);
  const { tip } = at;
  const text = await node.get(`/tx/${encodeURIComponent(target.txId)}`);
  const found = parsed(text);
  if (text !== null && !isRecord(found)) throw new NodeFailure("bad_answer");
  const status = isRecord(found) && isRecord(found.status) ? found.status : {};
  if (!isRecord(found) || status.confirmed !== true) {
    return {
      ...at,
      finding: await inNoBlock(text !== null, target, tip, hashAt),
    };
  }
  const blockHash = String(status.block_hash);
  const blockHeight = integer(status.block_height);
  if (await hashAt(blockHeight) !== blockHash) {
    return { ...at, finding: dropped({ blockHash, blockHeight }, tip) };
  }
  return {
    ...at,
    finding: inBlock(
      { blockHash, blockHeight },
      tip,
      outputsOfEsplora(found.vout, target),
    ),
  };
}

function outputsOfEsplora(
  outputs: unknown,
  target: BitcoinTarget,
): readonly Payment[] {
  if (!Array.isArray(outputs)) throw new NodeFailure("bad_answer");
  return outputs.flatMap((output, index) =>
    isRecord(output) && isSameAddress(output.scriptpubkey_address, target)
      ? [{ units: BigInt(integer(output.value)), index }]
      : []
  );
}

async function inNoBlock(
  isKnown: boolean,
  { before }: BitcoinTarget,
  tip: number,
  hashAt: (height: number) => Promise<unknown>,
): Promise<Finding> {
  if (before !== null && before.blockHeight <= tip) {
    const hash = await hashAt(before.blockHeight);
    if (hash !== before.blockHash) return dropped(before, tip);
  }
  return { place: isKnown ? "waiting" : "unknown" };
}

function dropped(block: BlockPlace, tip: number): Finding {
  const depth = Math.max(0, tip - block.blockHeight + 1);
  return { place: "dropped", block, depth };
}

function inBlock(
  block: BlockPlace,
  tip: number,
  payments: readonly Payment[],
): Finding {
  return {
    place: "block",
    block,
    confirmations: Math.max(1, tip - block.blockHeight + 1),
    effect: { kind: "paid", payments },
  };
}

/** SegWit addresses may be written in either case, others may not. */
function isSameAddress(
  shown: unknown,
  { address, prefix }: BitcoinTarget,
): boolean {
  if (typeof shown !== "string") return false;
  if (shown === address) return true;
  const lower = address.toLowerCase();
  return lower.startsWith(`${prefix}1`) && shown.toLowerCase() === lower;
}

function parsed(text: string | null): unknown {
  if (text === null) return null;
  try {
    return parseExact(text);
  } catch {
    return null;
  }
}

/** An integer that `parseExact` read. */
function integer(value: unknown): number {
  const number = typeof value === "string" && /^-?\d+$/.test(value)
    ? Number(value)
    : NaN;
  if (!Number.isSafeInteger(number)) throw new NodeFailure("bad_answer");
  return number;
}
