import { readPrimary } from "../store/driver/read_primary.ts";
import type { Fact } from "../events/fact.ts";
import { readFact } from "../events/read_fact.ts";
import { type Link, linkKey, orderLinks } from "../projection/links.ts";
import type { Driver, Statement } from "../store/driver/driver.ts";
import {
  type ErasableEvent,
  erasableEvents,
  selectErasableAt,
  selectErasableOfClicks,
  selectErasableOfOrders,
  selectErasableOfUsers,
  selectOrdersOfLinks,
  selectOrdersOfUser,
  selectSessionPositions,
} from "../store/tables/erasure/erasable_events.ts";
import { ownClicks } from "./own_clicks.ts";
import { keepsNames } from "./redacts_of.ts";

/** What the ledger holds of a person. */
export interface PersonEvents {
  /** The user. */
  readonly userId: string;
  /** The person's orders. */
  readonly orderIds: readonly string[];
  /** The events that say something of the person, by position. */
  readonly events: readonly ErasableEvent[];
}

/**
 * Finds the events that say something of a person: those that name the user;
 * what was read and received of the user's orders; the sessions that those
 * orders come from, and webhooks that name nothing but their click ids. What
 * orders of other people share with them is left out.
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
  const [named, states] = await readPrimary(driver, [
    selectErasableOfUsers([userId], position),
    selectOrdersOfUser(userId),
  ]);
  const ofUser = erasableEvents(named);
  const candidates = new Set(
    ofUser.flatMap(({ event }) => event.orderId ?? [])
      .concat(states?.rows.map(([id]) => String(id)) ?? []),
  );
  const ofCandidates = await read(
    selectErasableOfOrders([...candidates], position),
  );
  const owned = ownedOrders(userId, ofCandidates);
  const ofOrders = ofCandidates.filter(({ event: { kind, orderId } }) =>
    owned.has(orderId ?? "") &&
    // The others say nothing but the order's id, which stays.
    (kind === "webhook" || kind === "order_snapshot" ||
      kind === "order_redacted")
  );
  const facts = [...ofUser, ...ofOrders].map(({ event }) => readFact(event));
  const links = await ownLinks(driver, facts, owned);
  const [sessions, clicks] = await readPrimary(driver, [
    selectSessionPositions(links),
    selectErasableOfClicks(
      links.flatMap(([kind, link]) => kind === "click" ? [link] : []),
      position,
    ),
  ]);
  const sessionsAt = sessions?.rows.map((row) => row[2] as number) ?? [];
  const linked = await read(selectErasableAt(sessionsAt));
  // Orders of others under its click id are compared with a session too.
  const own = await ownClicks(
    driver,
    linked.flatMap(({ event }) => event.clickId ?? []),
    (orderId) => owned.has(orderId),
  );
  const ofSessions = linked.filter(({ event }) =>
    event.position <= position &&
    (event.userId === null || event.userId === userId) &&
    (event.clickId === null || own.has(event.clickId))
  );
  const all = new Map(
    [...ofUser, ...ofOrders, ...ofSessions, ...erasableEvents(clicks)]
      .map((one) => [one.event.position, one]),
  );
  return {
    userId,
    orderIds: [...owned],
    events: [...all.values()].filter((one) => saysSomething(one, userId))
      .sort((a, b) => a.event.position - b.event.position),
  };
}

/** Whether anything of it is left to erase. */
function saysSomething(
  { event, erased }: ErasableEvent,
  userId: string,
): boolean {
  if (event.userId === userId) return true;
  if (event.kind === "order_redacted") return keepsNames(event);
  return event.body !== null || erased?.part === "body";
}

/**
 * The orders that are the user's: a reading names the user, or, where nothing
 * but webhooks speaks of the order, one of those.
 */
function ownedOrders(
  userId: string,
  events: readonly ErasableEvent[],
): ReadonlySet<string> {
  const owned = new Set<string>();
  const others = new Set<string>();
  const claimed = new Set<string>();
  for (const { event } of events) {
    if (event.orderId === null || event.userId === null) continue;
    const isReading = event.kind === "order_snapshot" ||
      event.kind === "order_redacted";
    if (event.userId !== userId) {
      if (isReading) others.add(event.orderId);
    } else if (isReading) owned.add(event.orderId);
    else claimed.add(event.orderId);
  }
  for (const id of claimed) if (!others.has(id)) owned.add(id);
  return owned;
}

/** Sessions and click ids that lead to these orders, and to no others. */
async function ownLinks(
  driver: Driver,
  facts: readonly Fact[],
  owned: ReadonlySet<string>,
): Promise<(readonly [string, string])[]> {
  const links = new Map<string, Link>();
  for (const fact of facts) {
    if (fact.orderId === null || !owned.has(fact.orderId)) continue;
    for (const link of orderLinks(fact)) {
      if (link.kind !== "external") links.set(linkKey(link), link);
    }
  }
  const pairs = [...links.values()].map(({ kind, link }) =>
    [kind, link] as const
  );
  const [orders] = await readPrimary(driver, [selectOrdersOfLinks(pairs)]);
  const shared = new Set(
    orders?.rows.filter(([, , orderId]) => !owned.has(String(orderId)))
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
