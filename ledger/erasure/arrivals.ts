/**
 * Redacts events that arrived since an erasure and are about what was erased, in the
 * batch that folds them. A session, or an order that was created later, is new
 * business: from then on the user counts as returned.
 */
import type { RecordedEvent } from "../events/event.ts";
import { type Fact, isExpectation } from "../events/fact.ts";
import { readFact } from "../events/read_fact.ts";
import type { Driver, Statement } from "../store/driver/driver.ts";
import { lostRace } from "../store/driver/retrying_driver.ts";
import type { Guard } from "../projection/guard.ts";
import { moveGuard } from "../projection/guard.ts";
import type { RedactNew } from "../projection/project.ts";
import { LookupHash } from "../projection/lookup_hash.ts";
import { noteOf } from "../recording/notes.ts";
import { listed, readDeciding, statement, write } from "../store/database.ts";
import { EVENT_COLUMNS, eventsOf, type StoredEvent } from "../store/events.ts";
import {
  type ErasedName,
  type ErasedOrder,
  insertAlias,
  insertErasedOrder,
  readAliases,
  readErasedNames,
  readErasedOrders,
} from "../store/aliases.ts";
import { newName, withoutText } from "./erase.ts";
import { addFindings, readListed } from "./findings.ts";
import { findHolders, type Holders, storedValues } from "./holders.ts";
import { MAY_BE_OTHERS, PSEUDONYM } from "./person.ts";
import { isRedacted, redactEvent } from "./redact.ts";
import type { AssetTable } from "../../core/assets/environment.ts";
import { replaceEvents, updateEvent } from "./rewrite.ts";

/** What a new event is about. */
interface Arrival {
  readonly event: StoredEvent;
  readonly fact: Fact;
  readonly userId: string | null;
  /** Whether the service has said that the order is that user's. */
  readonly showsOwner: boolean;
}

interface Known {
  readonly orders: ReadonlyMap<string, ErasedOrder>;
  readonly users: ReadonlyMap<string, ErasedName>;
  readonly clicks: ReadonlyMap<string, ErasedName>;
}

const randomBytes = (length: number) =>
  crypto.getRandomValues(new Uint8Array(length));

/** Makes what {@linkcode RedactNew} is, for a ledger. */
export function redactArrivals(
  { assets, ledgerId, foldVersion, now = Date.now }: {
    readonly assets: AssetTable;
    readonly ledgerId?: string;
    readonly foldVersion?: number;
    readonly now?: () => number;
  },
): RedactNew {
  return async (driver, events, guard) => {
    const [any] = await readDeciding(driver, [
      statement("SELECT 1 FROM aliases LIMIT 1"),
    ]);
    // Bodies were pruned, and nobody was erased.
    if (any?.length === 0) return { events, statements: [] };
    const arrivals = events.map(arrivalOf);
    const known = await readKnown(driver, arrivals);
    const decided = decideAll(arrivals, known);
    const { statements, earlier } = await learn(driver, decided, {
      ...{ guard, known },
    });
    const find = await storedValues(driver);
    const taken = new Set(decided.erased.map(({ event }) => event.position));
    const holders: Holders = find === null
      ? { blank: [], list: [] }
      : await findHolders(
        driver,
        arrivals.filter(({ event, userId }) =>
          !taken.has(event.position) && !decided.returned.has(userId ?? "")
        ).map(({ event }) => event),
        { find },
      );
    const at = events[0]?.recordedAt ?? "";
    const before = await readListed(
      driver,
      holders.list.map(({ position }) => position),
    );
    const unlisted = holders.list.filter(({ position }) =>
      !before.has(position)
    );
    statements.push(...addFindings(unlisted, at));
    if (statements.length > 0 || earlier.length > 0) {
      const [id] = await readDeciding(driver, [
        statement("SELECT id FROM ledger"),
      ]);
      const parts = {
        ...{ driver, assets, now, randomBytes, readFact },
        ledgerId: ledgerId ?? String(id?.[0]?.[0]),
        foldVersion: foldVersion ?? guard.foldVersion,
      };
      await write(driver, [
        ...earlier.length === 0
          ? [moveGuard(guard)]
          : await replaceEvents(parts, {
            guard,
            replaced: earlier.map((one) => ({
              before: one,
              after: redactEvent(one, {
                names: namesIn(one, decided.newOrders.get(one.orderId ?? "")),
                match: null,
                randomBytes,
              }),
            })),
          }),
        ...statements,
      ]);
      // What is known now decides anew.
      throw lostRace();
    }
    const erased = new Map<number, StoredEvent>();
    for (const { event } of decided.erased) {
      const order = known.orders.get(event.orderId ?? "");
      erased.set(
        event.position,
        redactEvent(event, {
          ...{ names: namesIn(event, order), match: null, randomBytes },
        }),
      );
    }
    for (const event of holders.blank) {
      const names = { userId: null, clickId: null };
      erased.set(
        event.position,
        redactEvent(event, { names, match: null, randomBytes }),
      );
    }
    for (const note of await notesOfErased(driver, events)) {
      erased.set(note.position, withoutText(note, randomBytes));
    }
    const redacted = events.map((event) => erased.get(event.position) ?? event);
    return {
      events: redacted,
      statements: [...erased.values()].map(updateEvent),
    };
  };
}

