import {
  type Driver,
  readPrimary,
  type Statement,
} from "../store/driver/driver.ts";
import { linking } from "../events/fact_text.ts";
import type { RecordedEvent } from "../events/event.ts";
import { readFact } from "../events/read_fact.ts";
import { type Link, linkKey } from "../events/links.ts";
import {
  type ErasableEvent,
  erasableEvents,
  selectErasableAt,
  selectErasableOfClicks,
  selectErasableOfOrders,
  selectErasableOfUsers,
  selectOrdersOfLinks,
  selectOrdersOfUsers,
  selectSpellings,
} from "../store/tables/erasure/erasable_events.ts";
import { selectPositionsOfLinks } from "../store/tables/events/expectations.ts";
import { ownClicks, readEventsOfReferences } from "./own_clicks.ts";
import { isRequestable } from "../../core/wire/identifier.ts";
import { selectAskedOrders } from "../store/tables/polling/observations.ts";
import { isSameId } from "./erased_names.ts";
import { keepsNames, redactsOf } from "./redact_events.ts";

/** An order that only webhooks attribute to the person. */
export interface ClaimedOrder {
  /** The order. */
  readonly orderId: string;
  /**
   * Whether the service was asked for it since and did not show it. Until then
   * it may be the person's, or invented by the sender.
   */
  readonly isAsked: boolean;
}

/** What the ledger holds of a person. */
export interface PersonEvents {
  /** The user. */
  readonly userId: string;
  /** The user's id as events write it, in one case or several. */
  readonly spellings: readonly string[];
  /** The person's orders: the service has shown them as such. */
  readonly orderIds: readonly string[];
  /** Orders that only webhooks attribute to the person. */
  readonly claims: readonly ClaimedOrder[];
  /** The events about the person, by position. */
  readonly events: readonly ErasableEvent[];
}

/**
 * Finds the events about a person: those that name the user; what was read and
 * received of the user's orders; the sessions that those orders come from, and
 * webhooks that name nothing but their click ids. What orders of other people
 * share with them is left out.
 *
 * @param userId The user.
 * @param position Position of the last event that counts.
 */
export async function readPersonEvents(
  driver: Driver,
  userId: string,
  position: number,
): Promise<PersonEvents> {
  const read = reader(driver);
  const [spelt] = await readPrimary(driver, [selectSpellings(userId)]);
  const spellings = [
    ...new Set([userId, ...spelt?.rows.map(([id]) => String(id)) ?? []]),
  ];
  const [named, states] = await readPrimary(driver, [
    selectErasableOfUsers(spellings, position),
    selectOrdersOfUsers(spellings),
  ]);
  const ofUser = erasableEvents(named);
  const candidates = new Set(
    ofUser.flatMap(({ event }) => event.orderId ?? [])
      .concat(states?.rows.map(([id]) => String(id)) ?? []),
  );
  const ofCandidates = await read(
    selectErasableOfOrders([...candidates], position),
  );
  const { owned, claimed } = ownedOrders(userId, ofCandidates);
  const ofOrders = ofCandidates.filter(({ event }) =>
    owned.has(event.orderId ?? "") && mayNameSomebody(event)
  );
  const links = await ownLinks(driver, [...ofUser, ...ofOrders], owned);
  const stated = new Set(
    links.flatMap(([kind, link]) => kind === "click" ? [link] : []),
  );
  const [sessions, clicks] = await readPrimary(driver, [
    selectPositionsOfLinks(links),
    selectErasableOfClicks([...stated], position),
  ]);
  const sessionsAt = sessions?.rows.map(([at]) => at as number) ?? [];
  // A webhook that names a session says nothing of the session's click id.
  const ofLinks = (await read(selectErasableAt(sessionsAt))).filter((
    { event: { clickId } },
  ) => clickId === null || stated.has(clickId));
  const linked = [
    ...ofLinks,
    ...await readEventsOfReferences(driver, ofLinks, (id) => owned.has(id)),
  ];
  // Orders of others under its click id are compared with a session too.
  const own = await ownClicks(
    driver,
    linked.flatMap(({ event }) => event.clickId ?? []),
    (orderId) => owned.has(orderId),
  );
  const ofSessions = linked.filter(({ event }) =>
    event.position <= position &&
    (event.userId === null || isSameId(event.userId, userId)) &&
    (event.clickId === null || own.has(event.clickId))
  );
  const all = new Map(
    [...ofUser, ...ofOrders, ...ofSessions, ...erasableEvents(clicks)]
      .map((one) => [one.event.position, one]),
  );
  return {
    userId,
    spellings,
    orderIds: [...owned],
    claims: await readClaims(driver, claimed),
    events: [...all.values()].filter((one) => saysSomething(one, userId))
      .sort((a, b) => a.event.position - b.event.position),
  };
}

