/** Which events are about a person: what leads from one to the next, and what holds an id wherever it stands. */
import { LONGEST_IDENTIFIER } from "../../core/wire/objects.ts";
import type { RecordedEvent } from "../events/event.ts";
import { isExpectation } from "../events/fact.ts";
import { type EventKind, isExpectationKind } from "../machines/machine.ts";
import type { Guard, LookupKind } from "../projection/guard.ts";
import {
  comparedId,
  isSameId,
  type Ownership,
  readAliases,
  readErasedOrders,
} from "../store/aliases.ts";
import {
  type Driver,
  listed,
  readDeciding,
  type Statement,
  statement,
} from "../store/database.ts";
import { readEvents } from "../store/events.ts";
import { type ErasureParts, isPseudonym } from "./redact.ts";

/**
 * Orders `o` that only webhooks name, and of which the service was not asked yet:
 * they may be somebody else's.
 */
const MAY_BE_OTHERS = `(o.shown = 0 AND NOT EXISTS (
  SELECT 1 FROM observations AS b WHERE b.entity = 'order' AND b.id = o.id))`;

/** Where what was expected is found, and what leads from there to orders. */
const TERMS = {
  click: "asked_click",
  session: "session",
  reference: "asked_reference",
} as const;

/**
 * Adds to events that name a person, folded or not, those of the person's orders, and
 * the sessions and expectations of these. Click ids that are taken are somebody else's.
 */
export async function findTraces(
  { driver, fold: { readFact } }: ErasureParts,
  { guard, userId, orders, named, taken = new Set() }: {
    readonly guard: Guard;
    readonly userId: string | null;
    readonly orders: ReadonlyMap<string, { readonly no: number }>;
    readonly named: readonly RecordedEvent[];
    readonly taken?: ReadonlySet<string>;
  },
): Promise<{
  readonly events: readonly RecordedEvent[];
  readonly stated: ReadonlySet<string>;
  readonly clicks: ReadonlySet<string>;
}> {
  const { hash } = guard;
  const nos = listed([...orders.values()].map(({ no }) => no));
  const unshared = async (
    kind: LookupKind,
    texts: Iterable<string>,
    mayBe = "false",
  ) => {
    const left = new Map([...texts].map((text) => [hash.of(kind, text), text]));
    const [rows] = await readDeciding(driver, [statement(
      `SELECT l.hash FROM lookup AS l JOIN orders AS o ON o.no = l.no
        WHERE l.hash IN (SELECT value FROM json_each(?1))
          AND o.no NOT IN (SELECT value FROM json_each(?2))
          AND (l.shown = 1 OR ${mayBe})`,
      listed(left.keys()),
      nos,
    )]);
    for (const [at] of rows ?? []) left.delete(Number(at));
    return new Set(left.values()).difference(taken);
  };
  const expected = (kind: keyof typeof TERMS, texts: Iterable<string>) =>
    readEvents(
      driver,
      `expected AS x CROSS JOIN events AS e ON e.position = x.position
        WHERE x.${kind} IN (SELECT value FROM json_each(?))`,
      listed([...texts].map((text) => hash.of(TERMS[kind], text))),
    );
  const ofOrders = await readEvents(
    driver,
    `mentions AS m CROSS JOIN events AS e ON e.position = m.position
      WHERE m.no IN (SELECT value FROM json_each(?))`,
    nos,
  );
  const about = [...named, ...ofOrders];
  const own = about.filter(({ orderId }) => orders.has(orderId ?? ""));
  const stated = await unshared("click", clicksOf(own));
  // A webhook that names a session says nothing of the session's click id.
  const sessions = own.flatMap((one) => readFact(one).sessionId ?? []);
  const ofLinks = [
    ...await expected("session", await unshared("session", sessions)),
    ...await expected("click", stated),
  ].filter(({ clickId }) => clickId === null || stated.has(clickId));
  // A basket that was asked for again names its buyer's address too.
  const references = ofLinks.map(readFact).filter(isExpectation)
    .flatMap(({ expectation }) => expectation.reference ?? []);
  const found = [
    ...ofLinks,
    ...await expected("reference", await unshared("reference", references)),
  ];
  const nobodys = await unshared(
    "click",
    clicksOf([...found, ...about]),
    MAY_BE_OTHERS,
  );
  const terms = found.filter((event) =>
    (event.userId === null || isSameId(event.userId, userId)) &&
    (event.clickId === null || nobodys.has(event.clickId))
  );
  const events = [...about, ...terms];
  return {
    events: [...new Map(events.map((one) => [one.position, one])).values()],
    /** Click ids that readings state and no order of somebody else, as compared. */
    stated: new Set([...stated].map(comparedId)),
    /** Click ids that nobody else may have. */
    clicks: new Set(
      clicksOf(events).filter((one) => nobodys.has(one) && !isPseudonym(one)),
    ),
  };
}

