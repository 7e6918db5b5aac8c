/** Orders and users by anything that names one. */
import type { AssetTable } from "../../core/assets/environment.ts";
import { compareText } from "../machines/machine.ts";
import { type Driver, listed, select } from "../store/database.ts";
import type { LookupKind } from "../projection/guard.ts";
import { ALL, byCreation, readPage, where, wrongQuery } from "./pages.ts";
import {
  type FoundOrder,
  MOST_FOUND,
  ORDER_COLUMNS,
  orderOfRow,
  type OrderView,
  readNamed,
} from "./orders.ts";
import {
  type FieldMatch,
  type FoundField,
  isOfSession,
  namesOf,
  readRecorded,
  RECORDED,
  type RecordedName,
  STATED,
} from "./names.ts";
import { USER_COLUMNS, userOfRow, type UserView } from "./users.ts";

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

/** Shorter texts are the beginning of too many ids. */
export const PREFIX_AT_LEAST = 4;

/** The same of names that nobody reads out: sessions, clicks, hashes. */
const LONG_AT_LEAST = 6;

/** Above every text that begins alike. */
const LAST = "\u{10ffff}";

/** Orders that are looked through for what is no whole name. */
const NEWEST = 20_000;

/** What finds an order by the hash of a whole name. */
const WHOLE: readonly LookupKind[] = [
  ...[...STATED, ...RECORDED],
  ...["tx", "address", "card"] as const,
];

/**
 * Finds orders and users by anything that names one. A whole name is looked up;
 * where the service has shown none under it, the newest orders are looked through for
 * names that begin with the text, and for a part of a transaction.
 */
export async function findAnything(
  driver: Driver,
  text: string,
  assets: AssetTable,
): Promise<FindResult> {
  const searched = text.trim();
  if (searched === "") {
    throw wrongQuery("text", text, "something to look for");
  }
  // With fewer characters too many ids begin.
  const last = searched.length >= PREFIX_AT_LEAST ? LAST : "";
  const [hits, ids, users, recorded] = await Promise.all([
    readNamed(driver, assets, WHOLE, searched),
    select(
      driver,
      `SELECT ${ORDER_COLUMNS} FROM json_each(?) AS w
        CROSS JOIN orders AS r ON r.id >= w.value ->> 0 AND r.id <= w.value ->> 1
        LIMIT ${MOST_FOUND + 1}`,
      JSON.stringify(spellings(searched).map((one) => [one, one + last])),
    ),
    select(
      driver,
      `SELECT ${USER_COLUMNS} FROM users AS r
        WHERE r.id IN (SELECT value FROM json_each(?))`,
      listed(spellings(searched)),
    ),
    readRecorded(driver, spellings(searched)),
  ]);
  const orders = new Map<string, Extract<Found, { entity: "order" }>>();
  const add = (one: FoundOrder, hit?: FieldMatch) => {
    const { order } = one;
    const known = orders.get(order.orderId)?.matches ??
      matchesOf(one, searched);
    const isShown = ({ field, value }: FieldMatch) =>
      hit?.trust === "confirmed" && field === hit.field &&
      value.toLowerCase() === hit.value.toLowerCase();
    const matches = known.length === 0 && hit !== undefined
      ? [hit]
      : known.map((match): FieldMatch =>
        isShown(match) ? { ...match, trust: "confirmed" } : match
      );
    if (matches.length === 0) return;
    orders.set(order.orderId, { entity: "order", matches, order });
  };
  for (const { kind, trust, ...one } of hits) {
    // Under a session an order is shown by its terms, which may have changed.
    const field = trust === "confirmed" && kind === "session"
      ? undefined
      : BELIEVED[kind];
    add(one, field && { field, value: searched, trust });
  }
  for (const row of ids) add(orderOfRow(row, assets));
  for (const { sessionId, clickId } of recorded) {
    if (
      clickId === null || sessionId?.toLowerCase() !== searched.toLowerCase() ||
      orders.values().some(({ order }) => isOfSession(order, sessionId))
    ) continue;
    for (
      const { trust, kind: _, ...one } of await readNamed(
        driver,
        assets,
        ["click"],
        clickId,
      )
    ) add(one, { field: "sessionId", value: sessionId, trust });
  }
  const rank = ({ matches }: Found) =>
    Math.max(...matches.map((match) => rankOf(match, searched)));
  if (
    users.length + ids.length === 0 && searched.length >= PREFIX_AT_LEAST &&
    !orders.values().some((one) => rank(one) === BEST)
  ) {
    for (const one of await readAlike(driver, searched, assets)) add(one);
  }
  const all = [
    ...users.map((row): Found => {
      const user = userOfRow(row);
      const trust = isRead(user) ? "confirmed" : "claimed";
      const match = { field: "userId", value: user.userId, trust } as const;
      return { entity: "user", matches: [match], user };
    }),
    ...[...orders.values()].sort((a, b) =>
      rank(b) - rank(a) ||
      compareText(b.order.createdAt ?? "", a.order.createdAt ?? "") ||
      compareText(a.order.orderId, b.order.orderId)
    ),
  ];
  return {
    found: all.slice(0, MOST_FOUND),
    more: all.length > MOST_FOUND,
    recorded,
  };
}