/** Whether an event of an order may say more than the order's own facts. */
function mayNameSomebody(event: RecordedEvent): boolean {
  switch (event.kind) {
    case "webhook":
    case "order_snapshot":
    case "chain_reading":
    case "order_redacted":
      return true;
    default:
      return false;
  }
}

/** Whether anything of it is left to erase. */
function saysSomething(
  { event, erased }: ErasableEvent,
  userId: string,
): boolean {
  if (isSameId(event.userId, userId)) return true;
  if (event.kind === "order_redacted") return keepsNames(event);
  return event.body !== null || erased?.part === "body";
}

/**
 * The orders that are the user's: a reading names the user. Where no reading
 * speaks of an order, webhooks that name the user claim that it is. Anybody can
 * send one, so such an order does not count as the user's.
 */
function ownedOrders(
  userId: string,
  events: readonly ErasableEvent[],
): {
  readonly owned: ReadonlySet<string>;
  /** When the latest claim of each came, UTC ISO 8601. */
  readonly claimed: ReadonlyMap<string, string>;
} {
  const owned = new Set<string>();
  const read = new Set<string>();
  const claimed = new Map<string, string>();
  for (const { event } of events) {
    const { orderId, kind, recordedAt } = event;
    if (orderId === null) continue;
    const isReading = (redactsOf(event)?.kind ?? kind) === "order_snapshot";
    const isNamed = isSameId(event.userId, userId);
    if (isReading) read.add(orderId);
    if (isReading && isNamed) owned.add(orderId);
    if (kind !== "webhook" || !isNamed) continue;
    if (recordedAt > (claimed.get(orderId) ?? "")) {
      claimed.set(orderId, recordedAt);
    }
  }
  for (const orderId of read) claimed.delete(orderId);
  return { owned, claimed };
}

/** Claimed orders for which the service was asked since the claim. */
async function readClaims(
  driver: Driver,
  claimed: ReadonlyMap<string, string>,
): Promise<ClaimedOrder[]> {
  if (claimed.size === 0) return [];
  const [rows] = await readPrimary(driver, [
    selectAskedOrders([...claimed.keys()]),
  ]);
  const asked = new Map(
    rows?.rows.map(([id, askedAt]) => [String(id), String(askedAt)]),
  );
  return [...claimed].map(([orderId, claimedAt]) => ({
    orderId,
    // The service has no id that cannot be requested.
    isAsked: !isRequestable(orderId) || (asked.get(orderId) ?? "") > claimedAt,
  }));
}

/**
 * Sessions, and click ids that the service has shown, which lead to these orders
 * and to no others.
 */
async function ownLinks(
  driver: Driver,
  events: readonly ErasableEvent[],
  owned: ReadonlySet<string>,
): Promise<(readonly [string, string])[]> {
  const links = new Map<string, Link>();
  const add = (link: Link) => links.set(linkKey(link), link);
  for (const { event } of events) {
    if (event.orderId === null || !owned.has(event.orderId)) continue;
    const { sessionId } = readFact(event);
    // Also of a reading whose body was erased before.
    const clickId = event.kind === "webhook" ? null : linking(event.clickId);
    if (sessionId) add({ kind: "session", link: sessionId });
    if (clickId) add({ kind: "click", link: clickId });
  }
  const pairs = [...links.values()].map(({ kind, link }) =>
    [kind, link] as const
  );
  const [orders] = await readPrimary(driver, [selectOrdersOfLinks(pairs)]);
  const shared = new Set(
    orders?.rows.filter(([, , orderId, stands]) =>
      stands === 1 && !owned.has(String(orderId))
    )
      .map(([kind, link]) => `${kind}:${link}`),
  );
  return pairs.filter(([kind, link]) => !shared.has(`${kind}:${link}`));
}

function reader(
  driver: Driver,
): (statement: Statement) => Promise<ErasableEvent[]> {
  return async (statement) => {
    const [result] = await readPrimary(driver, [statement]);
    return erasableEvents(result);
  };
}
