/** Orders and users by anything that names one. */
import type { AssetTable } from "../../core/assets/environment.ts";
import { readFact } from "../events/read_fact.ts";
import {
  askedAtOf,
  type Expectation,
  validUntil,
} from "../events/expectation.ts";
import { isExpectation } from "../events/fact.ts";
import type { Driver, Statement } from "../store/driver/driver.ts";
import { lookupText } from "../projection/rows.ts";
import type { LookupKind } from "../projection/lookup_hash.ts";
import { listed, read } from "../store/database.ts";
import { findNotes } from "../recording/notes.ts";
import { EVENT_COLUMNS, eventsOf } from "../store/events.ts";
import {
  type FieldMatch,
  type FoundField,
  isOfSession,
  namesOf,
  readHash,
  readSessions,
  RECORDED,
  STATED,
} from "./names.ts";
import {
  type FoundOrder,
  ORDER_COLUMNS,
  orderOfRow,
  type OrderView,
} from "./orders.ts";
import { ALL, readPage, wrongQuery } from "./pages.ts";
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

/** Most that is found at once: more do not show which one is meant. */
const MOST_FOUND = 100;

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
  ...STATED,
  ...RECORDED,
  ...["tx", "address", "card"] as const,
];

/**
 * Finds orders and users by anything that names one. A whole name is looked up;
 * where the service has shown none under it, the newest orders are looked through for
 * names that begin with the text, and for a part of a transaction.
 *
 * @param text What to look for; spaces around it do not count.
 * @throws {RangeError} When the text is empty.
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
  const hashes = listed(kinds.keys());
  const [shown = [], claimed = [], ids = [], users = [], recorded] = await read(
    driver,
    [
      selectLooked(hashes, 1),
      selectLooked(hashes, 0),
      selectIds(searched),
      {
        sql: `SELECT ${USER_COLUMNS} FROM users AS r
          WHERE r.id IN (SELECT value FROM json_each(?))`,
        args: [listed(spellings(searched))],
      },
      selectRecorded(hash, searched),
    ],
  );
  const orders = new FoundOrders(searched);
  for (
    const [trust, hits] of [["confirmed", shown], ["claimed", claimed]] as const
  ) {
    for (const [at, ...row] of hits) {
      const kind = kinds.get(Number(at)) ?? "tx";
      // Under a session an order is shown by its terms, which may have changed.
      const field = trust === "confirmed" && kind === "session"
        ? undefined
        : BELIEVED[kind];
      orders.add(
        orderOfRow(row, assets),
        field === undefined ? null : { field, value: searched, trust },
      );
    }
  }
  for (const row of ids) orders.add(orderOfRow(row, assets), null);
  for (
    const { sessionId, clickId } of await readSessions(driver, hash, searched)
  ) {
    const isMeant = [...orders.all.values()].some(({ order }) =>
      isOfSession(order, sessionId)
    );
    if (isMeant) continue;
    const click = listed([hash.of("click", clickId)]);
    const [byClick = [], named = []] = await read(driver, [
      selectLooked(click, 1),
      selectLooked(click, 0),
    ]);
    for (
      const [trust, hits] of [["confirmed", byClick], [
        "claimed",
        named,
      ]] as const
    ) {
      for (const [, ...row] of hits) {
        const match: FieldMatch = {
          field: "sessionId",
          value: sessionId,
          trust,
        };
        orders.add(orderOfRow(row, assets), match);
      }
    }
  }
  if (
    users.length + ids.length === 0 && !orders.isWhole &&
    searched.length >= PREFIX_AT_LEAST
  ) {
    const alike = await readAlike(driver, searched, assets);
    for (const one of alike) orders.add(one, null);
  }
  const byUser = users.map((row): Found => {
    const user = userOfRow(row);
    const trust = isRead(user) ? "confirmed" : "claimed";
    const matches = [{ field: "userId", value: user.userId, trust }] as const;
    return { entity: "user", matches, user };
  });
  const rank = rankOf(searched);
  const byOrder = [...orders.all.values()].sort((a, b) =>
    rank(b) - rank(a) || compare(createdAt(b), createdAt(a)) ||
    compare(idOf(a), idOf(b))
  );
  const known = new Set([...byUser, ...byOrder].map(idOf));
  const noted = await findNoted(driver, searched, { known, assets });
  const all = [...byUser, ...byOrder, ...noted];
  return {
    found: all.slice(0, MOST_FOUND),
    more: all.length > MOST_FOUND,
    recorded: recordedOf(
      eventsOf(recorded).map(readFact).filter(isExpectation)
        .map(({ expectation }) => expectation),
    ),
  };
}

/** Other orders and users of which people noted the text, the latest note first. */
async function findNoted(
  driver: Driver,
  text: string,
  { known, assets }: {
    readonly known: ReadonlySet<string>;
    readonly assets: AssetTable;
  },
): Promise<Found[]> {
  const notes = (await findNotes(driver, text, MOST_FOUND))
    .filter(({ id }) => !known.has(id));
  if (notes.length === 0) return [];
  const found = await read(
    driver,
    notes.map(({ entity, id }) => ({
      sql: entity === "order"
        ? `SELECT ${ORDER_COLUMNS} FROM orders AS r WHERE r.id = ?`
        : `SELECT ${USER_COLUMNS} FROM users AS r WHERE r.id = ?`,
      args: [id],
    })),
  );
  return notes.flatMap(({ entity, text: value }, at): Found[] => {
    const row = found[at]?.[0];
    const matches = [{ field: "note", value, trust: "confirmed" }] as const;
    if (row === undefined) return [];
    return entity === "order"
      ? [{ entity, matches, order: orderOfRow(row, assets).order }]
      : [{ entity, matches, user: userOfRow(row) }];
  });
}

