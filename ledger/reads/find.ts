/** Orders and users by anything that names one. */
import type { AssetTable } from "../../core/assets/environment.ts";
import { readFact } from "../events/read_fact.ts";
import { askedAtOf, validUntil } from "../events/event.ts";
import { isExpectation } from "../events/fact.ts";
import { compareText } from "../machines/machine.ts";
import type { Trust } from "../machines/transition.ts";
import {
  type Driver,
  listed,
  read,
  type Rows,
  type SqlValue,
  type Statement,
  statement,
} from "../store/database.ts";
import { lookupText } from "../projection/rows.ts";
import type { LookupHash, LookupKind } from "../projection/guard.ts";
import { EVENT_COLUMNS, eventsOf } from "../store/events.ts";
import {
  ALL,
  byCreation,
  type FieldMatch,
  type FoundField,
  isOfSession,
  namesOf,
  readHash,
  readPage,
  readSessions,
  RECORDED,
  STATED,
  where,
  wrongQuery,
} from "./pages.ts";
import {
  type FoundOrder,
  MOST_FOUND,
  ORDER_COLUMNS,
  orderOfRow,
  type OrderView,
} from "./orders.ts";
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

/** Most recorded names that are listed. */
const MOST_RECORDED = 10;

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
  const hash = await readHash(driver);
  const kinds = new Map(
    WHOLE.map((kind) => [hash.of(kind, lookupText(kind, searched)), kind]),
  );
  const [looked = [], ids = [], users = [], recorded] = await read(driver, [
    selectLooked(kinds.keys()),
    selectIds(searched),
    statement(
      `SELECT ${USER_COLUMNS} FROM users AS r
        WHERE r.id IN (SELECT value FROM json_each(?))`,
      listed(spellings(searched)),
    ),
    selectRecorded(hash, searched),
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
  for (const [at, shown, ...row] of looked) {
    const trust = trustOf(shown);
    const kind = kinds.get(Number(at)) ?? "tx";
    // Under a session an order is shown by its terms, which may have changed.
    const field = trust === "confirmed" && kind === "session"
      ? undefined
      : BELIEVED[kind];
    add(orderOfRow(row, assets), field && { field, value: searched, trust });
  }
  for (const row of ids) add(orderOfRow(row, assets));
  for (const { sessionId, clickId } of await readSessions(driver, searched)) {
    const found = [...orders.values()];
    if (found.some(({ order }) => isOfSession(order, sessionId))) continue;
    const [rows = []] = await read(driver, [
      selectLooked([hash.of("click", clickId)]),
    ]);
    for (const [, shown, ...row] of rows) {
      add(orderOfRow(row, assets), {
        ...{ field: "sessionId", value: sessionId, trust: trustOf(shown) },
      });
    }
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
    recorded: recordedOf(recorded),
  };
}

/** Selects orders by hashes of names: hash, whether it is shown, ORDER_COLUMNS. */
function selectLooked(hashes: Iterable<number>): Statement {
  const hits = (shown: 0 | 1) =>
    `SELECT * FROM (SELECT hash, shown, no FROM lookup
      WHERE hash IN (SELECT value FROM json_each(?1)) AND shown = ${shown}
      LIMIT ${MOST_FOUND + 1})`;
  return statement(
    `SELECT l.hash, l.shown, ${ORDER_COLUMNS}
      FROM (${hits(1)} UNION ALL ${hits(0)}) AS l
      CROSS JOIN orders AS r ON r.no = l.no`,
    listed(hashes),
  );
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

function trustOf(shown: SqlValue | undefined): Trust {
  return shown === 1 ? "confirmed" : "claimed";
}

/** Identifiers of the service are in capitals or in none. */
function spellings(text: string): string[] {
  return [...new Set([text, text.toUpperCase(), text.toLowerCase()])];
}

function selectIds(text: string): Statement {
  const last = text.length >= PREFIX_AT_LEAST ? LAST : "";
  return statement(
    `SELECT ${ORDER_COLUMNS} FROM json_each(?) AS w
      CROSS JOIN orders AS r ON r.id >= w.value ->> 0 AND r.id <= w.value ->> 1
      LIMIT ${MOST_FOUND + 1}`,
    JSON.stringify(spellings(text).map((one) => [one, one + last])),
  );
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

/** Selects the events of what the partner recorded under a whole name. */
function selectRecorded(hash: LookupHash, text: string): Statement {
  const kinds = {
    click: "asked_click",
    reference: "asked_reference",
    session: "session",
  } as const;
  const found = Object.entries(kinds).map(([column, kind]) =>
    `SELECT position, asked_at FROM expected
      WHERE ${column} IN (${spellings(text).map((one) => hash.of(kind, one))})`
  );
  return statement(
    `SELECT ${EVENT_COLUMNS} FROM (${found.join(" UNION ")}
        ORDER BY asked_at DESC, position DESC LIMIT ${MOST_RECORDED}) AS x
      CROSS JOIN events AS e ON e.position = x.position`,
  );
}

function recordedOf(rows: Rows | undefined): RecordedName[] {
  return eventsOf(rows).map(readFact).filter(isExpectation)
    .map(({ expectation: one }) => ({
      sessionId: one.sessionId,
      clickId: one.clickId,
      reference: one.reference,
      askedAt: askedAtOf(one),
      validUntil: validUntil(one),
    })).sort((a, b) => compareText(b.askedAt, a.askedAt));
}
