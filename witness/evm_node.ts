import { isRecord } from "../core/guards.ts";
import {
  type Effect,
  type Finding,
  type NewestBlock,
  NodeFailure,
  type Payment,
} from "./finding.ts";
import type { BlockPlace } from "./transfer.ts";
import { callsOfTrace, type TracedCall } from "./call_trace.ts";
import { type HttpNode, RpcError } from "./http_node.ts";

/** What is looked for in a transaction of an EVM chain. */
export interface EvmTarget {
  /** Id of the chain. */
  readonly chainId: number;
  /** The transaction. */
  readonly txId: string;
  /** Address that should have been paid. */
  readonly address: string;
  /** Contract of the token; null for the chain's own asset. */
  readonly token: string | null;
  /** Call that should have succeeded, in place of a payment. */
  readonly call: {
    readonly address: string;
    readonly inputData: string | null;
  } | null;
  /** Block in which it was seen before. */
  readonly before: BlockPlace | null;
}

/** What a node of an EVM chain shows, and how far it has come. */
export interface NodeFinding extends NewestBlock {
  /** Where it has the transaction, and what that did. */
  readonly finding: Finding;
}

const TRANSFER =
  "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/**
 * Asks one node of an EVM chain.
 *
 * The newest block is read as a block: an address before the node may answer
 * `eth_blockNumber` from a cache, and nothing ever has a confirmation. Payouts
 * from inside a contract are found by tracing: the transaction's own value
 * does not have them.
 *
 * @param node The node.
 * @param target What is looked for.
 * @returns What it shows.
 * @throws {NodeFailure} When it cannot be used.
 */
export async function askEvmNode(
  node: HttpNode,
  target: EvmTarget,
): Promise<NodeFinding> {
  try {
    return await look(node, target);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    throw new NodeFailure(
      isPruned(error.message) ? "pruned" : "bad_answer",
    );
  }
}

/**
 * Asks a node of an EVM chain for its newest block.
 *
 * @param chainId Id of the chain that it should serve.
 * @throws {NodeFailure} When it cannot be used.
 */
export async function newestOfEvm(
  node: HttpNode,
  chainId: number,
): Promise<NewestBlock> {
  await checkChain(node, chainId);
  return await newestBlock(node);
}

async function checkChain(node: HttpNode, chainId: number): Promise<void> {
  if (numberOf(await node.call("eth_chainId", [])) !== chainId) {
    throw new NodeFailure("wrong_chain");
  }
}

async function newestBlock(node: HttpNode): Promise<NewestBlock> {
  const newest = blockOf(
    await node.call("eth_getBlockByNumber", ["latest", false]),
  );
  if (newest === null) throw new NodeFailure("syncing");
  return { tip: newest.height, tipMs: newest.timeMs };
}

async function look(node: HttpNode, target: EvmTarget): Promise<NodeFinding> {
  await checkChain(node, target.chainId);
  const receipt = await node.call("eth_getTransactionReceipt", [target.txId]);
  const at = await newestBlock(node);
  const { tip } = at;
  if (!isRecord(receipt)) {
    return { ...at, finding: await withoutReceipt(node, target, tip) };
  }
  const block = {
    blockHash: hexOf(receipt.blockHash),
    blockHeight: numberOf(receipt.blockNumber),
  };
  const canonical = await canonicalHash(node, block.blockHeight);
  if (canonical !== block.blockHash) {
    return { ...at, finding: dropped(block, tip) };
  }
  return {
    ...at,
    finding: {
      place: "block",
      block,
      confirmations: Math.max(1, tip - block.blockHeight + 1),
      effect: await effectOf(node, receipt, target, block),
    },
  };
}

async function withoutReceipt(
  node: HttpNode,
  { txId, before }: EvmTarget,
  tip: number,
): Promise<Finding> {
  const transaction = await node.call("eth_getTransactionByHash", [txId]);
  if (isRecord(transaction) && typeof transaction.blockHash === "string") {
    // In a block, and its receipt is gone.
    return {
      place: "block",
      block: {
        blockHash: hexOf(transaction.blockHash),
        blockHeight: numberOf(transaction.blockNumber),
      },
      confirmations: Math.max(
        1,
        tip - numberOf(transaction.blockNumber) + 1,
      ),
      effect: { kind: "unclear", reason: "receipt_missing" },
    };
  }
  if (before !== null && before.blockHeight <= tip) {
    const canonical = await canonicalHash(node, before.blockHeight);
    if (canonical !== null && canonical !== before.blockHash.toLowerCase()) {
      return dropped(before, tip);
    }
  }
  return { place: isRecord(transaction) ? "waiting" : "unknown" };
}

function dropped(block: BlockPlace, tip: number): Finding {
  const depth = Math.max(0, tip - block.blockHeight + 1);
  return { place: "dropped", block, depth };
}

async function canonicalHash(
  node: HttpNode,
  height: number,
): Promise<string | null> {
  const block = await node.call("eth_getBlockByNumber", [
    `0x${height.toString(16)}`,
    false,
  ]);
  return blockOf(block)?.hash ?? null;
}

async function effectOf(
  node: HttpNode,
  receipt: Readonly<Record<string, unknown>>,
  target: EvmTarget,
  block: BlockPlace,
): Promise<Effect> {
  // Receipts of before Byzantium have no status.
  if (typeof receipt.status !== "string") {
    return { kind: "unclear", reason: "receipt_missing" };
  }
  if (numberOf(receipt.status) !== 1) return { kind: "reverted" };
  if (target.call !== null) return await calledOf(node, target, target.call);
  if (target.token !== null) {
    return {
      kind: "paid",
      payments: transfersOf(receipt.logs, target.token, target.address),
    };
  }
  return await nativeOf(node, target, block);
}