/** Click ids, but those that only webhooks name: anybody can send one. */
function clicksOf(events: readonly RecordedEvent[]): string[] {
  return events.flatMap(({ kind, clickId }) =>
    kind === "webhook" ? [] : clickId ?? []
  );
}

/** Kinds of events that may hold an id of a person in any place. */
const COMPARED: ReadonlySet<EventKind> = new Set([
  ...["webhook", "order_snapshot", "user_snapshot"] as const,
  ...["session_created", "order_expected"] as const,
]);

type Values = ReadonlyMap<string, Ownership>;

/** A field of a card; its value is the id. */
const CARD = /"card_id"\s*:\s*("(?:[^"\\]|\\.)+")/g;

/**
 * The ids by which a person is recognised wherever they stand. Only what the service
 * has shown and what the partner recorded counts.
 */
export function valuesOf(
  userId: string,
  events: readonly RecordedEvent[],
  { clicks, isShown }: {
    readonly clicks: ReadonlySet<string>;
    readonly isShown: boolean;
  },
): Values {
  const values = new Map<string, Ownership>();
  let user: Ownership = isShown ? "own" : "chosen";
  for (const { kind, clickId, userId: id, body } of events) {
    if (kind === "user_snapshot" && isSameId(id, userId)) user = "own";
    if (kind === "user_snapshot" || kind === "order_snapshot") {
      const text = new TextDecoder().decode(body);
      for (const [, card = ""] of text.matchAll(CARD)) {
        values.set(comparedId(JSON.parse(card)), "own");
      }
    }
    if (clickId === null || !clicks.has(clickId)) continue;
    const click = comparedId(clickId);
    if (isExpectationKind(kind)) values.set(click, "own");
    else if (!values.has(click)) values.set(click, "chosen");
  }
  return values.set(comparedId(userId), user);
}

/** Why an event that holds such a value is listed and not blanked. */
export type FindingReason = "other_person" | "chosen_click_id" | "not_json";

interface Holders {
  readonly blank: RecordedEvent[];
  readonly list: { readonly position: number; readonly why: FindingReason }[];
}

/** An event, and the texts of its body that may be ids. */
export interface EventTexts {
  readonly event: RecordedEvent;
  readonly isJson: boolean;
  readonly texts: ReadonlySet<string>;
}

export function textsOf(event: RecordedEvent): EventTexts {
  return { event, ...bodyTexts(event.body) };
}

/**
 * Sorts out those that hold a value: those that are about nobody else, as webhooks of
 * own orders are, and those that a person has to look at.
 */