/** A webhook names no user afterwards, or it would make a row of one. */
function namesIn(event: StoredEvent, order: ErasedOrder | undefined) {
  const clickId = order === undefined || event.clickId === null
    ? null
    : event.clickId.startsWith(PSEUDONYM)
    ? event.clickId
    : order.clickId;
  const userId = event.kind === "webhook" ? null : order?.userId ?? null;
  return { userId, clickId };
}

function arrivalOf(event: StoredEvent): Arrival {
  const fact = readFact(event);
  const isReading = fact.kind === "order_snapshot";
  return {
    ...{ event, fact },
    userId: isReading
      ? fact.reading.userId || event.userId
      : isExpectation(fact)
      ? fact.expectation.userId
      : event.userId,
    showsOwner: isReading,
  };
}

/** Kinds that say nothing of anybody. */
const SILENT = new Set<RecordedEvent["kind"]>([
  ...["order_absent", "order_contradicted", "order_released"] as const,
  ...["note", "person_erased", "month_closed", "delivery_unanswered"] as const,
]);

async function readKnown(
  driver: Driver,
  arrivals: readonly Arrival[],
): Promise<Known> {
  const clicks = arrivals.flatMap(({ event, userId }) =>
    event.orderId === null && userId === null ? event.clickId ?? [] : []
  );
  return {
    orders: await readErasedOrders(
      driver,
      arrivals.flatMap(({ event }) => event.orderId ?? []),
    ),
    users: await readErasedNames(
      driver,
      "user",
      arrivals.flatMap(({ userId }) => userId ?? []),
    ),
    clicks: await readErasedNames(driver, "click", clicks),
  };
}

interface Decided {
  readonly erased: readonly Arrival[];
  readonly others: readonly Arrival[];
  /** Orders that are known to be an erased person's only now. */
  readonly newOrders: ReadonlyMap<string, ErasedOrder>;
  readonly returned: ReadonlySet<string>;
  readonly returnedOrders: ReadonlySet<string>;
}

function decideAll(arrivals: readonly Arrival[], known: Known): Decided {
  const returned = new Set<string>();
  const returnedOrders = new Set<string>();
  const erased: Arrival[] = [];
  const others: Arrival[] = [];
  const newOrders = new Map<string, ErasedOrder>();
  for (const arrival of arrivals) {
    const { event: { orderId, recordedAt }, userId, showsOwner } = arrival;
    const decided = decide(arrival, { ...known, returned });
    if (decided === "returns" && userId !== null) {
      returned.add(userId);
      if (orderId !== null) returnedOrders.add(orderId);
    }
    if (decided === "stays") others.push(arrival);
    if (decided !== "erased") continue;
    erased.push(arrival);
    if (showsOwner && orderId !== null && !known.orders.has(orderId)) {
      newOrders.set(orderId, {
        ...{ orderId, userId: newName({ randomBytes }), clickId: null },
        erasedAt: known.users.get(userId ?? "")?.erasedAt ?? recordedAt,
      });
    }
  }
  return { erased, others, newOrders, returned, returnedOrders };
}

/** Whether it is about what was erased, or about new business. */
function decide(
  { event, fact, userId, showsOwner }: Arrival,
  known: Known & { readonly returned: ReadonlySet<string> },
): "erased" | "returns" | "stays" {
  const { orderId, clickId, recordedAt, kind } = event;
  if (SILENT.has(kind)) return "stays";
  if (orderId !== null && known.orders.has(orderId)) {
    const isDone = isRedacted(event) &&
      (userId === null || userId.startsWith(PSEUDONYM)) &&
      (clickId === null || clickId.startsWith(PSEUDONYM));
    return isDone ? "stays" : "erased";
  }
  const user = known.users.get(userId ?? "");
  if (user !== undefined && userId !== null) {
    const isReading = showsOwner && !isRedacted(event);
    if (isReading || isExpectation(fact)) {
      const time = fact.kind === "order_snapshot"
        ? fact.reading.createdAt
        : recordedAt;
      return time > user.erasedAt ? "returns" : "erased";
    }
    const isBack = user.returnedAt !== null || known.returned.has(userId);
    return isBack && recordedAt > user.erasedAt ? "stays" : "erased";
  }
  const isErasedClick = orderId === null && userId === null &&
    clickId !== null && known.clicks.has(clickId);
  return isErasedClick ? "erased" : "stays";
}