/** Selects orders by hashes of names: rows of hash and the columns of an order. */
function selectLooked(hashes: string, shown: 0 | 1): Statement {
  return {
    sql: `SELECT l.hash, ${ORDER_COLUMNS}
      FROM (SELECT hash, no FROM lookup
        WHERE hash IN (SELECT value FROM json_each(?)) AND shown = ${shown}
        LIMIT ${MOST_FOUND + 1}) AS l
      CROSS JOIN orders AS r ON r.no = l.no`,
    args: [hashes],
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

/** The orders that a text names, each once. */
class FoundOrders {
  readonly all = new Map<string, Extract<Found, { entity: "order" }>>();
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Whether the service has shown an order under the whole text. */
  get isWhole(): boolean {
    const best = 3;
    return [...this.all.values()].some((one) =>
      rankOf(this.#text)(one) === best
    );
  }

  /**
   * Adds an order with what of it the text names.
   *
   * @param hit What it is found by: also where the order keeps nothing alike.
   */
  add(one: FoundOrder, hit: FieldMatch | null): void {
    const { order } = one;
    const known = this.all.get(order.orderId)?.matches ??
      matchesOf(one, this.#text);
    const isSame = ({ field, value }: FieldMatch) =>
      field === hit?.field && value.toLowerCase() === hit.value.toLowerCase();
    const matches = hit === null
      ? known
      : known.length === 0
      ? [hit]
      : known.map((match) =>
        isSame(match) && hit.trust === "confirmed"
          ? { ...match, trust: hit.trust }
          : match
      );
    if (matches.length === 0) return;
    this.all.set(order.orderId, { entity: "order", matches, order });
  }
}

/** Identifiers of the service are in capitals or in none. */
function spellings(text: string): string[] {
  return [...new Set([text, text.toUpperCase(), text.toLowerCase()])];
}

function selectIds(text: string): Statement {
  const isPrefix = text.length >= PREFIX_AT_LEAST;
  return {
    sql: `SELECT ${ORDER_COLUMNS} FROM json_each(?) AS w
      CROSS JOIN orders AS r ON r.id >= w.value ->> 0 AND r.id <= w.value ->> 1
      LIMIT ${MOST_FOUND + 1}`,
    args: [
      JSON.stringify(
        spellings(text).map((one) => [one, isPrefix ? one + LAST : one]),
      ),
    ],
  };
}

/** Orders, the newest, that have a text somewhere in what is known of them. */
async function readAlike(
  driver: Driver,
  text: string,
  assets: AssetTable,
): Promise<readonly FoundOrder[]> {
  const { views } = await readPage(
    driver,
    {
      ...{ table: "orders", ranges: [ALL], sort: "newest" },
      ...{ after: undefined, upTo: undefined },
      where: [{
        sql: "instr(lower(r.fold), lower(?)) > 0",
        // As JSON writes it.
        args: [JSON.stringify(text).slice(1, -1)],
      }],
    },
    {
      columns: ORDER_COLUMNS,
      viewOf: (row) => orderOfRow(row, assets),
      holds: (found) => matchesOf(found, text).length > 0,
      mostSearched: NEWEST,
    },
    { limit: MOST_FOUND },
  );
  return views;
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
  const rank = (match: FieldMatch) => rankOfMatch(match, wanted);
  return matches.sort((a, b) => rank(b) - rank(a));
}

function rankOfMatch({ value, trust }: FieldMatch, wanted: string): number {
  return (value.toLowerCase() === wanted ? 2 : 0) +
    (trust === "confirmed" ? 1 : 0);
}

function rankOf(text: string): (found: Found) => number {
  const wanted = text.toLowerCase();
  return ({ matches }) =>
    Math.max(...matches.map((match) => rankOfMatch(match, wanted)));
}

function createdAt(found: Found): string {
  return found.entity === "order" ? found.order.createdAt ?? "" : "";
}

function idOf(found: Found): string {
  return found.entity === "order" ? found.order.orderId : found.user.userId;
}

/** Whether the service has shown the user. */
function isRead({ banned, verificationTrust }: UserView): boolean {
  return banned !== null ||
    Object.values(verificationTrust).includes("confirmed");
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Selects the events of what the partner recorded under a whole name. */
function selectRecorded(
  hash: Awaited<ReturnType<typeof readHash>>,
  text: string,
): Statement {
  const found = ["click", "reference", "session"].map((column) => {
    const kind = column === "session" ? column : `asked_${column}`;
    const hashes = spellings(text).map((one) =>
      hash.of(kind as LookupKind, one)
    );
    return `SELECT position, asked_at FROM expected
      WHERE ${column} IN (${[...new Set(hashes)].join(", ")})`;
  });
  return {
    sql: `SELECT ${EVENT_COLUMNS} FROM (${found.join(" UNION ")}
        ORDER BY asked_at DESC, position DESC LIMIT ${MOST_RECORDED}) AS x
      CROSS JOIN events AS e ON e.position = x.position`,
    args: [],
  };
}

function recordedOf(expectations: readonly Expectation[]): RecordedName[] {
  return expectations.map((one) => ({
    sessionId: one.sessionId,
    clickId: one.clickId,
    reference: one.reference,
    askedAt: askedAtOf(one),
    validUntil: validUntil(one),
  })).sort((a, b) => compare(b.askedAt, a.askedAt));
}
