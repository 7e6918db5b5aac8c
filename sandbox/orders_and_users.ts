import type {
  OrderEventType,
  RejectType,
} from "../core/webhook_event/webhook_event.ts";
import type {
  OrderStep,
  OrderTruth,
  SandboxCard,
  SandboxOrder,
  SandboxStep,
  SandboxUser,
  StepFacts,
  UserStep,
} from "./sandbox.ts";
import { isBefore, type Place, Sorted, Store } from "./store.ts";

/** The asset of an order in dotted form, lower case. */
export function dottedAsset(
  { commodity, cryptoType, network }: SandboxOrder,
): string {
  return `${commodity}.${cryptoType}.${network}`.toLowerCase();
}

/** The statuses a step may follow, the one it leads to, its webhook. */
type StepRule = readonly [
  from: readonly string[],
  to: string | null,
  event: OrderEventType | null,
];

const ORDER_RULES: Readonly<Record<OrderStep, StepRule>> = {
  pay: [["created"], "progress", "payment_started"],
  authorise: [["progress"], "pending", null],
  transfer: [["progress", "pending", "success"], null, "transfer_started"],
  complete: [["progress", "pending"], "success", "order_complete"],
  fail: [["created", "progress", "pending"], "failed", "order_failed"],
  cancel: [["progress", "pending", "success"], "cancelled", "order_cancelled"],
};

/** Every step an order can take. */
export const ORDER_STEPS: readonly OrderStep[] = Object.keys(
  ORDER_RULES,
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
    ORDER_RULES[step][0].includes(order.status) &&
    !(step === "transfer" && order.transferStarted)
  );
}

/** Lets an order take a step; throws where it cannot. */
export function takeStep(
  order: SandboxOrder,
  step: OrderStep,
  facts: StepFacts,
): { readonly order: SandboxOrder; readonly event: OrderEventType | null } {
  if (!Object.hasOwn(ORDER_RULES, step)) {
    throw new RangeError(
      `Cannot advance order ${order.orderId}: "${step}" is not a step; use ` +
        ORDER_STEPS.join(", "),
    );
  }
  const [from, to, event] = ORDER_RULES[step];
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

/** Whether the document verification has begun. */
function hasBegun({ fkyc }: SandboxUser): boolean {
  return fkyc !== "not initiated";
}

/**
 * Whether a user may buy: by the document verification once it has begun, else
 * by the light one.
 */
export function canBuy(user: SandboxUser): boolean {
  const active = hasBegun(user) ? user.fkyc : user.lkyc;
  return active === "success" && !user.banned;
}

/** What each step changes. */
const USER_CHANGES: Readonly<Record<UserStep, Partial<SandboxUser>>> = {
  registration: {},
  login: {},
  logout: {},
  card_added: {},
  verify_start: { lkyc: "initiated" },
  verify_retry: { lkyc: "progress", fkyc: "retry" },
  verify_success: { lkyc: "success" },
  verify_failed: { lkyc: "failed" },
  otp_requested: {},
  otp_success: {},
  otp_failed: {},
};

/** Every step a user can take. */
export const USER_STEPS: readonly UserStep[] = Object.keys(
  USER_CHANGES,
) as UserStep[];

/** Lets a user take a step; throws where there is no such step. */
export function takeUserStep(
  user: SandboxUser,
  step: UserStep,
  card: SandboxCard,
): SandboxUser {
  if (!Object.hasOwn(USER_CHANGES, step)) {
    throw new RangeError(
      `Cannot advance user ${user.userId}: "${step}" is not a step; use ` +
        USER_STEPS.join(", "),
    );
  }
  const change = USER_CHANGES[step];
  // What ends the light verification ends one of documents that was begun.
  const ends = step === "verify_success" || step === "verify_failed";
  return {
    ...user,
    ...change,
    ...(ends && hasBegun(user) && { fkyc: change.lkyc ?? user.fkyc }),
    ...(step === "card_added" && { cards: [...user.cards, card] }),
  };
}

/** Why the verification of a user is rejected. */
export function rejectType(user: SandboxUser): RejectType {
  return hasBegun(user) ? "FKYC_FAILED_GENERAL" : "LKYC_FAILED_GENERAL";
}

/** Every user of the service. */
export class UserStore extends Store<SandboxUser> {
  readonly #byPhone = new Map<string, string>();
  /** Users who can buy, so that a visit need not search all users. */
  readonly #buyers = new Sorted<Place>(isBefore);

  constructor() {
    super(
      "user",
      ({ createdAtMs, userId }) => ({ timeMs: createdAtMs, id: userId }),
    );
  }

  get buyerCount(): number {
    return this.#buyers.rows.length;
  }

  /** One of the users who can buy, by place in age. */
  buyer(place: number): SandboxUser | null {
    return this.get(this.#buyers.rows[place]?.id ?? "");
  }

  withPhone(phone: string): SandboxUser | null {
    return this.get(this.#byPhone.get(phone) ?? "");
  }

  override put(user: SandboxUser): void {
    const before = this.get(user.userId);
    if (before === null) this.#byPhone.set(user.phone, user.userId);
    super.put(user);
    const place = { timeMs: user.createdAtMs, id: user.userId };
    const could = before !== null && canBuy(before);
    if (could && !canBuy(user)) this.#buyers.remove(place);
    if (!could && canBuy(user)) this.#buyers.add(place);
  }
}
