import { outcomeNow, reasonsOf } from "../attention/attention.ts";
import {
  isHandText,
  LONGEST_NAME,
  wrongHandField,
} from "../events/hand_release.ts";
import { CASE_CHANGES } from "../events/case_change.ts";
import type { CaseChangedBody, NewEvent } from "../events/event.ts";
import { caseChanged, orderReleased } from "../events/mint.ts";
import type { AttentionKind } from "../outcomes/attention_kind.ts";
import type { OrderCase } from "../outcomes/order_case.ts";
import { readOrderFold } from "../queries/order_fold.ts";
import type { Orders, OrderView } from "../queries/orders.ts";
import type { ReleaseByHand } from "../releases/release_by_hand.ts";
import type { Driver } from "../store/driver/driver.ts";
import {
  erasedOrders,
  selectErasedOrders,
} from "../store/tables/erasure/erased_orders.ts";
import { readQueryTime } from "../../core/time/service_time.ts";
import { printable } from "../../core/printable.ts";
import { CaseError } from "./case_error.ts";
import {
  type CaseEntry,
  readCaseHistories,
} from "../attention/case_history.ts";

/** The most characters of a note. */
export const LONGEST_NOTE = 2000;

/** Everything that a person can do about a case. */
export const CASE_ACTIONS: readonly ["noted", ...typeof CASE_CHANGES] = [
  "noted",
  ...CASE_CHANGES,
];

/** What a person does about the case of an order. */
export interface CaseAction {
  /**
   * What the person does.
   *
   * - `noted`: adds a note, and changes nothing.
   * - `asked`: asks the service; the order goes on waiting.
   * - `refunded`: returns the money. Needs `reference`.
   * - `delivered`: hands over the goods, which is {@linkcode Ledger.release}.
   *   Needs `reference` where the order was read and matches no expectation.
   * - `written_off`, `not_ours`: closes the case without either.
   * - `reopened`: opens it again.
   */
  readonly change: (typeof CASE_ACTIONS)[number];
  /** Who does it. At most 256 characters. */
  readonly by: string;
  /**
   * A note, at most 2000 characters. It is removed when the person of the order
   * is erased.
   *
   * @default nothing, which `noted` refuses
   */
  readonly note?: string;
  /**
   * Reference of the refund, or of the purchase that was delivered. Name no
   * customer in it: an erasure keeps it.
   */
  readonly reference?: string;
  /** When the service was asked, ISO 8601. @default now */
  readonly since?: string;
  /**
   * The reasons that the person has seen. If the order waits for other reasons
   * by now, nothing is recorded.
   *
   * @default whatever it waits for
   */
  readonly seen?: readonly AttentionKind[];
}

/** The case of an order, and its history. */
export interface RecordedCase {
  /** The order. */
  readonly orderId: string;
  /**
   * Its state; null when the order does not wait and nobody has acted on it.
   */
  readonly case: OrderCase | null;
  /** What people did about it and their notes, oldest first. */
  readonly history: readonly CaseEntry[];
}

/** What {@linkcode Cases} needs. */
export interface CasesParts {
  /** The database. */
  readonly driver: Driver;
  /** Its orders. */
  readonly orders: Orders;
  /** The clock, in ms. */
  readonly now: () => number;
  /** Random bytes for salts. */
  readonly randomBytes: (length: number) => Uint8Array;
  /** Appends events. */
  readonly append: (events: readonly NewEvent[]) => Promise<unknown>;
  /** Folds what waits. */
  readonly project: () => Promise<unknown>;
  /** Records a release by hand. */
  readonly release: (id: string, release: ReleaseByHand) => Promise<unknown>;
}

/** What people do about orders that wait for them. */
export class Cases {
  readonly #parts: CasesParts;

  /**
   * Reads and changes the cases of a ledger; {@linkcode openLedger} makes one.
   *
   * @param parts What it works with.
   */
  constructor(parts: CasesParts) {
    this.#parts = parts;
  }

