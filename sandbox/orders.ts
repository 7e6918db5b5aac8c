import type { OrderEventType } from "../core/webhook_event/webhook_event.ts";
import type { OrderStatus } from "../core/wire/objects.ts";
import { Store } from "./store.ts";

/** An order as the sandbox has it. */
export interface SandboxOrder {
  /** Unique identifier, a ULID. */
  readonly orderId: string;
  /** Short identifier for people, six characters. */
  readonly externalOrderId: string;
  /** Click id of the widget session; may be empty. */
  readonly clickId: string;
  /** Widget session; null for NFT Checkout. */
  readonly sessionId: string | null;
  /** Who buys. */
  readonly userId: string;
  /** Card used. */
  readonly cardId: string;
  /** Card brand, upper case. */
  readonly cardBrand: string;
  /** Fiat currency, upper case. */
  readonly currency: string;
  /** Amount in `currency`, a decimal string. */
  readonly currencyAmount: string;
  /** Asset code as the asset table writes it. */
  readonly commodity: string;
  /** Network of the asset. */
  readonly network: string;
  /** Middle part of the dotted asset: `simple`, or `sc`. */
  readonly cryptoType: "simple" | "sc";
  /** Amount of the asset, a decimal string. */
  readonly cryptoAmount: string;
  /** Address the asset goes to. */
  readonly address: string;
  /** Address of the smart contract; NFT Checkout only. */
  readonly scAddress: string | null;
  /** Input data of the call; NFT Checkout only. */
  readonly scInputData: string | null;
  /** Fees as decimal strings; null when the answer leaves them out. */
  readonly fees: SandboxFees | null;
  /** Acquirer; null when the answer leaves it out. */
  readonly processedThrough: string | null;
  /** Authentication method of the payment. */
  readonly paymentType: string;
  /** Additional data of the service: any JSON value. */
  readonly additionalData: unknown;
  /** Status; a test may set one that is not documented. */
  readonly status: OrderStatus | (string & Record<never, never>);
  /** Payment error code, or empty. */
  readonly failReason: string;
  /** Text of a failure as webhooks state it, or empty. */
  readonly errorText: string;
  /** Transaction hash, or empty. */
  readonly txId: string;
  /** Whether the transfer was announced. */
  readonly transferStarted: boolean;
  /** Creation, in milliseconds since the epoch. */
  readonly createdAtMs: number;
  /** Last change, in milliseconds since the epoch. */
  readonly changedAtMs: number;
  /** Every status it had and since when, oldest first. */
  readonly history: readonly SandboxStep[];
}

/** Fees of an order; amounts in USD, percents as shares. */
export interface SandboxFees {
  /** The partner's fee in USD. */
  readonly partnerFee: string;
  /** The partner's fee as a share. */
  readonly partnerFeePercent: string;
  /** The service's fee in USD. */
  readonly serviceFee: string;
  /** The service's fee as a share. */
  readonly serviceFeePercent: string;
}

/** One entry of an order's history. */
export interface SandboxStep {
  /** Status taken. */
  readonly status: string;
  /** When, in milliseconds since the epoch. */
  readonly atMs: number;
}

/** Fields of a new order that the caller decides; the seed decides the rest. */
export type OrderInput = Partial<
  Omit<SandboxOrder, "orderId" | "createdAtMs" | "changedAtMs" | "history">
>;

/** The asset of an order in dotted form, lower case. */
export function dottedAsset(
  { commodity, cryptoType, network }: SandboxOrder,
): string {
  return `${commodity}.${cryptoType}.${network}`.toLowerCase();
}

/**
 * What can happen to an order:
 *
 * - `pay`: the user pressed Confirm and Pay; it is in progress.
 * - `authorise`: the payment went through; the asset is not sent yet.
 * - `transfer`: the transaction has one confirmation. It may be announced
 *   before or after the order is complete.
 * - `complete`, `fail`, `cancel`: success, failure, cancelled after payment.
 */
export type OrderStep =
  | "pay"
  | "authorise"
  | "transfer"
  | "complete"
  | "fail"
  | "cancel";

/** Facts a step may need. */
export interface StepFacts {
  /** When it happens, in milliseconds since the epoch. */
  readonly atMs: number;
  /** Transaction hash, for `transfer` and `complete`. */
  readonly txId: string;
  /** Payment error code, for `fail`. */
  readonly failReason: string;
  /** Text of the failure, for `fail`. */
  readonly errorText: string;
}

/** The statuses a step may follow, the one it leads to, its webhook. */
type StepRule = readonly [
  from: readonly string[],
  to: string | null,
  event: OrderEventType | null,
];

const STEPS: Readonly<Record<OrderStep, StepRule>> = {
  pay: [["created"], "progress", "payment_started"],
  authorise: [["progress"], "pending", null],
  transfer: [["progress", "pending", "success"], null, "transfer_started"],
  complete: [["progress", "pending"], "success", "order_complete"],
  fail: [["created", "progress", "pending"], "failed", "order_failed"],
  cancel: [["progress", "pending", "success"], "cancelled", "order_cancelled"],
};

