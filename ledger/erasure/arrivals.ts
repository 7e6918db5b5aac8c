/** What arrives later of somebody who was erased. */
import type { RecordedEvent } from "../events/event.ts";
import { isExpectation } from "../events/fact.ts";
import { readFact } from "../events/read_fact.ts";
import { FOLD, type RedactNew } from "../projection/project.ts";
import { noteOf } from "../recording/notes.ts";
import {
  type ErasedOrder,
  insertAlias,
  readAliases,
  readErasedOrders,
} from "../store/aliases.ts";
import {
  listed,
  lostRace,
  readDeciding,
  statement,
  write,
} from "../store/database.ts";
import {
  type ErasureParts,
  namesIn,
  newName,
  replaceEvents,
  replacementsOf,
  updateEvent,
} from "./redact.ts";
import { addFindings, findHolders, findTraces, textsOf } from "./holders.ts";

/**
 * Redacts events that arrived since an erasure and are about what was erased, in the
 * batch that folds them. A session, or an order that was created later, is new
 * business: from then on the user counts as returned.
 */
export function redactArrivals(
  options: Pick<ErasureParts, "assets" | "now" | "randomBytes">,
): RedactNew {
  return async (driver, events, guard) => {
    const [kinds = []] = await readDeciding(driver, [
      statement("SELECT DISTINCT alias ->> 'length' FROM aliases"),
    ]);
    // Bodies were pruned, and nobody was erased.
    if (kinds.length === 0) return { events, statements: [] };
    const parts = { ...options, driver, fold: FOLD };
    const arrivals = events.map(arrivalOf);
    const { orders, users, erased, newOrders, returned, returnedOrders } =
      await decide(arrivals, parts);
    if (newOrders.size > 0) {
      // Takes what they brought here before they were known to be the person's.
      const [rows = []] = await readDeciding(driver, [statement(
        `SELECT value, coalesce(o.no, -1) FROM json_each(?)
          LEFT JOIN orders AS o ON o.id = value`,
        listed(newOrders.keys()),
      )]);
      const known = new Map(
        rows.map(([id, no]) => [String(id), { no: Number(no) }]),
      );
      const named = events.filter(({ orderId }) =>
        newOrders.has(orderId ?? "")
      );
      const { events: about, clicks } = await findTraces(parts, {
        ...{ guard, orders: known, userId: null },
        named: named.filter((event) => erased.has(event)),
        taken: new Set(
          events.filter((one) => one.orderId !== null && !named.includes(one))
            .flatMap(({ clickId }) => clickId ?? []),
        ),
      });
      const own = [...known.values()];
      const replaced = await replacementsOf(parts, {
        ...{ guard, orders: own },
        events: about.filter(({ position }) => position <= guard.position),
        optionsOf: (event) =>
          namesIn(event, newOrders.get(event.orderId ?? "") ?? {}),
      });
      const erasedAt = events[0]?.recordedAt ?? "";
      await write(driver, [
        ...await replaceEvents(parts, { guard, replaced, orders: own }),
        ...[...newOrders].map((order) =>
          insertAlias(guard.key, "order", order)
        ),
        ...[...clicks].map((click) =>
          insertAlias(guard.key, "click", [click, { erasedAt }])
        ),
      ]);
      // What is known now decides anew.
      throw lostRace();
    }
    const others = arrivals.filter(({ event, userId }) =>
      !erased.has(event) && !returned.has(userId ?? "")
    ).map(({ event }) => textsOf(event));
    const lengths = new Set(kinds.map(([length]) => length));
    const values = await readAliases(
      driver,
      "value",
      others.flatMap(({ texts }) => [...texts])
        .filter(({ length }) => lengths.has(length)),
    );
    const holders = await findHolders(driver, others, {
      values: new Map([...values].map(([text, { is }]) => [text, is])),
    });
    const replaced = await replacementsOf(parts, {
      guard,
      events: [...erased, ...holders.blank],
      optionsOf: (event) =>
        namesIn(event, orders.get(event.orderId ?? "") ?? {}),
    });
    const redacted = new Map(
      replaced.map(({ before, after }) => [before, after]),
    );
    return {
      events: events.map((event) => redacted.get(event) ?? event),
      statements: [
        ...[...redacted.values()].map(updateEvent),
        ...addFindings(holders.list, events[0]?.recordedAt ?? ""),
        ...[...returned].map(([userId, at]) =>
          statement(
            `UPDATE aliases SET alias = json_set(alias, '$.returnedAt', ?2)
              WHERE hash = ?1 AND alias ->> 'returnedAt' IS NULL`,
            users.get(userId)?.hash ?? null,
            at,
          )
        ),
        ...[...returnedOrders].map(([orderId, knownAt]) =>
          insertAlias(guard.key, "returned", [orderId, { orderId, knownAt }])
        ),
      ],
    };
  };
}

