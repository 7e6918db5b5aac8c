/** What an erasure takes of a person, and what it leaves behind. */
import { isRecord } from "../../core/guards.ts";
import { parseExact } from "../../core/json/exact_json.ts";
import type { MatchFact } from "../events/order_facts.ts";
import type { EventKind } from "../machines/event_kind.ts";
import { isFinal } from "../machines/order_machine.ts";
import type { Trust } from "../machines/transition.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { matchExpectations } from "../outcomes/match.ts";
import { noteOf } from "../recording/notes.ts";
import { orderState } from "../states/state_of_order.ts";
import { insertAlias, isSameId } from "../store/aliases.ts";
import { listed, readDeciding, statement } from "../store/database.ts";
import type { Statement } from "../store/driver/driver.ts";
import { LedgerError } from "../store/driver/errors.ts";
import { readEvents } from "../store/events.ts";
import { IS_RARE } from "../store/schema.ts";
import { addFindings } from "./holders.ts";
import { type ClaimedOrder, findPerson, type Person } from "./person.ts";
import { isPseudonym, newName, redactEvent, redactReading } from "./redact.ts";
import {
  type ErasureParts,
  replaceEvents,
  type Replacement,
} from "./rewrite.ts";

/**
 * Why a person should not be erased yet.
 * - `under_way`: an order has no final status that the service has confirmed.
 * - `refund_due`: money of an order has to be given back.
 */
export type ErasureBlock = "under_way" | "refund_due";

/** An order of a person who is to be erased. */
export interface ErasableOrder {
  /** The order. It stays, with its status, times, amounts, fees and asset. */
  readonly orderId: string;
  /** Its status. */
  readonly status: string;
  /** Whether the service has confirmed it. */
  readonly trust: Trust;
  /** Why it should not be erased yet. */
  readonly blocks: readonly ErasureBlock[];
}

/** How many events hold a value of the person and are about more. */
export interface Comparison {
  /** Events that are blanked: they are nobody else's. */
  readonly blanked: number;
  /** Events that are listed for a person. */
  readonly listed: number;
}

/** What an erasure removes. */
export interface ErasurePlan {
  /** The user. */
  readonly userId: string;
  /** Number of events about the person, by kind. */
  readonly events: Readonly<Partial<Record<EventKind, number>>>;
  /** Names of the fields that are removed, as the service writes them, sorted. */
  readonly fields: readonly string[];
  /** Orders that the service has shown as the person's, by id. */
  readonly orders: readonly ErasableOrder[];
  /** Orders that only webhooks attribute to the person, by id. */
  readonly claims: readonly ClaimedOrder[];
  /** What else holds the person's ids. */
  readonly compared: Comparison;
}

/** Result of an erasure. */
export interface Erasure extends ErasurePlan {
  /** What replaces the user id from now on; null when nothing was found. */
  readonly pseudonym: string | null;
}

/** Works out what an erasure removes, and the batch that does it. */
export async function prepareErasure(
  parts: ErasureParts,
  userId: string,
): Promise<{
  readonly erasure: Erasure;
  readonly statements: () => Promise<Statement[]>;
}> {
  const person = await findPerson(parts, userId);
  const { orders, claims, holders } = person;
  const isThere = person.events.length > 0 || orders.size > 0;
  const names = namesFor(parts);
  const replaced = person.events.map((before) => {
    const { kind, orderId } = before;
    // A webhook names no user afterwards, or it would make a row of one.
    const isUser = kind !== "webhook" && isSameId(before.userId, userId);
    const after = redactEvent(before, {
      ...parts,
      userId: isUser ? names.user : null,
      clickId: orderId === null ? null : names.click(before.clickId),
      match: matchToKeep(orders.get(orderId ?? "")?.fold, parts),
    });
    return { before, after };
  });
  const events: Partial<Record<EventKind, number>> = {};
  for (const { kind } of person.events) events[kind] = (events[kind] ?? 0) + 1;
  return {
    erasure: {
      ...{ userId, events, claims },
      fields: [...new Set(replaced.flatMap(fieldsGone))].sort(),
      orders: [...orders.values()].map(({ fold }) =>
        erasableOrder(fold, parts)
      ),
      compared: {
        blanked: isThere ? holders.blank.length : 0,
        listed: isThere ? holders.list.length : 0,
      },
      pseudonym: isThere ? names.user : null,
    },
    statements: () => erasing(parts, person, { names, replaced }),
  };
}

/** Random names in the place of the person's, one for each. */
interface Names {
  readonly user: string;
  readonly click: (clickId: string | null) => string | null;
}

function namesFor(parts: ErasureParts): Names {
  const clicks = new Map<string, string>();
  return {
    user: newName(parts),
    click: (clickId) => {
      if (clickId === null || isPseudonym(clickId)) return clickId;
      const name = clicks.get(clickId) ?? newName(parts);
      clicks.set(clickId, name);
      return name;
    },
  };
}

/** @throws {LedgerError} Where something should come first. */
export function refuseErasure({ claims, orders }: ErasurePlan): void {
  const unasked = claims.filter(({ isAsked }) => !isAsked);
  if (unasked.length > 0) {
    throw new LedgerError(
      "failed",
      "Cannot erase before the service was asked for orders that only webhooks " +
        "name as the person's: " +
        unasked.map(({ orderId }) => orderId).join(", "),
    );
  }
  const blocked = orders.filter(({ blocks }) => blocks.length > 0);
  if (blocked.length > 0) {
    throw new LedgerError(
      "failed",
      "Cannot erase while an order is under way or a refund is due: " +
        blocked.map(({ orderId, blocks }) =>
          `${orderId} (${blocks.join(", ")})`
        ).join(", "),
    );
  }
}

