/** Plans and erases a person, in one transaction: a kill leaves all or nothing. */
import { isRecord } from "../../core/guards.ts";
import { parseExact } from "../../core/json/exact_json.ts";
import {
  KEPT_OF_WEBHOOK,
  KEPT_ORDER_FIELDS,
  orderField,
} from "../../core/wire/order_fields.ts";
import type { MatchFact } from "../events/order_facts.ts";
import type { EventKind } from "../machines/event_kind.ts";
import type { Trust } from "../machines/transition.ts";
import { isFinal } from "../machines/order_machine.ts";
import { matchExpectations } from "../outcomes/match.ts";
import type { OrderFold } from "../orders/order_fold.ts";
import { orderState } from "../states/state_of_order.ts";
import type { Statement } from "../store/driver/driver.ts";
import { LedgerError } from "../store/driver/errors.ts";
import { retryLostRaces } from "../store/driver/retrying_driver.ts";
import { noteOf } from "../recording/notes.ts";
import { listed, readDeciding, statement, write } from "../store/database.ts";
import {
  EVENT_COLUMNS,
  eventsOf,
  hexOf,
  type StoredEvent,
} from "../store/events.ts";
import { IS_RARE } from "../store/schema.ts";
import { insertAlias, insertErasedOrder, isSameId } from "../store/aliases.ts";
import { addFindings } from "./findings.ts";
import {
  type ClaimedOrder,
  findPerson,
  type Person,
  PSEUDONYM,
} from "./person.ts";
import { redactEvent, redactReading, rewritten } from "./redact.ts";
import {
  type ErasureParts,
  replaceEvents,
  type Replacement,
  updateEvent,
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
  /** What else holds the person's ids; null when it was not asked for. */
  readonly compared: Comparison | null;
}

/** Result of an erasure. */
export interface Erasure extends ErasurePlan {
  /** What else held the person's ids. */
  readonly compared: Comparison;
  /** What replaces the user id from now on; null when nothing was found. */
  readonly pseudonym: string | null;
}

/** How a person is erased. */
export interface ErasePersonOptions {
  /**
   * Erases even while an order is under way or a refund is due, and even when the
   * service was not asked for orders that only webhooks attribute to the person.
   *
   * @default false
   */
  readonly force?: boolean;
}

export async function planErasure(
  parts: ErasureParts,
  userId: string,
  compares: boolean,
): Promise<ErasurePlan> {
  const person = await findPerson(parts, userId);
  const plan = planOf(person, parts);
  return compares ? { ...plan, compared: comparisonOf(person) } : plan;
}

export function erasePerson(
  parts: ErasureParts,
  userId: string,
  { force = false }: ErasePersonOptions = {},
): Promise<Erasure> {
  return retryLostRaces(async () => {
    const person = await findPerson(parts, userId);
    const plan = planOf(person, parts);
    if (person.events.length === 0 && person.orders.size === 0) {
      const compared = { blanked: 0, listed: 0 };
      return { ...plan, compared, pseudonym: null };
    }
    if (!force) refuse(plan);
    const pseudonym = newName(parts);
    await write(parts.driver, await erasing(parts, person, pseudonym));
    return { ...plan, compared: comparisonOf(person), pseudonym };
  });
}

function refuse({ claims, orders }: ErasurePlan): void {
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

function comparisonOf({ holders }: Person): Comparison {
  return { blanked: holders.blank.length, listed: holders.list.length };
}

async function erasing(
  parts: ErasureParts,
  person: Person,
  pseudonym: string,
) {
  const { now, randomBytes, assets } = parts;
  const { guard, userId, orders, events, users, clicks, values, holders } =
    person;
  const erasedAt = new Date(now()).toISOString();
  const names = new Map<string, string>();
  const clickName = (clickId: string | null) => {
    if (clickId === null || clickId.startsWith(PSEUDONYM)) return clickId;
    const name = names.get(clickId) ?? newName(parts);
    names.set(clickId, name);
    return name;
  };
  const redacted = events.map((before) => {
    const fold = orders.get(before.orderId ?? "")?.fold;
    return {
      before,
      after: redactEvent(before, {
        names: {
          userId: before.kind !== "webhook" && isSameId(before.userId, userId)
            ? pseudonym
            : null,
          clickId: before.orderId === null ? null : clickName(before.clickId),
        },
        match: fold === undefined ? null : matchToKeep(fold, assets),
        randomBytes,
      }),
    };
  });
  const nobody = { userId: null, clickId: null };
  const blanked = holders.blank.map((before) => ({
    before,
    after: redactEvent(before, { names: nobody, match: null, randomBytes }),
  }));
  const deliveries = new Set(
    [...events, ...holders.blank].map(({ eventId }) => eventId),
  );
  const noted = await notesAbout(
    parts,
    (entity, id) =>
      entity === "order"
        ? orders.has(id)
        : entity === "user"
        ? isSameId(id, userId)
        : entity === "delivery" && deliveries.has(id),
  );
  const nos = [...orders.values()].map(({ no }) => no);
  const isFolded = ({ before }: Replacement) =>
    before.position <= guard.position;
  return [
    ...await replaceEvents(parts, {
      guard,
      replaced: [...redacted, ...blanked, ...noted.filter(isFolded)],
      gone: { users, orders: nos },
    }),
    // Nothing vouches yet for what is not folded.
    ...noted.filter((one) => !isFolded(one))
      .map(({ after }) => updateEvent(after)),
    insertAlias(guard.key, "user", [userId, { at: erasedAt, back: null }]),
    ...[...clicks].map((clickId) =>
      insertAlias(guard.key, "click", [clickId, { at: erasedAt }])
    ),
    ...[...values].map(([value, kind]) =>
      insertAlias(guard.key, kind, [value, { length: value.length }])
    ),
    ...[...orders].map(([orderId, { fold }]) =>
      insertErasedOrder(guard.key, {
        ...{ orderId, userId: pseudonym, erasedAt },
        clickId: clickName(fold.latest?.clickId || null),
      })
    ),
    insertAlias(guard.key, "person", [pseudonym, {
      ...{ name: pseudonym, at: erasedAt },
      ...{ events: events.length, orders: orders.size },
    }]),
    ...addFindings(holders.list, erasedAt),
    statement(
      "UPDATE outbox SET error = NULL WHERE no IN (SELECT value FROM json_each(?))",
      listed(nos),
    ),
    ...await observedAs(parts, person, { pseudonym, clickName }),
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
  { pseudonym, clickName }: {
    readonly pseudonym: string;
    readonly clickName: (clickId: string | null) => string | null;
  },
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
    const clickId = orders.get(String(id))?.fold.latest?.clickId || null;
    const names = { userId: pseudonym, clickId: clickName(clickId) };
    return statement(
      "UPDATE observations SET digest = ? WHERE entity = 'order' AND id = ?",
      reading === undefined ? "" : redactReading(reading, { names }).digest,
      id ?? null,
    );
  });
}

