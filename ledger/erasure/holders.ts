/** Which events hold an id of somebody erased, wherever it stands in the body. */
import { LONGEST_IDENTIFIER } from "../../core/wire/identifier.ts";
import type { EventKind } from "../machines/event_kind.ts";
import type { Driver } from "../store/driver/driver.ts";
import { listed, readDeciding, statement } from "../store/database.ts";
import { EVENT_COLUMNS, eventsOf, type StoredEvent } from "../store/events.ts";
import {
  type AliasKind,
  comparedId,
  readAliases,
  readErasedNames,
  readErasedOrders,
} from "../store/aliases.ts";
import { isRedacted } from "./redact.ts";

/** Kinds of events that may hold an id of a person in any place. */
const COMPARED: ReadonlySet<EventKind> = new Set([
  "webhook",
  "order_snapshot",
  "user_snapshot",
  "session_created",
  "order_expected",
]);

/** Why an event that holds such a value is listed and not blanked. */
export type FindingReason = "other_person" | "chosen_click_id" | "not_json";

/** Events that hold a value of somebody erased. */
export interface Holders {
  /** Those that are about nobody else. */
  readonly blank: readonly StoredEvent[];
  /** Those that a person has to look at. */
  readonly list: readonly {
    readonly position: number;
    readonly why: FindingReason;
  }[];
}

/** Values as they are compared: certainly the person's, or merely chosen. */
export type Values = ReadonlyMap<string, "own" | "chosen">;

/**
 * @param find Says which of some texts are such values.
 * @param own Whether an order is the person's: its webhooks are about nobody else.
 */
export async function findHolders(
  driver: Driver,
  events: readonly StoredEvent[],
  { find, own = () => false }: {
    readonly find: (texts: ReadonlySet<string>) => Promise<Values>;
    readonly own?: (orderId: string) => boolean;
  },
): Promise<Holders> {
  const read = events.filter((event) =>
    COMPARED.has(event.kind) && !isRedacted(event)
  ).map((event) => ({ event, ...bodyTexts(event.body) }));
  const values = await find(new Set(read.flatMap(({ texts }) => [...texts])));
  const hits = read.flatMap(({ event, isJson, texts }) => {
    const kinds = [...texts].flatMap((text) => values.get(text) ?? []);
    return kinds.length === 0
      ? []
      : [{ event, isJson, isOwn: kinds.includes("own") }];
  });
  if (hits.length === 0) return { blank: [], list: [] };
  const orderIds = hits.flatMap(({ event }) => event.orderId ?? []);
  const userIds = hits.flatMap(({ event }) => event.userId ?? []);
  const [orders, users] = await readDeciding(driver, [
    statement(
      `SELECT id FROM orders WHERE shown = 1
        AND id IN (SELECT value FROM json_each(?))`,
      listed(orderIds),
    ),
    statement(
      `SELECT id FROM users WHERE shown = 1
        AND id IN (SELECT value FROM json_each(?))`,
      listed(userIds),
    ),
  ]);
  const shown = new Set([...orders ?? [], ...users ?? []].map(([id]) => id));
  const erased = await readErasedOrders(driver, orderIds);
  const names = await readErasedNames(driver, "user", userIds);
  const blank: StoredEvent[] = [];
  const list: Holders["list"][number][] = [];
  for (const { event, isJson, isOwn } of hits) {
    const { position, kind, orderId, userId, recordedAt } = event;
    const name = names.get(userId ?? "");
    const isBack = name !== undefined && name.returnedAt !== null &&
      recordedAt > name.erasedAt;
    if (isBack) continue;
    const isOthers = kind === "order_snapshot" || kind === "user_snapshot" ||
      (orderId !== null && shown.has(orderId) && !erased.has(orderId) &&
        !own(orderId)) ||
      (userId !== null && shown.has(userId) && name === undefined &&
        !values.has(comparedId(userId)));
    if (!isJson) list.push({ position, why: "not_json" });
    else if (!isOwn) list.push({ position, why: "chosen_click_id" });
    else if (isOthers) list.push({ position, why: "other_person" });
    else blank.push(event);
  }
  return { blank, list };
}

/** Finds which of some texts are values of anybody erased; null where there are none. */
export async function storedValues(
  driver: Driver,
): Promise<((texts: ReadonlySet<string>) => Promise<Values>) | null> {
  const [rows] = await readDeciding(driver, [statement(
    `SELECT DISTINCT alias ->> 'length' FROM aliases
      WHERE kind IN ('own', 'chosen')`,
  )]);
  const lengths = new Set((rows ?? []).map(([length]) => Number(length)));
  if (lengths.size === 0) return null;
  return async (texts) => {
    const kinds = ["own", "chosen"] as const satisfies AliasKind[];
    const found = await readAliases(
      driver,
      kinds,
      [...texts].filter(({ length }) => lengths.has(length)),
    );
    return new Map(
      [...found].map(([text, { kind }]) => [text, kind as "own" | "chosen"]),
    );
  };
}

/** A string of a JSON text; a colon follows the name of a field. */
const LITERAL = /"(?:[^"\\]|\\.)*"(\s*:)?/g;

const decoder = new TextDecoder();

/**
 * Reads the texts of a body that may be ids, as ids are compared: its whole string
 * values; of a body that is no JSON the parts between characters that no id has.
 */
export function bodyTexts(body: Uint8Array): {
  readonly isJson: boolean;
  readonly texts: ReadonlySet<string>;
} {
  const texts = new Set<string>();
  const add = (text: string) => {
    if (text !== "" && text.length <= LONGEST_IDENTIFIER) {
      texts.add(comparedId(text));
    }
  };
  const text = decoder.decode(body);
  try {
    JSON.parse(text);
  } catch {
    for (const part of text.split(/[^\w.:-]+/)) add(part);
    return { isJson: false, texts };
  }
  // From the text: of two fields of one name a parser keeps the last alone.
  for (const [literal, colon] of text.matchAll(LITERAL)) {
    if (colon === undefined) add(JSON.parse(literal.trimEnd()));
  }
  return { isJson: true, texts };
}

/** Positions that are looked through at once: an append waits for no longer. */
const RANGE = 4000;
/** With more texts than these the database would take longer than we do. */
const MOST_NEEDLES = 8;

/** Reads the events up to a position that may hold one of some texts. */
export async function* eventsHolding(
  driver: Driver,
  texts: readonly string[],
  until: number,
): AsyncGenerator<StoredEvent> {
  // A backslash may begin another way of writing any letter.
  const where = texts.length > MOST_NEEDLES ? "true" : [
    "instr(e.body, X'5C') > 0",
    ...texts.map((_, at) =>
      `instr(lower(CAST(e.body AS TEXT)), ?${at + 3}) > 0`
    ),
  ].join(" OR ");
  const needles = texts.length > MOST_NEEDLES ? [] : texts;
  for (let from = 0; from < until; from += RANGE) {
    const to = Math.min(from + RANGE, until);
    const [rows] = await readDeciding(driver, [statement(
      `SELECT ${EVENT_COLUMNS} FROM events AS e
        WHERE e.position > ?1 AND e.position <= ?2 AND (${where})`,
      ...[from, to, ...needles],
    )]);
    yield* eventsOf(rows);
  }
}
