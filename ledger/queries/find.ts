import { spellingsOf } from "../../core/chain/canonical.ts";
import { readUserActivity } from "../users/user_activity.ts";
import { findNotes } from "../attention/notes.ts";
import type { Driver, SqlValue } from "../store/driver/driver.ts";
import {
  selectFoundOrders,
  selectFoundUsers,
  selectOrdersByPart,
} from "../store/tables/find.ts";
import { selectState } from "../store/tables/lists/state_pages.ts";
import { selectRecorded } from "../store/tables/recorded_sessions.ts";
import type { Trust } from "../machines/transition.ts";
import type { OrderView } from "./orders.ts";
import { storedOrder } from "./state_reader.ts";
import { wrongQuery } from "../store/tables/query_values.ts";
import type { UserView } from "./users.ts";

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

/** An order or a user that a text leads to. */
export type Found =
  | {
    /** Which kind it is. */
    readonly entity: "order";
    /** What matched; whole matches come first. */
    readonly matches: readonly FieldMatch[];
    /** The order. */
    readonly order: OrderView;
  }
  | {
    /** Which kind it is. */
    readonly entity: "user";
    /** What matched. */
    readonly matches: readonly FieldMatch[];
    /** The user. */
    readonly user: UserView;
  };

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

/** What a text leads to. */
export interface FindResult {
  /** Whole matches first, of these confirmed ones, then the newest. */
  readonly found: readonly Found[];
  /** Whether there are more than are listed. */
  readonly more: boolean;
  /**
   * What you recorded under exactly this session, click id or reference, even
   * if no order matches it; the latest ten, latest first.
   */
  readonly recorded: readonly RecordedName[];
}

/** Most that is found at once: more do not show which one is meant. */
const MOST_FOUND = 100;

/** Most recorded names that are listed. */
const MOST_RECORDED = 10;

/** Shorter texts are the beginning of too many ids. */
export const PREFIX_AT_LEAST = 4;

/** The same of names that nobody reads out: sessions, clicks, hashes. */
const LONG_AT_LEAST = 6;

/**
 * Finds orders and users by anything that names one.
 *
 * @param text What to look for; spaces around it do not count.
 * @throws {RangeError} When the text is empty.
 */
export async function findAnything(
  driver: Driver,
  text: string,
): Promise<FindResult> {
  const searched = text.trim();
  if (searched === "") {
    throw wrongQuery("text", text, "something to look for");
  }
  const isPrefix = searched.length >= PREFIX_AT_LEAST;
  const isLong = searched.length >= LONG_AT_LEAST;
  const limit = MOST_FOUND + 1;
  const [orders, users, named] = await driver.batch([
    selectFoundOrders({ text: searched, isPrefix, isLong, limit }),
    selectFoundUsers({ text: searched, isPrefix, isLong, limit }),
    selectRecorded(spellingsOf(searched), MOST_RECORDED),
  ], "read");
  const whole = new Set(
    spellingsOf(searched).map((one) => one.toLowerCase()),
  );
  const found = new Map<string, { order: OrderView; matches: FieldMatch[] }>();
  const isNothing =
    (orders?.rows.length ?? 0) + (users?.rows.length ?? 0) === 0;
  const [parts] = isNothing && isLong && /^\w+$/.test(searched)
    ? await driver.batch([selectOrdersByPart(searched, limit)], "read")
    : [];
  for (const row of [...orders?.rows ?? [], ...parts?.rows ?? []]) {
    const [field, value, state, activity, confirmed, ...context] = row;
    const order: OrderView = storedOrder(
      state as string,
      activity as string,
      context,
    );
    const one = found.get(order.orderId) ?? { order, matches: [] };
    const isConfirmed = confirmed === null
      ? order.confirmed !== null
      : confirmed === 1;
    const match: FieldMatch = {
      field: field as FoundField,
      value: value as string,
      trust: isConfirmed ? "confirmed" : "claimed",
    };
    const known = one.matches.findIndex((other) =>
      other.field === match.field && other.value === match.value
    );
    if (known === -1) one.matches.push(match);
    else if (isConfirmed) one.matches[known] = match;
    found.set(order.orderId, one);
  }
  const isWhole = ({ value }: FieldMatch) => whole.has(value.toLowerCase());
  const rank = (match: FieldMatch) =>
    (isWhole(match) ? 2 : 0) + (match.trust === "confirmed" ? 1 : 0);
  const best = (matches: readonly FieldMatch[]) =>
    Math.max(...matches.map(rank));
  const byOrder = [...found.values()].map(({ order, matches }) => ({
    entity: "order" as const,
    matches: matches.toSorted((a, b) => rank(b) - rank(a)),
    order,
  })).sort((a, b) =>
    best(b.matches) - best(a.matches) ||
    compare(b.order.createdAt ?? "", a.order.createdAt ?? "") ||
    compare(a.order.orderId, b.order.orderId)
  );
  const byUser = (users?.rows ?? []).map(([state, activity]) => {
    const user = storedUser(state, activity);
    const matches = [{
      field: "userId" as const,
      value: user.userId,
      trust: isRead(user) ? "confirmed" as const : "claimed" as const,
    }];
    return { entity: "user" as const, matches, user };
  });
  const noted = await findByNotes(
    driver,
    searched,
    new Set([...found.keys(), ...byUser.map(({ user }) => user.userId)]),
  );
  const all: Found[] = [...byUser, ...byOrder, ...noted];
  const textOrNull = (value: unknown) => value === null ? null : String(value);
  const recorded = (named?.rows ?? []).map((
    [sessionId, clickId, reference, askedAt, validUntil],
  ) => ({
    sessionId: textOrNull(sessionId),
    clickId: textOrNull(clickId),
    reference: textOrNull(reference),
    askedAt: String(askedAt),
    validUntil: String(validUntil),
  }));
  return {
    found: all.slice(0, MOST_FOUND),
    more: all.length > MOST_FOUND,
    recorded,
  };
}

/** Orders and users of which people noted the text, the latest note first. */
async function findByNotes(
  driver: Driver,
  text: string,
  known: ReadonlySet<string>,
): Promise<Found[]> {
  const notes = (await findNotes(driver, text, MOST_FOUND))
    .filter(({ id }) => !known.has(id));
  if (notes.length === 0) return [];
  const read = await driver.batch(
    notes.map(({ entity, id }) => selectState(entity, id)),
    "read",
  );
  return notes.flatMap(({ entity, text: value }, at): Found[] => {
    const row = read[at]?.rows[0];
    if (row === undefined) return [];
    const [state, activity, ...context] = row;
    const matches = [{ field: "note", value, trust: "confirmed" }] as const;
    return entity === "order"
      ? [{
        entity,
        matches,
        order: storedOrder(state as string, activity as string, context),
      }]
      : [{ entity, matches, user: storedUser(state, activity) }];
  });
}

function storedUser(
  state: SqlValue = null,
  activity: SqlValue = null,
): UserView {
  return {
    ...JSON.parse(state as string),
    activity: readUserActivity(activity as string),
  };
}

/** Whether the service has shown the user. */
function isRead({ banned, verificationTrust }: UserView): boolean {
  return banned !== null ||
    Object.values(verificationTrust).includes("confirmed");
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
