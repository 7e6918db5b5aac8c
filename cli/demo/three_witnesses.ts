import type { Ledger, OrderView } from "../../ledger/mod.ts";
import type { SandboxOrder } from "../../sandbox/mod.ts";
import {
  createChainWitness,
  createWatcher,
  readChains,
} from "../../witness/mod.ts";
import type { DemoChain } from "./demo_chain.ts";

/** What was asked for, what the service confirms, and what arrived. */
export interface DemoWitness {
  /** Orders that the shop asked for. */
  readonly asked: number;
  /** Of these, orders that the service confirms as paid. */
  readonly confirmed: number;
  /** Of these, orders whose crypto the chain shows in full, and final. */
  readonly arrived: number;
  /** Of these, orders on networks that this version cannot ask. */
  readonly notLookedAt: number;
  /** Orders that may be released. */
  readonly released: number;
  /** The order that was paid short on purpose. */
  readonly shortOrderId: string;
  /** Orders that are held because the chain shows something else. */
  readonly held: readonly HeldOrder[];
}

/** An order for which something other than the service says has arrived. */
export interface HeldOrder {
  /** The order. */
  readonly orderId: string;
  /** What the service states, a plain decimal; null where it states nothing. */
  readonly amount: string | null;
  /** What arrived, a plain decimal; null where that is not known. */
  readonly arrived: string | null;
}

const TABLE = "sandbox";
/** A shop asks before the customer is in the widget. */
const ASKED_BEFORE_MS = 1000;

/** Records what the shop asked for: each order as it was when it was made. */
export async function recordAsked(
  ledger: Ledger,
  orders: readonly SandboxOrder[],
): Promise<void> {
  // On a slow machine the clock of the demo overtakes ours.
  const latestMs = Date.now();
  for (const [at, order] of orders.entries()) {
    const askedMs = Math.min(order.createdAtMs - ASKED_BEFORE_MS, latestMs);
    const { clickId, currency, currencyAmount, commodity, network } = order;
    await ledger.expect({
      clickId,
      reference: `basket-${at + 1}`,
      currency,
      currencyAmount,
      commodity,
      network,
      askedAt: new Date(askedMs).toISOString(),
    });
  }
}

/**
 * Looks at the transaction of each success, and records what there is.
 *
 * @param ledger The ledger.
 * @param chain Whose nodes are asked.
 * @param options When all orders have ended, in ms since the epoch.
 */
export async function lookAtAll(
  ledger: Ledger,
  { nodes }: DemoChain,
  { endedMs, signal }: {
    readonly endedMs: number;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const chains = readChains(nodes, TABLE);
  const witness = createChainWitness({ chains, assets: TABLE });
  const now = () => Math.max(Date.now(), endedMs);
  await createWatcher({ ledger, witness, chains, now }).once({ signal });
  await ledger.project({ signal });
}

/** Counts what the three say of the orders. */
export function countWitnesses(
  orders: readonly OrderView[],
  shortOrderId: string,
): DemoWitness {
  const confirmed = orders.filter(({ status, trust }) =>
    status === "success" && trust === "confirmed"
  );
  const count = (of: (order: OrderView) => boolean) =>
    confirmed.filter(of).length;
  return {
    asked: orders.filter(({ expected }) => expected !== null).length,
    confirmed: confirmed.length,
    arrived: count(({ witness }) =>
      witness?.verdict === "delivered" && witness.final
    ),
    notLookedAt: count(({ witness }) => witness === null),
    released: orders.filter(({ release }) => release === "yes").length,
    shortOrderId,
    held: confirmed
      .filter(({ releaseReason }) => releaseReason === "chain_differs")
      .map(({ orderId, witness }) => ({
        orderId,
        amount: witness?.amount ?? null,
        arrived: witness?.arrived ?? null,
      })),
  };
}

/** Whether all that was confirmed arrived, but for the one order. */
export function isAsPlanned(
  { confirmed, arrived, notLookedAt, held, shortOrderId }: DemoWitness,
): boolean {
  const [first, ...others] = held;
  return first?.orderId === shortOrderId && others.length === 0 &&
    arrived + notLookedAt + held.length === confirmed;
}