async function erasing(
  parts: ErasureParts,
  person: Person,
  { names, replaced }: {
    readonly names: Names;
    readonly replaced: readonly Replacement[];
  },
): Promise<Statement[]> {
  const { guard: { key }, userId, orders, holders } = person;
  const erasedAt = new Date(parts.now()).toISOString();
  const nos = [...orders.values()].map(({ no }) => no);
  const blanked = [...holders.blank, ...await notesAbout(parts, person)];
  return [
    ...await replaceEvents(parts, {
      guard: person.guard,
      replaced: [
        ...replaced,
        ...blanked.map((before) => ({
          before,
          after: redactEvent(before, parts),
        })),
      ],
      orders: nos,
    }),
    insertAlias(key, "user", [userId, { erasedAt, returnedAt: null }]),
    ...[...person.clicks].map((clickId) =>
      insertAlias(key, "click", [clickId, { erasedAt }])
    ),
    ...[...person.values].map(([value, is]) =>
      insertAlias(key, "value", [value, { is, length: value.length }])
    ),
    ...[...orders].map(([orderId, { fold }]) => {
      const clickId = names.click(fold.latest?.clickId || null);
      const order = { orderId, userId: names.user, clickId, erasedAt };
      return insertAlias(key, "order", [orderId, order]);
    }),
    insertAlias(key, "person", [names.user, {
      ...{ pseudonym: names.user, erasedAt },
      ...{ events: person.events.length, orders: orders.size },
    }]),
    ...addFindings(holders.list, erasedAt),
    statement(
      "UPDATE outbox SET error = NULL WHERE no IN (SELECT value FROM json_each(?))",
      listed(nos),
    ),
    ...await observedAs(parts, person, names),
    statement(
      `DELETE FROM observations WHERE entity = 'user'
        AND lower(trim(id)) = lower(trim(?))`,
      userId,
    ),
    statement(
      `DELETE FROM set_aside WHERE id IN (SELECT value FROM json_each(?1))
        OR (entity = 'user' AND lower(trim(id)) = lower(trim(?2)))`,
      listed(orders.keys()),
      userId,
    ),
  ];
}

/**
 * What the poller remembers of each order: the same answer must not be recorded again
 * once it is redacted.
 */
async function observedAs(
  { driver }: ErasureParts,
  { orders, events }: Person,
  names: Names,
): Promise<Statement[]> {
  const [rows] = await readDeciding(driver, [statement(
    `SELECT id, digest FROM observations WHERE entity = 'order' AND found = 1
      AND id IN (SELECT value FROM json_each(?))`,
    listed(orders.keys()),
  )]);
  return (rows ?? []).map(([id, digest]) => {
    const reading = events.find(({ kind, orderId, ...one }) =>
      kind === "order_snapshot" && orderId === id && one.digest === digest
    );
    const clickId = names.click(
      orders.get(String(id))?.fold.latest?.clickId || null,
    );
    return statement(
      "UPDATE observations SET digest = ? WHERE entity = 'order' AND id = ?",
      reading === undefined
        ? ""
        : redactReading(reading, { userId: names.user, clickId }).digest,
      id ?? null,
    );
  });
}

/** What people noted may name the person: of orders that they did it stays. */
async function notesAbout(
  { driver }: ErasureParts,
  { userId, orders, events, holders }: Person,
) {
  const deliveries = new Set(
    [...events, ...holders.blank].map(({ eventId }) => eventId),
  );
  const notes = await readEvents(
    driver,
    `events AS e WHERE e.kind = 'note' AND e.${IS_RARE}`,
  );
  return notes.filter((event) => {
    const note = noteOf(event);
    const id = note?.entityId ?? "";
    return (note?.entity === "order" && orders.has(id)) ||
      (note?.entity === "user" && isSameId(id, userId)) ||
      (note?.entity === "delivery" && deliveries.has(id));
  });
}

/**
 * How an order compares with what the partner recorded, so that it stays known when
 * both are redacted; null while no reading can be compared.
 */
export function matchToKeep(
  fold: OrderFold | undefined,
  { assets }: ErasureParts,
): MatchFact | null {
  return fold?.latest ? matchExpectations(fold, assets).match : null;
}

/** What has to be known of an order before something of it goes. */
export function erasableOrder(
  fold: OrderFold,
  { assets }: ErasureParts,
): ErasableOrder {
  const { orderId, status, trust, attention } = orderState(fold, { assets });
  const blocks: ErasureBlock[] = [];
  if (trust !== "confirmed" || !isFinal(status)) blocks.push("under_way");
  if (attention.includes("refund_due")) blocks.push("refund_due");
  return { orderId, status, trust, blocks };
}

/** Names of the fields of a body whose values do not stay. */
function fieldsGone({ before, after }: Replacement): string[] {
  const left = new Set(fieldsOf(after.body).map((field) => field.join("=")));
  return fieldsOf(before.body).filter(([name, value]) =>
    name !== "erased" && !left.has(`${name}=${value}`)
  ).map(([name]) => name);
}

/** Fields of a JSON object, those within others after a dot, and their values. */
function fieldsOf(body: Uint8Array): [name: string, value: unknown][] {
  const fields: [string, unknown][] = [];
  const walk = (value: unknown, path: string) => {
    if (Array.isArray(value)) value.forEach((one) => walk(one, path));
    else if (isRecord(value)) {
      for (const [name, inner] of Object.entries(value)) {
        walk(inner, path === "" ? name : `${path}.${name}`);
      }
    } else if (path !== "") fields.push([path, value ?? ""]);
  };
  try {
    const value: unknown = parseExact(new TextDecoder().decode(body));
    if (isRecord(value)) walk(value, "");
  } catch {
    // A body that is no JSON has no names of fields.
  }
  return fields;
}
