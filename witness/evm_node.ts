/** Asks a node of an EVM chain by JSON-RPC. */
import { isRecord } from "../core/guards.ts";
import type { Chain } from "./chains_file.ts";
import { type HttpNode, NodeFailure, RpcError } from "./http_node.ts";
import type { BlockPlace } from "./transfer.ts";
import type { ChainReader, Effect, Payment, Target } from "./verdict.ts";

type Json = Readonly<Record<string, unknown>>;

/** Topic of a token's `Transfer` log. */
const TRANSFER =
  "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/** Asks a node of an EVM chain. */
export function evm(node: HttpNode, { chainId }: Chain): ChainReader {
  const blockAt = async (at: string): Promise<Json | null> => {
    const block = await node.call("eth_getBlockByNumber", [at, false]);
    return isRecord(block) && typeof block.hash === "string" ? block : null;
  };
  return {
    isOfChain: async () =>
      numberOf(await node.call("eth_chainId", [])) === chainId,
    // As a block: an address before the node may answer `eth_blockNumber` from
    // a cache, and nothing ever has a confirmation.
    newest: async () => {
      const block = await blockAt("latest");
      if (block === null) throw new NodeFailure("syncing");
      const tipMs = numberOf(block.timestamp) * 1000;
      return { tip: numberOf(block.number), tipMs };
    },
    hashAt: async (height) => {
      const block = await blockAt(hexOfNumber(height));
      return block && hexOf(block.hash);
    },
    transaction: async (target) => {
      const { txId } = target;
      const receipt = await node.call("eth_getTransactionReceipt", [txId]);
      if (isRecord(receipt)) {
        const block = placeOf(receipt);
        return { block, effect: () => effectOf(node, receipt, target, block) };
      }
      const sent = await node.call("eth_getTransactionByHash", [txId]);
      return isRecord(sent)
        ? {
          block: typeof sent.blockHash === "string" ? placeOf(sent) : null,
          effect: () => RECEIPT_MISSING,
        }
        : null;
    },
  };
}

const RECEIPT_MISSING: Effect = { kind: "unclear", reason: "receipt_missing" };
const CANNOT_TRACE: Effect = { kind: "unclear", reason: "cannot_trace" };

function placeOf({ blockHash, blockNumber }: Json): BlockPlace {
  return { blockHash: hexOf(blockHash), blockHeight: numberOf(blockNumber) };
}

async function effectOf(
  node: HttpNode,
  receipt: Json,
  target: Target,
  block: BlockPlace,
): Promise<Effect> {
  // Receipts of before Byzantium have no status.
  if (typeof receipt.status !== "string") return RECEIPT_MISSING;
  if (numberOf(receipt.status) !== 1) return { kind: "reverted" };
  const { token, call } = target;
  if (call !== null) return await calledOf(node, target, call);
  if (token !== null) {
    const payments = transfersOf(receipt.logs, token, target.address);
    return { kind: "paid", payments };
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
      `0x${hexOf(to).slice(-40)}` === address.toLowerCase() && from !== to;
    return isTransfer
      ? [{ units: unitsOfHex(data), index: numberOf(log.logIndex) }]
      : [];
  });
}