type Arrival = ReturnType<typeof arrivalOf>;

/**
 * What a new event is about, and when the order or the session was made of which it
 * tells first; the service itself has shown whose an order is.
 */
function arrivalOf(event: RecordedEvent) {
  const { kind, orderId, userId, recordedAt } = event;
  const fact = readFact(event);
  const madeAt: string | null = null;
  const about = { event, orderId, userId, madeAt, isShown: false };
  if (fact.kind === "order_snapshot") {
    const { reading } = fact;
    return {
      ...about,
      userId: reading.userId || userId,
      madeAt: kind === "order_snapshot" ? reading.createdAt : null,
      isShown: true,
    };
  }
  if (isExpectation(fact)) {
    return { ...about, userId: fact.expectation.userId, madeAt: recordedAt };
  }
  if (kind !== "note") return about;
  const note = noteOf(event);
  const id = (entity: string) => note?.entity === entity ? note.entityId : null;
  return { ...about, orderId: id("order"), userId: id("user") };
}

/** Which arrivals are about what was erased, and which about new business. */
async function decide(arrivals: readonly Arrival[], parts: ErasureParts) {
  const { driver } = parts;
  const ids = (of: (arrival: Arrival) => string | null) =>
    arrivals.flatMap((arrival) => of(arrival) ?? []);
  const orders = await readErasedOrders(driver, ids((one) => one.orderId));
  const users = await readAliases(driver, "user", ids((one) => one.userId));
  const clicks = await readAliases(
    driver,
    "click",
    ids(({ event, orderId, userId }) =>
      orderId === null && userId === null ? event.clickId : null
    ),
  );
  const erased = new Set<RecordedEvent>();
  /** Orders that are known to be an erased person's only now. */
  const newOrders = new Map<string, ErasedOrder>();
  const returned = new Map<string, string>();
  const returnedOrders = new Map<string, string>();
  for (const { event, orderId, userId, madeAt, isShown } of arrivals) {
    const { clickId, recordedAt: at } = event;
    if (orderId !== null && orders.has(orderId)) {
      erased.add(event);
      continue;
    }
    const user = users.get(userId ?? "");
    if (user === undefined || userId === null) {
      const isOfClick = orderId === null && userId === null;
      if (isOfClick && clicks.has(clickId ?? "")) erased.add(event);
      continue;
    }
    const { erasedAt, returnedAt } = user;
    if (madeAt !== null && madeAt > erasedAt) {
      if (!returned.has(userId)) returned.set(userId, at);
      if (orderId !== null) returnedOrders.set(orderId, at);
      continue;
    }
    const isBack = returnedAt !== null || returned.has(userId);
    if (madeAt === null && isBack && at > erasedAt) continue;
    erased.add(event);
    if (isShown && orderId !== null) {
      const names = { userId: newName(parts), clickId: null };
      newOrders.set(orderId, { orderId, ...names, erasedAt });
    }
  }
  return { orders, users, erased, newOrders, returned, returnedOrders };
}
