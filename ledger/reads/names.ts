/** What orders are called: by the service, by webhooks, and by what the partner recorded. */
import type { OrderState } from "../states/order_state.ts";
import type { Trust } from "../machines/transition.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import type { Driver } from "../store/database.ts";
import type { LookupKind } from "../projection/guard.ts";
import { readHash } from "./pages.ts";
import { selectEvents } from "../store/events.ts";
import { readFact } from "../events/read_fact.ts";
import { askedAtOf, validUntil } from "../events/event.ts";
import { isExpectation } from "../events/fact.ts";
import { compareText } from "../machines/machine.ts";

/** The field in which a text was found. */
export type FoundField =
  | "orderId"
  | "externalOrderId"
  | "reference"
  | "clickId"
  | "sessionId"
  | "txId"
  | "address"
  | "cardId"
  | "userId";

/** One way in which an order or user matches a text. */
export interface FieldMatch {
  /** The field in which the text was found. */
  readonly field: FoundField;
  /** The whole value, as stored. */
  readonly value: string;
  /**
   * `confirmed`: the service has shown it so, or you recorded it under the
   * click id that the service shows. `claimed`: only webhooks say so.
   */
  readonly trust: Trust;
}

/** Names by which the service shows an order, or webhooks name it. */
export const STATED: readonly LookupKind[] = ["click", "external"];

/** Names that the partner recorded for what an order pays for. */
export const RECORDED: readonly LookupKind[] = ["session", "reference"];

/** Everything that names an order, each value of a field once. */
export function namesOf(order: OrderState, fold: OrderFold): FieldMatch[] {
  const names = new Map<string, FieldMatch>();
  const add = (
    field: FoundField,
    value: string | null | undefined,
    trust: Trust,
  ) => {
    const key = `${field} ${value}`;
    if (value && names.get(key)?.trust !== "confirmed") {
      names.set(key, { field, value, trust });
    }
  };
  const shown = order.confirmed === null ? "claimed" : "confirmed";
  add("orderId", order.orderId, shown);
  for (const reading of [fold.latest, fold.statusless]) {
    add("externalOrderId", reading?.externalOrderId, "confirmed");
    add("clickId", reading?.clickId, "confirmed");
  }
  add("reference", order.expected?.reference, "confirmed");
  add("sessionId", order.expected?.sessionId, "confirmed");
  for (const { bodies } of fold.claims) {
    for (const body of bodies) {
      add("externalOrderId", body.externalOrderId, "claimed");
      add("clickId", body.clickId, "claimed");
    }
  }
  for (const { sessionId } of fold.sessions) {
    add("sessionId", sessionId, "claimed");
  }
  add("txId", order.txId, shown);
  add("address", order.address, shown);
  add("cardId", order.cardId, shown);
  return [...names.values()];
}

/**
 * Whether a click id, external id or session that was looked up leads to an order. A
 * lookup ignores case. Of what webhooks named, and of what earlier readings showed,
 * not all is kept: where an order has nothing alike the lookup is believed.
 */
export function isLinked(
  { order, fold }: { readonly order: OrderState; readonly fold: OrderFold },
  name: string,
): boolean {
  const alike = namesOf(order, fold)
    .filter(({ value }) => value.toLowerCase() === name.toLowerCase());
  return alike.length === 0 || alike.some(({ value }) => value === name);
}

/**
 * Whether the terms of an order are of a reference or a session that was looked up:
 * a lookup holds those of all terms that the order was ever compared with.
 */
export function isOfTerms(
  { order: { expected } }: { readonly order: OrderState },
  name: string,
): boolean {
  return expected?.reference === name || expected?.sessionId === name;
}

/** Whether the terms of an order lead to a session: it then means that order. */
export function isOfSession(
  { expected, confirmed }: OrderState,
  session: string,
): boolean {
  return expected?.sessionId === session &&
    expected.clickId === confirmed?.clickId;
}

/** The names of a purchase that the partner recorded. */
export interface RecordedName {
  /** The session; null where it was recorded without one. */
  readonly sessionId: string | null;
  /** The click id. */
  readonly clickId: string | null;
  /** The partner's own reference. */
  readonly reference: string | null;
  /** When it was asked for, UTC ISO 8601. */
  readonly askedAt: string;
  /** Until when an order may match it, UTC ISO 8601. */
  readonly validUntil: string;
}

/** Most recorded names that are listed. */
const MOST_RECORDED = 10;

/** Reads what the partner recorded under whole names, the latest first. */
export async function readRecorded(
  driver: Driver,
  names: readonly string[],
): Promise<RecordedName[]> {
  const hash = await readHash(driver);
  const kinds = {
    click: "asked_click",
    reference: "asked_reference",
    session: "session",
  } as const;
  const found = Object.entries(kinds).map(([column, kind]) =>
    `SELECT position, asked_at FROM expected
      WHERE ${column} IN (${names.map((one) => hash.of(kind, one))})`
  );
  const events = await selectEvents(
    driver,
    `(${found.join(" UNION ")}
        ORDER BY asked_at DESC, position DESC LIMIT ${MOST_RECORDED}) AS x
      CROSS JOIN events AS e ON e.position = x.position`,
  );
  return events.map(readFact).filter(isExpectation)
    .map(({ expectation: one }) => ({
      sessionId: one.sessionId,
      clickId: one.clickId,
      reference: one.reference,
      askedAt: askedAtOf(one),
      validUntil: validUntil(one),
    })).sort((a, b) => compareText(b.askedAt, a.askedAt));
}