/** What people noted may name the person: of orders that they did it stays. */
export async function notesAbout(
  { driver, randomBytes }: ErasureParts,
  isAbout: (entity: string, id: string) => boolean,
): Promise<Replacement[]> {
  const [rows] = await readDeciding(driver, [statement(
    `SELECT ${EVENT_COLUMNS} FROM events AS e
      WHERE e.kind = 'note' AND e.${IS_RARE}`,
  )]);
  return eventsOf(rows).flatMap((before) => {
    const note = noteOf(before);
    if (note === null || !isAbout(note.entity, note.entityId)) return [];
    return [{ before, after: withoutText(before, randomBytes) }];
  });
}

/** A note without its text; of an order that it is there stays, of others nothing. */
export function withoutText(
  event: StoredEvent,
  randomBytes: ErasureParts["randomBytes"],
): StoredEvent {
  const note = noteOf(event);
  const left = note?.entity !== "order" ? {} : {
    ...{ entity: note.entity, entity_id: note.entityId, action: note.action },
    ...{ reasons: note.reasons, text: "", author: note.author },
  };
  return rewritten(event, left, { kind: "note", randomBytes });
}

/** A random name, derived from nothing. */
export function newName(
  { randomBytes }: Pick<ErasureParts, "randomBytes">,
): string {
  return PSEUDONYM + hexOf(randomBytes(10));
}

/**
 * How an order compares with what the partner recorded, so that it stays known when
 * both are redacted; null while no reading can be compared.
 */
export function matchToKeep(
  fold: OrderFold,
  assets: ErasureParts["assets"],
): MatchFact | null {
  return fold.latest === null ? null : matchExpectations(fold, assets).match;
}

/** What has to be known of an order before something of it goes. */
export function erasableOrder(
  fold: OrderFold,
  { assets }: Pick<ErasureParts, "assets">,
): ErasableOrder {
  const state = orderState(fold, { assets });
  const { orderId, status, trust } = state;
  const blocks: ErasureBlock[] = [];
  if (trust !== "confirmed" || !isFinal(status)) blocks.push("under_way");
  if (state.attention.includes("refund_due")) blocks.push("refund_due");
  return { orderId, status, trust, blocks };
}

function planOf(
  { userId, events, orders, claims }: Person,
  parts: ErasureParts,
): ErasurePlan {
  const kinds: Partial<Record<EventKind, number>> = {};
  const fields = new Set<string>();
  for (const event of events) {
    kinds[event.kind] = (kinds[event.kind] ?? 0) + 1;
    for (const field of fieldNames(event.body)) {
      if (!stays(event, field)) fields.add(field);
    }
  }
  const byId = (
    a: { readonly orderId: string },
    b: { readonly orderId: string },
  ) => a.orderId < b.orderId ? -1 : 1;
  return {
    userId,
    events: kinds,
    fields: [...fields].sort(),
    orders: [...orders.values()].map(({ fold }) => erasableOrder(fold, parts))
      .sort(byId),
    claims: claims.toSorted(byId),
    compared: null,
  };
}

const OF_READING = new Set<string>(["order_id", ...KEPT_ORDER_FIELDS]);
const OF_WEBHOOK = new Set([
  "order.id",
  ...KEPT_OF_WEBHOOK.flatMap((name) => orderField(name).webhook?.path ?? []),
]);

/** Whether a field of an event is kept. */
function stays({ kind, orderId }: StoredEvent, field: string): boolean {
  if (field === "erased") return true;
  switch (kind) {
    case "order_snapshot":
      return OF_READING.has(field);
    case "order_redacted":
      return field !== "user_id" && field !== "click_id";
    case "webhook":
      return field === "type" || (orderId !== null && OF_WEBHOOK.has(field));
    default:
      return false;
  }
}

/** Names of the fields of a JSON object, those within others after a dot. */
function fieldNames(body: Uint8Array): Set<string> {
  const names = new Set<string>();
  const walk = (value: unknown, path: string) => {
    if (Array.isArray(value)) value.forEach((one) => walk(one, path));
    else if (isRecord(value)) {
      for (const [name, inner] of Object.entries(value)) {
        walk(inner, path === "" ? name : `${path}.${name}`);
      }
    } else if (path !== "") names.add(path);
  };
  try {
    const value: unknown = parseExact(new TextDecoder().decode(body));
    if (isRecord(value)) walk(value, "");
  } catch {
    // A body that is no JSON has no names of fields.
  }
  return names;
}
