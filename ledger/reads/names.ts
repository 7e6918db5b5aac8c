/** What leads to an order, and how it is looked up. */
import { isExpectation } from "../events/fact.ts";
import type { OrderReading } from "../events/order_reading.ts";
import { readFact } from "../events/read_fact.ts";
import type { Trust } from "../machines/transition.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import type { OrderState } from "../states/order_state.ts";
import type { Driver } from "../store/driver/driver.ts";
import { sharesTransfer } from "../orders/compare.ts";
import { LookupHash, type LookupKind } from "../projection/lookup_hash.ts";
import { lookupText, orderRows, selectRows } from "../projection/rows.ts";
import { bytesOf, readDeciding, selectValue } from "../store/database.ts";
import { selectEvents } from "../store/events.ts";

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
  | "userId"
  | "note";

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

/** Reads the sessions that the partner recorded: no webhook has to name them. */
export async function readSessions(
  driver: Driver,
  session: string,
): Promise<{ readonly sessionId: string; readonly clickId: string }[]> {
  const events = await selectEvents(
    driver,
    `expected AS x
      CROSS JOIN events AS e ON e.position = x.position
      WHERE x.session = ? ORDER BY x.position DESC LIMIT 10`,
    (await readHash(driver)).of("session", session),
  );
  return events.map(readFact).filter(isExpectation)
    .flatMap(({ expectation: { sessionId, clickId } }) =>
      sessionId === null || clickId === null ? [] : [{ sessionId, clickId }]
    );
}

/** What the service shows of other orders with the same transaction and address. */
export async function readSharing(
  driver: Driver,
  orderId: string,
  shown: OrderReading,
): Promise<readonly OrderReading[]> {
  const text = lookupText("tx", shown.txId ?? "");
  const [rows] = await readDeciding(driver, [
    selectRows(
      "orders",
      `r.id <> ? AND r.no IN
        (SELECT no FROM lookup WHERE hash = ? AND shown = 1)`,
      orderId,
      (await readHash(driver)).of("tx", text),
    ),
  ]);
  return [...orderRows(rows).values()].flatMap(({ fold: { latest } }) =>
    latest !== null && sharesTransfer(shown, latest) ? [latest] : []
  );
}

const hashes = new WeakMap<Driver, LookupHash>();

/** Reads how the texts of a ledger are hashed, once for each database. */
export async function readHash(driver: Driver): Promise<LookupHash> {
  const known = hashes.get(driver);
  if (known !== undefined) return known;
  const key = await selectValue(driver, "SELECT key FROM ledger");
  const hash = new LookupHash(bytesOf(key));
  hashes.set(driver, hash);
  return hash;
}