/** What the arrivals tell about people who were erased, and events from before. */
async function learn(
  driver: Driver,
  { erased, others, newOrders, returned, returnedOrders }: Decided,
  { guard, known }: { readonly guard: Guard; readonly known: Known },
): Promise<{ statements: Statement[]; earlier: StoredEvent[] }> {
  const { key } = guard;
  const at = [...erased, ...others][0]?.event.recordedAt ?? guard.createdAt;
  const told = await readAliases(driver, ["returned"], returnedOrders);
  const isNew = ({ event }: Arrival) => newOrders.has(event.orderId ?? "");
  const clicks = await unshared(
    driver,
    erased.filter((one) => isNew(one) && one.showsOwner)
      .flatMap(({ event }) => event.clickId ?? []),
    { guard, known, newOrders },
  );
  for (const other of others) {
    if (other.event.orderId !== null && !isNew(other)) {
      clicks.delete(other.event.clickId ?? "");
    }
  }
  const statements = [
    ...[...returned].flatMap((userId) => {
      const name = known.users.get(userId);
      return name === undefined || name.returnedAt !== null ? [] : [statement(
        `UPDATE aliases SET alias = json_set(alias, '$.back', ?2)
          WHERE hash = ?1`,
        ...[name.hash, at],
      )];
    }),
    ...[...returnedOrders].filter((id) => !told.has(id)).map((id) =>
      insertAlias(key, "returned", [id, { id, at }])
    ),
    ...[...newOrders.values()].map((order) => insertErasedOrder(key, order)),
    ...[...clicks].map((click) => insertAlias(key, "click", [click, { at }])),
  ];
  const [rows] = newOrders.size === 0 ? [] : await readDeciding(driver, [
    statement(
      `SELECT ${EVENT_COLUMNS} FROM mentions AS m
        CROSS JOIN events AS e ON e.position = m.position
        WHERE m.no IN (SELECT no FROM orders
          WHERE id IN (SELECT value FROM json_each(?)))
          AND e.kind IN ('webhook', 'order_snapshot', 'order_redacted')`,
      listed(newOrders.keys()),
    ),
  ]);
  const [terms] = clicks.size === 0 ? [] : await readDeciding(driver, [
    statement(
      `SELECT ${EVENT_COLUMNS} FROM expected AS x
        CROSS JOIN events AS e ON e.position = x.position
        WHERE x.click IN (SELECT value FROM json_each(?))`,
      listed(
        [...clicks].map((one) => new LookupHash(key).of("asked_click", one)),
      ),
    ),
  ]);
  const earlier = [
    ...eventsOf(rows),
    ...eventsOf(terms).filter(({ userId }) => userId === null),
  ].filter((one) => !isRedacted(one));
  return { statements, earlier };
}

/** Those of some click ids that lead to no order of anybody else. */
async function unshared(
  driver: Driver,
  clicks: readonly string[],
  { guard, known, newOrders }: {
    readonly guard: Guard;
    readonly known: Known;
    readonly newOrders: Decided["newOrders"];
  },
): Promise<Set<string>> {
  const hash = new LookupHash(guard.key);
  const left = new Map(clicks.map((one) => [hash.of("click", one), one]));
  const [rows] = await readDeciding(driver, [statement(
    `SELECT l.hash, o.id FROM lookup AS l JOIN orders AS o ON o.no = l.no
      WHERE (l.shown = 1 OR ${MAY_BE_OTHERS})
        AND l.hash IN (SELECT value FROM json_each(?))`,
    listed(left.keys()),
  )]);
  for (const [at, id] of rows ?? []) {
    const orderId = String(id);
    if (!known.orders.has(orderId) && !newOrders.has(orderId)) {
      left.delete(Number(at));
    }
  }
  return new Set(left.values());
}

/** Notes, of an import for example, about orders and users that are erased. */
async function notesOfErased(
  driver: Driver,
  events: readonly StoredEvent[],
): Promise<StoredEvent[]> {
  const notes = events.flatMap((event) => {
    const note = event.kind === "note" ? noteOf(event) : null;
    return note === null || note.text === "" ? [] : [{ event, note }];
  });
  if (notes.length === 0) return [];
  const ids = notes.map(({ note }) => note.entityId);
  const orders = await readErasedOrders(driver, ids);
  const users = await readErasedNames(driver, "user", ids);
  return notes.filter(({ note: { entity, entityId } }) =>
    entity === "order"
      ? orders.has(entityId)
      : entity === "user" && users.get(entityId)?.returnedAt === null
  ).map(({ event }) => event);
}