  /**
   * Reads the case of an order with its history.
   *
   * @param orderId The order.
   * @returns Null when the ledger has no such order.
   * @throws {LedgerError} When the database fails.
   */
  async get(orderId: string): Promise<RecordedCase | null> {
    const { orders, now } = this.#parts;
    const order = await orders.get(orderId);
    if (order === null) return null;
    return {
      orderId,
      case: outcomeNow(order, now()).case,
      history: (await this.histories([orderId])).get(orderId) ?? [],
    };
  }

  /**
   * Reads what people did about some orders and their notes, oldest first.
   *
   * @param orderIds The orders.
   * @returns The history of each; without those about which nobody did anything.
   * @throws {LedgerError} When the database fails.
   */
  histories(
    orderIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly CaseEntry[]>> {
    return readCaseHistories(this.#parts.driver, orderIds);
  }

  /**
   * Records what a person does about an order. The case keeps that state until
   * the service changes the order, or the order waits for another reason.
   *
   * @param orderId The order.
   * @param action What the person does, and who it is.
   * @returns The case afterwards.
   * @throws {CaseError} When it is refused; nothing is written then.
   * @throws {ReleaseError} When a delivery is refused.
   * @throws {LedgerError} When it could not be stored.
   *
   * @example Close the case of an order that the service does not know
   * ```ts
   * import { openLedger } from "@rampkit/onramp/ledger";
   * import assert from "node:assert/strict";
   *
   * await using ledger = await openLedger({
   *   url: ":memory:",
   *   environment: "sandbox",
   * });
   * const body = '{"type":"order_complete","order":{"id":"01ORDER"}}';
   * await ledger.appendDelivery({
   *   id: "01DELIVERY",
   *   receivedAt: new Date().toISOString(),
   *   body: new TextEncoder().encode(body),
   * });
   * const changed = await ledger.cases.change("01ORDER", {
   *   change: "not_ours",
   *   by: "Ada",
   *   note: "Somebody tries our webhook address",
   * });
   * assert.equal(changed.case?.state, "not_ours");
   * assert.deepEqual(changed.history.map(({ done }) => done), [
   *   "not_ours",
   *   "noted",
   * ]);
   * ```
   */
  async change(orderId: string, action: CaseAction): Promise<RecordedCase> {
    const { driver, orders, now, randomBytes, append, project, release } =
      this.#parts;
    refuseInvalid(action);
    await project();
    const fold = await readOrderFold(driver, orderId);
    const order = fold === null ? null : await orders.get(orderId);
    if (fold === null || order === null) throw unknownOrder(orderId);
    await this.#refuse(order, action);
    const { change, by, note, reference } = action;
    // An order is released by hand once.
    const delivers = change === "delivered" &&
      fold.hand?.outcome !== "delivered";
    if (delivers) {
      await release(orderId, {
        outcome: "delivered",
        by,
        why: "delivered by hand",
        ...(reference === undefined ? {} : { for: reference }),
      });
    }
    const nowMs = now();
    const recordedAt = new Date(nowMs).toISOString();
    const event = (body: Omit<CaseChangedBody, "order_id" | "by" | "at">) =>
      caseChanged({
        changed: { order_id: orderId, by, at: recordedAt, ...body },
        recordedAt,
        salt: randomBytes(16),
      });
    const events: NewEvent[] = [];
    if (change === "refunded" && fold.hand === null) {
      events.push(orderReleased({
        released: {
          ...{ order_id: orderId, outcome: "refunded", by },
          why: reference ?? "",
        },
        recordedAt,
        salt: randomBytes(16),
      }));
    }
    const turn = (fold.change?.turn ?? 0) + 1;
    if (change !== "noted" && !delivers) {
      events.push(event({
        ...{ change, turn },
        reasons: knownReasons(order, nowMs),
        changed_at: fold.latest?.changedAt ?? null,
        after_hand: fold.hand !== null || change === "refunded",
        ...(change === "refunded" ? { reference: reference ?? "" } : {}),
        ...(change === "asked" ? { since: sinceOf(action, recordedAt) } : {}),
      }));
    }
    if (note !== undefined) events.push(event({ change: "noted", turn, note }));
    if (events.length > 0) await append(events);
    await project();
    const changed = await this.get(orderId);
    if (changed === null) throw unknownOrder(orderId);
    return changed;
  }

  async #refuse(order: OrderView, action: CaseAction): Promise<void> {
    const { driver, now } = this.#parts;
    const { change, note, seen } = action;
    const { attention, case: found } = outcomeNow(order, now());
    const id = printable(order.orderId);
    if (seen !== undefined && !isSame(seen, attention)) {
      throw new CaseError(
        "changed_since",
        `Cannot record what was done about ${id}: it waits for ` +
          `${attention.join(", ") || "nothing"} by now; look at it again`,
      );
    }
    if (change === "reopened" && (found === null || found.state === "open")) {
      throw new CaseError(
        "not_closed",
        found === null
          ? `Cannot open the case of ${id} again: it has none`
          : `Cannot open the case of ${id} again: it is open`,
      );
    }
    if (note === undefined) return;
    const [rows] = await driver.batch(
      [selectErasedOrders([order.orderId])],
      "write",
    );
    if (erasedOrders(rows).size > 0) {
      throw new CaseError(
        "person_erased",
        `Cannot note anything of ${id}: its person was erased, and notes may ` +
          "name a person; leave the note out",
      );
    }
  }
}

/**
 * Why it waits, and why it will wait as time passes: a slow payment alone does
 * not open a case again.
 */
function knownReasons(order: OrderView, nowMs: number): AttentionKind[] {
  const { shown } = order.facts;
  const isUnderWay = shown === "progress" || shown === "pending";
  // What is stored of an order never knows whether the ledger compares any.
  const compares = { twice: false, withheld: null, ...order.context };
  const reasons = reasonsOf(
    { ...order, context: { ...compares, compares: true } },
    nowMs,
  );
  return isUnderWay && !reasons.includes("stuck")
    ? [...reasons, "stuck"]
    : [...reasons];
}

/** When the service was asked, in one form. */
function sinceOf({ since }: CaseAction, recordedAt: string): string {
  const ms = since === undefined ? null : readQueryTime(since);
  return ms === null ? recordedAt : new Date(ms).toISOString();
}

function refuseInvalid(action: CaseAction): void {
  const { change, by, note, reference, since } = action;
  const refuse = (field: string, value: unknown, advice: string) => {
    throw new CaseError("invalid", wrongHandField(field, value, advice));
  };
  if (!CASE_ACTIONS.includes(change)) {
    refuse("change", change, `use one of ${CASE_ACTIONS.join(", ")}`);
  }
  if (!isHandText(by, LONGEST_NAME)) {
    refuse("by", by, `use 1 to ${LONGEST_NAME} characters`);
  }
  if (
    note === undefined ? change === "noted" : !isHandText(note, LONGEST_NOTE)
  ) {
    refuse("note", note, `use 1 to ${LONGEST_NOTE} characters`);
  }
  const mayRefer = change === "refunded" || change === "delivered";
  if (reference !== undefined && !mayRefer) {
    refuse(
      "reference",
      reference,
      "leave it out: only a refund or delivery has one",
    );
  }
  if (
    reference === undefined
      ? change === "refunded"
      : !isHandText(reference, LONGEST_NAME)
  ) {
    refuse("reference", reference, `use 1 to ${LONGEST_NAME} characters`);
  }
  if (since === undefined) return;
  if (change !== "asked") {
    refuse("since", since, "leave it out: the service was not asked");
  }
  if (readQueryTime(since) === null) {
    refuse("since", since, "use an ISO 8601 time with a zone");
  }
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((one) => b.includes(one));
}

function unknownOrder(orderId: string): CaseError {
  return new CaseError(
    "unknown_order",
    `Cannot keep the case of an order that the ledger does not have: "${
      printable(orderId)
    }"`,
  );
}