/**
 * Where an order keeps nothing alike, a hit counts as this: of what webhooks named,
 * and of what earlier readings showed, not all is kept.
 */
const BELIEVED: Readonly<Partial<Record<LookupKind, FoundField>>> = {
  session: "sessionId",
  click: "clickId",
  external: "externalOrderId",
};

/** Identifiers of the service are in capitals or in none. */
function spellings(text: string): string[] {
  return [...new Set([text, text.toUpperCase(), text.toLowerCase()])];
}

/** Orders, the newest, that have a text somewhere in what is known of them. */
async function readAlike(
  driver: Driver,
  text: string,
  assets: AssetTable,
): Promise<readonly FoundOrder[]> {
  const { items } = await readPage(driver, {
    ...{ ...byCreation("orders"), ranges: [ALL], columns: ORDER_COLUMNS },
    // As JSON writes it.
    where: [where(
      "instr(lower(r.fold), lower(?)) > 0",
      JSON.stringify(text).slice(1, -1),
    )],
    viewsOf: (rows) => rows.map((row) => orderOfRow(row, assets)),
    holds: (found) => matchesOf(found, text).length > 0,
    mostSearched: NEWEST,
  }, { limit: MOST_FOUND });
  return items;
}

const READ_OUT: readonly FoundField[] = [
  "orderId",
  "externalOrderId",
  "reference",
];

/** What of an order a text names, the best first. */
function matchesOf(
  { order, fold }: FoundOrder,
  text: string,
): readonly FieldMatch[] {
  const wanted = text.toLowerCase();
  const isLong = wanted.length >= LONG_AT_LEAST;
  const matches = namesOf(order, fold).filter(({ field, value }) => {
    const name = value.toLowerCase();
    if (name === wanted) return true;
    if (field === "cardId" || wanted.length < PREFIX_AT_LEAST) return false;
    if (name.startsWith(wanted)) return isLong || READ_OUT.includes(field);
    return field === "txId" && isLong && /^\w+$/.test(wanted) &&
      name.includes(wanted);
  });
  return matches.sort((a, b) => rankOf(b, text) - rankOf(a, text));
}

/** The rank of a whole name that the service has shown. */
const BEST = 3;

function rankOf({ value, trust }: FieldMatch, text: string): number {
  return (value.toLowerCase() === text.toLowerCase() ? 2 : 0) +
    (trust === "confirmed" ? 1 : 0);
}

/** Whether the service has shown the user. */
function isRead({ banned, verificationTrust }: UserView): boolean {
  return banned !== null ||
    Object.values(verificationTrust).includes("confirmed");
}