async function nativeOf(
  node: HttpNode,
  { txId, address }: Target,
  { blockHeight }: BlockPlace,
): Promise<Effect> {
  const { to, value } = await transactionOf(node, txId);
  const whom = address.toLowerCase();
  if (to === whom) {
    const payments = [{ units: unitsOfHex(value), index: null }];
    return { kind: "paid", payments };
  }
  if (to !== null && await isPlainAccount(node, to, blockHeight)) {
    return { kind: "paid", payments: [] };
  }
  const calls = await trace(node, txId);
  if (calls === null) return CANNOT_TRACE;
  return {
    kind: "paid",
    payments: calls
      .filter((call) =>
        MOVING.has(call.kind) && call.to === whom && call.from !== whom
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
    const code = await node.call("eth_getCode", [address, hexOfNumber(height)]);
    return code === "0x";
  } catch (error) {
    // The state of that block is gone: a trace has to show it.
    if (error instanceof RpcError) return false;
    throw error;
  }
}

async function calledOf(
  node: HttpNode,
  { txId }: Target,
  { address, inputData }: NonNullable<Target["call"]>,
): Promise<Effect> {
  const isCall = ({ to, input }: Pick<TracedCall, "to" | "input">) =>
    to === address.toLowerCase() &&
    (inputData === null || input === inputData.toLowerCase());
  const { to, input } = await transactionOf(node, txId);
  if (isCall({ to, input: hexOf(input) })) {
    return { kind: "called", succeeded: true };
  }
  const calls = await trace(node, txId);
  if (calls === null) return CANNOT_TRACE;
  // A static call changes nothing, and borrowed code nothing of the contract.
  const succeeded = calls.some((call) => call.kind === "call" && isCall(call));
  return { kind: "called", succeeded };
}

async function transactionOf(
  node: HttpNode,
  txId: string,
): Promise<Json & { readonly to: string | null }> {
  const found = await node.call("eth_getTransactionByHash", [txId]);
  if (!isRecord(found)) throw new NodeFailure("pruned");
  return {
    ...found,
    to: typeof found.to === "string" ? hexOf(found.to) : null,
  };
}

/** A call inside of a transaction that was not undone. */
interface TracedCall {
  readonly from: string;
  /** Null where a contract was made. */
  readonly to: string | null;
  /** Of the chain's asset, in smallest units. */
  readonly value: bigint;
  /** Kind of the call, in lower case. */
  readonly kind: string;
  /** In hex. */
  readonly input: string;
}

/** Kinds of a call that move value: code that is borrowed moves none. */
const MOVING: ReadonlySet<string> = new Set([
  "call",
  "selfdestruct",
  "suicide",
]);

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

/**
 * Reads a trace of either kind: the tree of `callTracer`, or the list of
 * `trace_transaction`. What happened below a call that failed is undone, and
 * left out.
 */
function callsOfTrace(trace: unknown): readonly TracedCall[] | null {
  if (isRecord(trace)) {
    return typeof trace.from === "string" ? callsOfTree(trace) : null;
  }
  return Array.isArray(trace) && trace.length > 0
    ? callsOfList(trace.filter(isRecord))
    : null;
}

function callsOfTree(root: Json): readonly TracedCall[] {
  const calls: TracedCall[] = [];
  const open = [root];
  for (let frame = open.pop(); frame !== undefined; frame = open.pop()) {
    if (hasFailed(frame)) continue;
    calls.push(callOf(frame, frame.type));
    if (Array.isArray(frame.calls)) open.push(...frame.calls.filter(isRecord));
  }
  return calls;
}

function callsOfList(steps: readonly Json[]): readonly TracedCall[] {
  const undone = steps.filter(hasFailed).map(pathOf);
  return steps.flatMap((step) => {
    const { action, type } = step;
    const path = pathOf(step);
    return isRecord(action) && !undone.some((one) => path.startsWith(one))
      ? [callOf(action, type === "call" ? action.callType : type)]
      : [];
  });
}

/** Some nodes write `null` where nothing failed. */
function hasFailed({ error }: Json): boolean {
  return error !== undefined && error !== null;
}

/** Where a step stands in the tree: `/0/2/`. */
function pathOf({ traceAddress }: Json): string {
  return Array.isArray(traceAddress)
    ? `/${traceAddress.map((at) => `${at}/`).join("")}`
    : "/";
}

function callOf(frame: Json, type: unknown): TracedCall {
  // A contract that ends itself gives what it has to `refundAddress`.
  const to = frame.to ?? frame.refundAddress;
  const value = frame.value ?? frame.balance;
  return {
    from: lower(frame.from ?? frame.address) ?? "",
    to: lower(to),
    value: typeof value === "string" && /^0x[0-9a-fA-F]+$/.test(value)
      ? BigInt(value)
      : 0n,
    kind: String(type).toLowerCase(),
    input: lower(frame.input) ?? "0x",
  };
}

function lower(value: unknown): string | null {
  return typeof value === "string" ? value.toLowerCase() : null;
}

function hexOf(value: unknown): string {
  if (typeof value !== "string" || !/^0x[0-9a-fA-F]*$/.test(value)) {
    throw new NodeFailure("bad_answer");
  }
  return value.toLowerCase();
}

function hexOfNumber(number: number): string {
  return `0x${number.toString(16)}`;
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