/** Every step an order can take. */
export const ORDER_STEPS: readonly OrderStep[] = Object.keys(
  STEPS,
) as OrderStep[];

/**
 * The steps an order may take next.
 *
 * @returns The steps, in the order a person would look for them.
 *
 * @example What can happen to a new order
 * ```ts
 * import { nextSteps } from "@rampkit/onramp/sandbox";
 * import assert from "node:assert/strict";
 *
 * const order = { status: "created", transferStarted: false };
 * assert.deepEqual(nextSteps(order), ["pay", "fail"]);
 * ```
 */
export function nextSteps(
  order: Pick<SandboxOrder, "status" | "transferStarted">,
): OrderStep[] {
  return ORDER_STEPS.filter((step) =>
    STEPS[step][0].includes(order.status) &&
    !(step === "transfer" && order.transferStarted)
  );
}

/** Lets an order take a step; throws where it cannot. */
export function takeStep(
  order: SandboxOrder,
  step: OrderStep,
  facts: StepFacts,
): { readonly order: SandboxOrder; readonly event: OrderEventType | null } {
  if (!Object.hasOwn(STEPS, step)) {
    throw new RangeError(
      `Cannot advance order ${order.orderId}: "${step}" is not a step; use ` +
        ORDER_STEPS.join(", "),
    );
  }
  const [from, to, event] = STEPS[step];
  if (!nextSteps(order).includes(step)) {
    throw new RangeError(
      `Cannot ${step} order ${order.orderId}: its status is ${order.status}` +
        (step === "transfer" && order.transferStarted
          ? " and its transfer was announced"
          : `; allowed from ${from.join(", ")}`),
    );
  }
  const status = to ?? (order.status === "progress" ? "pending" : order.status);
  const { atMs, txId, failReason, errorText } = facts;
  return {
    event,
    order: {
      ...order,
      status,
      ...((step === "transfer" || step === "complete") &&
        { txId: order.txId || txId }),
      ...(step === "transfer" && { transferStarted: true }),
      ...(step === "fail" && { failReason, errorText }),
      changedAtMs: Math.max(atMs, order.changedAtMs),
      history: withStatus(order, status, atMs),
    },
  };
}

/** The history of an order that has a status from now on. */
export function withStatus(
  { status: before, history }: SandboxOrder,
  status: string,
  atMs: number,
): readonly SandboxStep[] {
  return status === before ? history : [...history, { status, atMs }];
}

/** `YYYY-MM-DD HH:MM:SS`, UTC: how orders state times. */
export function orderTime(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 19).replace("T", " ");
}

/** The same instant without its fraction of a second. */
export function wholeSecond(timeMs: number): number {
  return Math.floor(timeMs / 1000) * 1000;
}

/** Every order of the service. Creation times count in whole seconds. */
export class OrderStore extends Store<SandboxOrder> {
  readonly #byOtherId = new Map<string, Set<string>>();

  constructor() {
    super("order", ({ createdAtMs, orderId }) => ({
      timeMs: wholeSecond(createdAtMs),
      id: orderId,
    }));
  }

  override put(order: SandboxOrder): void {
    if (!this.isCursor(order.orderId)) {
      for (const id of [order.clickId, order.externalOrderId]) {
        const ids = this.#byOtherId.get(id) ?? new Set();
        this.#byOtherId.set(id, ids.add(order.orderId));
      }
    }
    super.put(order);
  }

  /** Orders with this order, click or external id. */
  override find(anyId: string): SandboxOrder[] {
    const ids = [anyId, ...this.#byOtherId.get(anyId) ?? []];
    return ids.flatMap((id) => super.find(id));
  }
}

/** What the service would say about an order, in the ledger's own forms. */
export interface OrderTruth extends
  Pick<
    SandboxOrder,
    | ("orderId" | "status" | "currency" | "currencyAmount")
    | ("cryptoAmount" | "txId" | "failReason" | "userId")
  > {
  /** Dotted asset, lower case. */
  readonly crypto: string;
  /** Last change, UTC, `YYYY-MM-DD HH:MM:SS`. */
  readonly changedAt: string;
}

/**
 * What the service would say about an order.
 *
 * @param order The order as the service has it.
 * @returns The same in the ledger's own forms.
 *
 * @example State what an order is
 * ```ts
 * import { createSandbox, truthOf } from "@rampkit/onramp/sandbox";
 * import assert from "node:assert/strict";
 *
 * const order = createSandbox().createOrder({ currencyAmount: "25" });
 * assert.equal(truthOf(order).currencyAmount, "25");
 * assert.equal(truthOf(order).status, "created");
 * ```
 */
export function truthOf(order: SandboxOrder): OrderTruth {
  const { orderId, status, currency, currencyAmount } = order;
  const { cryptoAmount, txId, failReason, userId, changedAtMs } = order;
  return {
    ...{ orderId, status, currency, currencyAmount },
    crypto: dottedAsset(order),
    ...{ cryptoAmount, txId, failReason, userId },
    changedAt: orderTime(changedAtMs),
  };
}