export async function findHolders(
  driver: Driver,
  events: readonly EventTexts[],
  { values, own = new Map() }: {
    readonly values: Values;
    readonly own?: ReadonlyMap<string, unknown>;
  },
): Promise<Holders> {
  const { blank, list }: Holders = { blank: [], list: [] };
  const hits = events.filter(({ event, texts }) =>
    COMPARED.has(event.kind) && !texts.isDisjointFrom(values)
  );
  if (hits.length === 0) return { blank, list };
  const orderIds = hits.flatMap(({ event }) => event.orderId ?? []);
  const userIds = hits.flatMap(({ event }) => event.userId ?? []);
  const [rows] = await readDeciding(driver, [statement(
    `SELECT 'order ' || id FROM orders WHERE shown = 1
        AND id IN (SELECT value FROM json_each(?1))
      UNION ALL SELECT 'user ' || id FROM users WHERE shown = 1
        AND id IN (SELECT value FROM json_each(?2))`,
    listed(orderIds),
    listed(userIds),
  )]);
  const shown = new Set((rows ?? []).map(([id]) => String(id)));
  const erased = await readErasedOrders(driver, orderIds);
  const users = await readAliases(driver, "user", userIds);
  const reasonOf = ({ event, isJson, texts }: EventTexts) => {
    const { kind, orderId: order, userId: user } = event;
    if (!isJson) return "not_json";
    const found = [...texts].map((text) => values.get(text));
    if (!found.includes("own")) return "chosen_click_id";
    const isOthers = kind === "order_snapshot" || kind === "user_snapshot" ||
      (order !== null && shown.has(`order ${order}`) && !erased.has(order) &&
        !own.has(order)) ||
      (user !== null && shown.has(`user ${user}`) && !users.has(user) &&
        !values.has(comparedId(user)));
    return isOthers ? "other_person" : null;
  };
  for (const hit of hits) {
    const { position, userId, recordedAt } = hit.event;
    const user = users.get(userId ?? "");
    // New business of who came back.
    if (user?.returnedAt && recordedAt > user.erasedAt) continue;
    const why = reasonOf(hit);
    if (why === null) blank.push(hit.event);
    else list.push({ position, why });
  }
  return { blank, list };
}

/** A finding stands in a row of its own, by its position. */
export const FINDING = "erasure_finding ";

export function addFindings(
  found: Holders["list"],
  foundAt: string,
): Statement[] {
  return found.map(({ position, why }) =>
    statement(
      "INSERT INTO cursors VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
      FINDING + position,
      JSON.stringify({ why, settled: null }),
      Date.parse(foundAt),
    )
  );
}

/** What follows the name of a field. */
const COLON = /\s*:/y;

/** Strings of a JSON text of any length, without the names of fields. */
function literalsOf(text: string): string[] {
  const found: string[] = [];
  for (let from = text.indexOf('"'); from >= 0;) {
    let end = from + 1;
    while (text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
    COLON.lastIndex = end + 1;
    if (!COLON.test(text)) found.push(text.slice(from, end + 1));
    from = text.indexOf('"', end + 1);
  }
  return found;
}

/**
 * Reads the texts of a body that may be ids, as ids are compared: its whole string
 * values; of a body that is no JSON the parts between characters that no id has.
 */
export function bodyTexts(body: Uint8Array): Omit<EventTexts, "event"> {
  const text = new TextDecoder().decode(body);
  const compared = (texts: readonly string[]) =>
    new Set(
      texts.filter((one) => one !== "" && one.length <= LONGEST_IDENTIFIER)
        .map(comparedId),
    );
  try {
    JSON.parse(text);
  } catch {
    return { isJson: false, texts: compared(text.split(/[^\w.:-]+/)) };
  }
  // From the text: of two fields of one name a parser keeps the last alone.
  const literals = literalsOf(text).map((literal) => JSON.parse(literal));
  return { isJson: true, texts: compared(literals) };
}

/** Positions that are looked through at once: an append waits for no longer. */
const RANGE = 4000;
/** With more texts than these the database would take longer than we do. */
const MOST_NEEDLES = 8;

/** Reads the events up to a position that hold one of some ids, as it is compared. */
export async function eventsHolding(
  driver: Driver,
  ids: ReadonlySet<string>,
  until: number,
): Promise<EventTexts[]> {
  const needles = ids.size > MOST_NEEDLES ? [] : [...ids];
  const where = needles.map((_, at) =>
    `instr(lower(CAST(e.body AS TEXT)), ?${at + 3}) > 0`
  );
  // A backslash may begin another way of writing any letter.
  where.push(ids.size > MOST_NEEDLES ? "true" : "instr(e.body, X'5C') > 0");
  const holding: EventTexts[] = [];
  for (let from = 0; from < until; from += RANGE) {
    const events = await readEvents(
      driver,
      `events AS e
        WHERE e.position > ?1 AND e.position <= ?2 AND (${where.join(" OR ")})`,
      ...[from, Math.min(from + RANGE, until), ...needles],
    );
    holding.push(
      ...events.map(textsOf).filter(({ event, texts }) =>
        !texts.isDisjointFrom(ids) ||
        [event.userId, event.clickId].some((id) =>
          ids.has(comparedId(id ?? ""))
        )
      ),
    );
  }
  return holding;
}
