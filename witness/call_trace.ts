import { isRecord } from "../core/guards.ts";

/** A call inside of a transaction that was not undone. */
export interface TracedCall {
  /** Who called. */
  readonly from: string;
  /** Who was called; null where a contract was made. */
  readonly to: string | null;
  /** How much of the chain's asset went along, in smallest units. */
  readonly value: bigint;
  /** Whether the value moved: code that is borrowed moves none. */
  readonly moves: boolean;
  /** Input in hex. */
  readonly input: string;
}

/** Kinds of a call that move value. */
const MOVING = new Set(["call", "selfdestruct", "suicide"]);

/**
 * Reads a trace of either kind: the tree of `callTracer`, or the list of
 * `trace_transaction`. What happened below a call that failed is undone, and
 * left out.
 *
 * @param trace The node's answer.
 * @returns The calls; null where it is not a trace.
 */
export function callsOfTrace(trace: unknown): readonly TracedCall[] | null {
  if (isRecord(trace)) {
    return typeof trace.from === "string" ? callsOfTree(trace) : null;
  }
  return Array.isArray(trace) && trace.length > 0
    ? callsOfList(trace.filter(isRecord))
    : null;
}

function callsOfTree(
  root: Readonly<Record<string, unknown>>,
): readonly TracedCall[] {
  const calls: TracedCall[] = [];
  const open = [root];
  for (let frame = open.pop(); frame !== undefined; frame = open.pop()) {
    if (frame.error !== undefined) continue;
    calls.push(callOf(frame, frame.type));
    if (Array.isArray(frame.calls)) open.push(...frame.calls.filter(isRecord));
  }
  return calls;
}

function callsOfList(
  steps: readonly Readonly<Record<string, unknown>>[],
): readonly TracedCall[] {
  const undone = steps.filter(({ error }) => error !== undefined)
    .map(({ traceAddress }) => placeOf(traceAddress));
  return steps
    .filter(({ traceAddress }) => {
      const place = placeOf(traceAddress);
      return !undone.some((one) => place.startsWith(one));
    })
    .flatMap(({ action, type }) =>
      isRecord(action)
        ? [callOf(action, type === "call" ? action.callType : type)]
        : []
    );
}

/** Where a step stands in the tree: `/0/2/`. */
function placeOf(traceAddress: unknown): string {
  return Array.isArray(traceAddress)
    ? `/${traceAddress.map((at) => `${at}/`).join("")}`
    : "/";
}

function callOf(
  frame: Readonly<Record<string, unknown>>,
  type: unknown,
): TracedCall {
  // A contract that ends itself gives what it has to `refundAddress`.
  const to = frame.to ?? frame.refundAddress;
  const value = frame.value ?? frame.balance;
  return {
    from: lower(frame.from ?? frame.address) ?? "",
    to: lower(to),
    value: typeof value === "string" && /^0x[0-9a-fA-F]+$/.test(value)
      ? BigInt(value)
      : 0n,
    moves: MOVING.has(String(type).toLowerCase()),
    input: lower(frame.input) ?? "0x",
  };
}

function lower(value: unknown): string | null {
  return typeof value === "string" ? value.toLowerCase() : null;
}