/** What a token's `Transfer` logs say that an address got. */
function transfersOf(
  logs: unknown,
  token: string,
  address: string,
): readonly Payment[] {
  if (!Array.isArray(logs)) throw new NodeFailure("bad_answer");
  return logs.filter(isRecord).flatMap((log) => {
    const { topics, data } = log;
    if (!Array.isArray(topics) || topics.length !== 3) return [];
    const [event, from, to] = topics;
    const isTransfer = hexOf(log.address) === token.toLowerCase() &&
      log.removed !== true && hexOf(event) === TRANSFER &&
      addressOfTopic(to) === address.toLowerCase() && from !== to;
    return isTransfer
      ? [{ units: unitsOfHex(data), index: numberOf(log.logIndex) }]
      : [];
  });
}

async function nativeOf(
  node: HttpNode,
  { txId, address }: EvmTarget,
  { blockHeight }: BlockPlace,
): Promise<Effect> {
  const transaction = await transactionOf(node, txId);
  const to = typeof transaction.to === "string" ? hexOf(transaction.to) : null;
  if (to === address.toLowerCase()) {
    return {
      kind: "paid",
      payments: [{ units: unitsOfHex(transaction.value), index: null }],
    };
  }
  if (to !== null && await isPlainAccount(node, to, blockHeight)) {
    return { kind: "paid", payments: [] };
  }
  const calls = await trace(node, txId);
  if (calls === null) return { kind: "unclear", reason: "cannot_trace" };
  return {
    kind: "paid",
    payments: calls
      .filter((call) =>
        call.moves && call.to === address.toLowerCase() && call.from !== call.to
      )
      .map(({ value }) => ({ units: value, index: null })),
  };
}

/** Whether an address has no code, so that nothing can happen inside it. */
async function isPlainAccount(
  node: HttpNode,
  address: string,
  height: number,
): Promise<boolean> {
  try {
    const code = await node.call("eth_getCode", [
      address,
      `0x${height.toString(16)}`,
    ]);
    return code === "0x";
  } catch (error) {
    // The state of that block is gone: a trace has to show it.
    if (error instanceof RpcError) return false;
    throw error;
  }
}

async function calledOf(
  node: HttpNode,
  { txId }: EvmTarget,
  call: { readonly address: string; readonly inputData: string | null },
): Promise<Effect> {
  const transaction = await transactionOf(node, txId);
  const isCall = (to: string | null, input: string) =>
    to === call.address.toLowerCase() &&
    (call.inputData === null || input === call.inputData.toLowerCase());
  const to = typeof transaction.to === "string" ? hexOf(transaction.to) : null;
  if (isCall(to, hexOf(transaction.input))) {
    return { kind: "called", succeeded: true };
  }
  const calls = await trace(node, txId);
  if (calls === null) return { kind: "unclear", reason: "cannot_trace" };
  return {
    kind: "called",
    succeeded: calls.some(({ to, input }) => isCall(to, input)),
  };
}

async function transactionOf(
  node: HttpNode,
  txId: string,
): Promise<Readonly<Record<string, unknown>>> {
  const found = await node.call("eth_getTransactionByHash", [txId]);
  if (!isRecord(found)) throw new NodeFailure("pruned");
  return found;
}

/** Every call of a transaction that was not undone; null where a node cannot trace. */
async function trace(
  node: HttpNode,
  txId: string,
): Promise<readonly TracedCall[] | null> {
  const ways = [
    ["debug_traceTransaction", [txId, { tracer: "callTracer" }]],
    ["trace_transaction", [txId]],
  ] as const;
  for (const [method, params] of ways) {
    try {
      const calls = callsOfTrace(await node.call(method, params));
      if (calls !== null) return calls;
    } catch (error) {
      // Not offered, not allowed, or the state of that block is gone.
      const isClosed = error instanceof RpcError ||
        (error instanceof NodeFailure &&
          (error.problem === "refused" || error.problem === "bad_answer"));
      if (!isClosed) throw error;
    }
  }
  return null;
}

function blockOf(
  block: unknown,
): { readonly hash: string; height: number; timeMs: number } | null {
  if (!isRecord(block) || typeof block.hash !== "string") return null;
  return {
    hash: hexOf(block.hash),
    height: numberOf(block.number),
    timeMs: numberOf(block.timestamp) * 1000,
  };
}

function addressOfTopic(topic: unknown): string {
  return `0x${hexOf(topic).slice(-40)}`;
}

function isPruned(message: string): boolean {
  return /prun|missing trie node|history (?:is )?(?:not|un)available|state (?:is )?not available/i
    .test(message);
}

function hexOf(value: unknown): string {
  if (typeof value !== "string" || !/^0x[0-9a-fA-F]*$/.test(value)) {
    throw new NodeFailure("bad_answer");
  }
  return value.toLowerCase();
}

function numberOf(value: unknown): number {
  const number = Number(unitsOfHex(value));
  if (!Number.isSafeInteger(number)) throw new NodeFailure("bad_answer");
  return number;
}

function unitsOfHex(value: unknown): bigint {
  const text = hexOf(value);
  if (text.length > 66) throw new NodeFailure("bad_answer");
  return text === "0x" ? 0n : BigInt(text);
}
