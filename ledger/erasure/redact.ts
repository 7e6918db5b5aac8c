/** What is left of an event, and how states and bodies follow: for one person, or for all that is old. */
import {
  KEPT_OF_WEBHOOK,
  KEPT_ORDER_FIELDS,
  orderField,
  readOrderRow,
} from "../../core/wire/fields.ts";
import { parseWebhook } from "../../core/webhook_event/parse_webhook.ts";
import {
  exactObject,
  KEPT_OF_CHAIN_READING,
  type MatchFact,
  type NewEvent,
  objectOf,
  type OrderRedactedBody,
  type RecordedEvent,
  soundRow,
  validUntil,
} from "../events/event.ts";
import { readOrder, statedTransactionForm } from "../events/readings.ts";
import {
  derive,
  ERASED_ID,
  ERASED_MARK,
  isMarkedErased,
  record,
} from "../events/record.ts";
import { type EventKind, isFinal } from "../machines/machine.ts";
import type { ErasedOrder } from "../store/aliases.ts";
import { appendStatement, hexOf, msOf, readEvents } from "../store/events.ts";
import { ulid } from "ulid";
import { isExpectation } from "../events/fact.ts";
import { leafOf } from "../evidence/evidence.ts";
import type { Trust } from "../machines/transition.ts";
import { matchExpectations } from "../outcomes/match.ts";
import { rowsAnew } from "../projection/anew.ts";
import {
  type Guard,
  type LookupKind,
  moveGuard,
  readGuard,
} from "../projection/guard.ts";
import type { FoldParts } from "../projection/project.ts";
import { dropRefolded } from "../projection/refold.ts";
import { unpackOrder, updateRow } from "../projection/rows.ts";
import { orderState } from "../states/order_state.ts";
import {
  type Driver,
  LedgerError,
  listed,
  readDeciding,
  retryLostRaces,
  type Statement,
  statement,
  write,
} from "../store/database.ts";
import { isAbout, type OrderFold } from "../orders/order_fold.ts";

export interface ErasureParts
  extends Required<Pick<FoldParts, "driver" | "assets" | "fold">> {
  readonly now: () => number;
  readonly randomBytes: (length: number) => Uint8Array;
}

type Chance = Pick<ErasureParts, "randomBytes">;

interface RedactOptions extends Chance {
  readonly userId?: string | null;
  readonly clickId?: string | null;
  /** How its order compares with what was recorded. */
  readonly match?: MatchFact | null;
  /** What of its terms leads to orders of others, which are compared with them. */
  readonly leads?: ReadonlySet<unknown>;
}

/** What terms say of a person, and what leads to an order. */
const NAMES_OF_TERMS: ReadonlySet<string> = new Set([
  ...["user_id", "wallet_address", "session_id", "request_id"],
  ...["click_id", "reference"],
]);

/** How random names begin. */
const PSEUDONYM = "erased-";

export function newName({ randomBytes }: Chance): string {
  return PSEUDONYM + hexOf(randomBytes(10));
}

export function isPseudonym(name: string | null): boolean {
  return name === null || name.startsWith(PSEUDONYM);
}

/**
 * What an event of a person is to name. A webhook names no user afterwards, or it
 * would make a row of one; who was renamed before keeps that name.
 */
export function namesIn(
  { kind, userId, clickId }: RecordedEvent,
  names: Pick<RedactOptions, "userId" | "clickId">,
): Pick<RedactOptions, "userId" | "clickId"> {
  const user = isPseudonym(userId) ? userId : names.userId ?? null;
  return {
    userId: kind === "webhook" ? null : user,
    clickId: isPseudonym(clickId) ? clickId : names.clickId ?? null,
  };
}

/** Whether something was taken out of an event before. */
export function isRedacted(event: RecordedEvent): boolean {
  return event.kind === "order_redacted" || event.body.length === 0 ||
    isMarkedErased(event);
}

/** Kinds that say nothing of anybody. */
const NAMELESS: ReadonlySet<EventKind> = new Set([
  ...["order_absent", "order_contradicted", "order_released"] as const,
  ...["person_erased", "month_closed", "delivery_unanswered"] as const,
]);

/**
 * Takes out of an event what it says but what the fold needs, and gives it other
 * names. It keeps its place and its times; the id of a reading tells what it says,
 * so it gets a new one. Where there is nothing to take out it stays the event it is.
 */
export function redactEvent(
  event: RecordedEvent,
  { randomBytes, userId = null, clickId = null, match = null, leads }:
    RedactOptions,
): RecordedEvent {
  const { kind, type, orderId } = event;
  if (NAMELESS.has(kind)) return event;
  const names = {
    ...{ user_id: userId ?? undefined, click_id: clickId ?? undefined },
  };
  const root = objectIn(event.body) ?? {};
  // The salt goes, so that nobody can guess what the body was.
  const left = (said: object, as: EventKind = kind): RecordedEvent => {
    const marked = as === "order_redacted" ? said : { ...said, erased: true };
    const body = new TextEncoder().encode(JSON.stringify(marked));
    // Ids of these are random.
    const keepsId = kind === "webhook" || kind === "note";
    const eventId = keepsId
      ? event.eventId
      : ERASED_ID + hexOf(randomBytes(16));
    const salt = randomBytes(16);
    const { columns } = derive(as, body);
    if (columns.digest === event.digest) return event;
    return { ...event, ...columns, kind: as, body, eventId, salt };
  };
  switch (kind) {
    case "webhook":
      return left({
        ...type !== null && { type },
        ...clickId !== null && { click_id: clickId },
        ...userId !== null && { user: { user_id: userId } },
        ...orderId !== null && { order: { id: orderId, ...claimed(event) } },
      });
    case "order_redacted":
      return left({ ...root, ...names });
    case "order_snapshot":
      if (orderId === null) break;
      return isRedacted(event) ? left({ order_id: orderId }) : left({
        ...{ order_id: orderId, ...names, ...readingFields(event) },
        ...match !== null && { match },
        redacts: { kind },
      }, "order_redacted");
    case "chain_reading": {
      if (orderId === null) break;
      const witness = Object.fromEntries(
        KEPT_OF_CHAIN_READING.filter((name) => root[name] !== undefined)
          .map((name) => [name, root[name]]),
      );
      return left({
        ...{ order_id: orderId, ...names, witness, redacts: { kind } },
      }, "order_redacted");
    }
    case "session_created":
    case "order_expected":
      return left(
        leads === undefined ? {} : JSON.parse(
          JSON.stringify(
            root,
            (name, value) =>
              NAMES_OF_TERMS.has(name) && !leads.has(value)
                ? newName({ randomBytes })
                : value,
          ),
        ),
      );
    case "note": {
      // That a person dealt with an order stays known.
      const { entity, entity_id, action, reasons, author } = root;
      return left(
        entity !== "order"
          ? {}
          : { entity, entity_id, action, reasons, text: "", author },
      );
    }
  }
  return left({});
}

export function objectIn(body: Uint8Array): ReturnType<typeof exactObject> {
  try {
    return exactObject(body);
  } catch {
    return null;
  }
}

/** What a webhook claims of its order, as it is read: a number is no currency. */
function claimed({ body }: RecordedEvent) {
  const order = orderIn(body);
  return Object.fromEntries(KEPT_OF_WEBHOOK.flatMap((name) => {
    const field = orderField(name).webhook?.path.split(".")[1];
    const value = field && order[field];
    return typeof value === "string" ? [[field, value]] : [];
  }));
}

function orderIn(body: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    return objectOf(Object(parseWebhook(body)).order) ?? {};
  } catch {
    return {};
  }
}

/**
 * A reading that is made after the erasure, without what was erased. How the order
 * compares with what was recorded is said by those redacted before.
 */
export function redactReading(
  event: NewEvent,
  { userId, clickId }: Pick<ErasedOrder, "userId" | "clickId">,
): NewEvent {
  const { recordedAt, readAt, salt } = event;
  return record("order_redacted", {
    order_id: event.orderId ?? "",
    ...userId !== null && { user_id: userId },
    ...clickId !== null && { click_id: clickId },
    ...{ ...readingFields(event), redacts: null },
  }, { recordedAt, readAt, salt });
}

function readingFields(
  event: Parameters<typeof readOrder>[0],
): Partial<OrderRedactedBody> {
  const read = soundRow(event.body, readOrderRow);
  const reading = readOrder(event);
  if (read === null || reading === null) return {};
  const kept = KEPT_ORDER_FIELDS.flatMap((field) => {
    const value = read.row[field] === null ? "" : read.row[field];
    return typeof value === "string" ? [[field, value]] : [];
  });
  const tx = statedTransactionForm(reading);
  return {
    ...Object.fromEntries(kept),
    ...tx === "empty" && { tx_id: "" },
    ...tx === "named" && { tx_named: true },
    ...tx === "unreadable" && { tx_unreadable: true },
  };
}

export type Replacement = Readonly<Record<"before" | "after", RecordedEvent>>;

/**
 * Takes out of events what names somebody, where there is something to take out. Terms
 * that lead to orders of others stay terms: without them others might agree.
 */
export async function replacementsOf(
  parts: ErasureParts,
  { guard, events, orders = [], optionsOf = () => ({}) }: {
    readonly guard: Guard;
    readonly events: readonly RecordedEvent[];
    readonly orders?: readonly { readonly no: number }[];
    readonly optionsOf?: (
      event: RecordedEvent,
    ) => Omit<RedactOptions, "randomBytes" | "leads">;
  },
): Promise<Replacement[]> {
  const [rows = []] = await readDeciding(parts.driver, [statement(
    `SELECT DISTINCT value ->> 0, value ->> 2 FROM json_each(?1)
      JOIN lookup AS l ON l.hash = value ->> 1
      WHERE l.shown = 1 AND l.no NOT IN (SELECT value FROM json_each(?2))`,
    JSON.stringify(linksOf(parts, guard, events)),
    listed(orders.map(({ no }) => no)),
  )]);
  const leading = Map.groupBy(rows, ([position]) => Number(position));
  return events.map((before) => {
    const texts = leading.get(before.position)?.map(([, text]) => text);
    const options = { ...parts, ...optionsOf(before) };
    const leads = texts && { leads: new Set(texts) };
    return { before, after: redactEvent(before, { ...options, ...leads }) };
  }).filter(({ before, after }) => before !== after);
}

/** Reads how far events are folded; what is not folded yet is redacted as it comes. */
export async function readFolded(
  { driver, fold }: ErasureParts,
  work: "erase" | "prune",
): Promise<Guard> {
  const guard = await readGuard(driver);
  if (guard.foldVersion === fold.version) return guard;
  throw new LedgerError(
    "failed",
    `Cannot ${work}: the events are not folded by this version; fold them first, ` +
      "with ledger.project()",
  );
}

/** What follows where events are replaced. Nothing leads to the orders from now on. */
export async function replaceEvents(
  parts: ErasureParts,
  { guard, replaced, orders = [] }: {
    readonly guard: Guard;
    readonly replaced: readonly Replacement[];
    readonly orders?: readonly { readonly no: number }[];
  },
): Promise<Statement[]> {
  const { driver, assets, now, randomBytes, fold: { readFact } } = parts;
  const nos = orders.map(({ no }) => no);
  // Nothing vouches yet for what is not folded.
  const folded = replaced.filter(({ before }) =>
    before.position <= guard.position
  );
  const positions = listed(folded.map(({ before }) => before.position));
  const counts: Record<string, number> = { ...guard.counts };
  for (const { before, after } of folded) {
    counts[before.kind] = (counts[before.kind] ?? 0) - 1;
    counts[after.kind] = (counts[after.kind] ?? 0) + 1;
  }
  const touched = statement(
    `SELECT no FROM mentions WHERE position IN
        (SELECT value FROM json_each(?1))
      UNION SELECT no FROM lookup WHERE hash IN
        (SELECT value FROM json_each(?2))
      UNION SELECT value FROM json_each(?3)`,
    positions,
    listed(
      linksOf(parts, guard, folded.map(({ before }) => before))
        .map(([, link]) => link),
    ),
    listed(nos),
  );
  const anew = {
    ...{ assets, readFact, hash: guard.hash },
    replaced: new Map(folded.map(({ after }) => [after.position, after])),
  };
  const states: Statement[] = [];
  const nobody: number[] = [];
  for (const table of ["orders", "users"] as const) {
    const [found = []] = await readDeciding(driver, [{
      sql: `SELECT no, id, historic, told FROM ${table}
        WHERE no IN (${touched.sql})`,
      args: touched.args,
    }]);
    const rows = found.map(([no = 0, id = "", historic = 0, told = ""]) => ({
      ...{ no, id, historic, told },
    }));
    const made = await rowsAnew(driver, rows, anew);
    for (const [no, { fold, columns }] of made) {
      if (table === "users" && fold.activity.firstAt === null) nobody.push(no);
      states.push(updateRow(table, columns));
    }
  }
  const [ledger] = await readDeciding(driver, [
    statement("SELECT id FROM ledger"),
  ]);
  const body = {
    ledger: String(ledger?.[0]?.[0]),
    replaced: folded.map(({ before, after }) => [
      before.position,
      hexOf(leafOf(before)),
      hexOf(leafOf(after)),
    ]),
  };
  const drop = (nos: readonly number[]) => (table: string) =>
    statement(
      `DELETE FROM ${table} WHERE no IN (SELECT value FROM json_each(?))`,
      listed(nos),
    );
  return [
    moveGuard(guard, { erasures: guard.erasures + 1, counts }),
    ...dropRefolded,
    ...replaced.map(({ after }) => updateEvent(after)),
    ...folded.length === 0 ? [] : [appendStatement([
      record("person_erased", body, {
        eventId: ulid(now(), () => (randomBytes(1)[0] ?? 0) / 256),
        recordedAt: new Date(now()).toISOString(),
        salt: randomBytes(16),
      }),
    ])],
    // That something was expected stays known.
    statement(
      `UPDATE expected SET click = NULL, reference = NULL, session = NULL
        WHERE position IN (SELECT value FROM json_each(?))`,
      listed(
        folded.filter(({ after }) => !isExpectation(readFact(after)))
          .map(({ after }) => after.position),
      ),
    ),
    ...states,
    drop(nos)("lookup_rows"),
    ...["outbox", "users", "mentions", "log"].map(drop(nobody)),
  ];
}

/** How an order compares must stay known when readings and terms are redacted. */
export function matchToKeep(
  fold: OrderFold | undefined,
  { assets }: ErasureParts,
): MatchFact | null {
  return fold?.latest ? matchExpectations(fold, assets).match : null;
}

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

/** What terms among events lead to orders by. */
function linksOf(
  { fold: { readFact } }: ErasureParts,
  { hash }: Guard,
  events: readonly RecordedEvent[],
): (readonly [position: number, link: number, text: string])[] {
  return events.flatMap((event) => {
    const fact = readFact(event);
    if (!isExpectation(fact)) return [];
    const { clickId: click, sessionId: session, reference } = fact.expectation;
    return Object.entries({ click, session, reference }).flatMap((
      [kind, text],
    ) =>
      text === null
        ? []
        : [[event.position, hash.of(kind as LookupKind, text), text] as const]
    );
  });
}

export function updateEvent(after: RecordedEvent): Statement {
  return statement(
    `UPDATE events SET id = ?2, kind = ?3, body = ?4, salt = ?5
      WHERE position = ?1`,
    ...[after.position, after.eventId, after.kind, after.body, after.salt],
  );
}

/** Result of pruning. */
export interface Pruning {
  /** Bodies that were deleted. */
  readonly pruned: number;
  /** Bodies that are as old and were kept: see {@linkcode Erasures.prune}. */
  readonly left: number;
}

/** How bodies are pruned. */
export interface PruneOptions {
  /** Called with the number of bodies deleted so far. */
  readonly onProgress?: (pruned: number) => void;
  /** Stops between two steps. */
  readonly signal?: AbortSignal;
}

const OF_ORDERS = "e.kind IN ('webhook', 'order_snapshot', 'chain_reading')";
const OTHERS =
  "e.kind IN ('user_snapshot', 'session_created', 'order_expected')";

const STEP = 200;

/** An old event that is as it came. Text is compared with text, and ms with ms. */
const PRUNABLE = `length(e.body) > 0
  AND substr(e.body, -${ERASED_MARK.length}) <> CAST('${ERASED_MARK}' AS BLOB)
  AND CASE typeof(e.recorded_at) WHEN 'integer' THEN e.recorded_at < ?1
    ELSE e.recorded_at < ?2 END`;

export async function countOldBodies(
  driver: Driver,
  before: string,
): Promise<number> {
  const [rows] = await readDeciding(driver, [statement(
    `SELECT count(*) FROM events AS e
      WHERE (${OF_ORDERS} OR ${OTHERS}) AND ${PRUNABLE}`,
    msOf(before) ?? 0,
    before,
  )]);
  return Number(rows?.[0]?.[0] ?? 0);
}

/**
 * Prunes some at a time; the next call skips what is done. What was asked for stays
 * while it is valid, and while an order has no reading that keeps how it compares.
 */
export async function pruneBodies(
  parts: ErasureParts,
  before: string,
  { onProgress, signal }: PruneOptions = {},
): Promise<Pruning> {
  const { driver, fold: { readFact } } = parts;
  let pruned = 0;
  let after = 0;
  const step = async (kinds: string): Promise<boolean> => {
    const guard = await readFolded(parts, "prune");
    const events = await readEvents(
      driver,
      `events AS e WHERE ${kinds} AND ${PRUNABLE} AND ${SUPERSEDED}
        AND e.position > ?3 AND e.position <= ?4
        ORDER BY e.position LIMIT ${STEP}`,
      ...[msOf(before) ?? 0, before, after, guard.position],
    );
    const foldsOf = await readFolds(parts, guard, events);
    const now = new Date(parts.now()).toISOString();
    const replaced = events.flatMap((event): Replacement[] => {
      const fact = readFact(event);
      const isAsked = isExpectation(fact);
      const folds = foldsOf(event);
      const isNeeded = folds.some((fold) =>
        isBlocked(fold, parts) || (isAsked && fold.redacted === null)
      );
      const isValid = isAsked && validUntil(fact.expectation) > now;
      if (isNeeded || isValid) return [];
      const { userId, clickId } = event;
      const match = matchToKeep(folds[0], parts);
      const options = { ...parts, userId, clickId, match };
      return [{ before: event, after: redactEvent(event, options) }];
    });
    if (replaced.length > 0) {
      await write(driver, await replaceEvents(parts, { guard, replaced }));
      pruned += replaced.length;
    }
    after = events.at(-1)?.position ?? after;
    return events.length > 0;
  };
  // How an order compares is kept with its readings before its terms go.
  for (const kinds of [OF_ORDERS, OTHERS]) {
    for (after = 0;; onProgress?.(pruned)) {
      signal?.throwIfAborted();
      if (!await retryLostRaces(() => step(kinds))) break;
    }
  }
  return { pruned, left: await countOldBodies(driver, before) };
}

/**
 * What is not said again: the latest reading is what the ledger says of a user today,
 * and a younger reading says at which transaction a look was.
 */
const SUPERSEDED = `CASE e.kind
  WHEN 'user_snapshot' THEN e.position IS NOT (
    SELECT max(m.position) FROM mentions AS n JOIN mentions AS m ON m.no = n.no
      JOIN events AS x ON x.position = m.position
    WHERE n.position = e.position AND x.kind = 'user_snapshot')
  WHEN 'chain_reading' THEN NOT EXISTS (
    SELECT 1 FROM mentions AS n JOIN mentions AS m ON m.no = n.no
      JOIN events AS x ON x.position = m.position
    WHERE n.position = e.position AND x.kind = 'order_snapshot'
      AND x.recorded_at >= ?1)
  ELSE true END`;

/** Reads the orders of events, or those that terms may be compared with. */
export async function readFolds(
  parts: ErasureParts,
  guard: Guard,
  events: readonly RecordedEvent[],
): Promise<(event: RecordedEvent) => readonly OrderFold[]> {
  const [rows] = await readDeciding(parts.driver, [statement(
    `SELECT value ->> 0, o.id, o.fold FROM json_each(?1)
      JOIN orders AS o ON o.id = value ->> 1
    UNION ALL SELECT value ->> 0, o.id, o.fold FROM json_each(?2)
      JOIN lookup AS l ON l.hash = value ->> 1
      JOIN orders AS o ON o.no = l.no`,
    JSON.stringify(events.map(({ position, orderId }) => [position, orderId])),
    JSON.stringify(linksOf(parts, guard, events)),
  )]);
  const found = Map.groupBy(rows ?? [], ([position]) => Number(position));
  return ({ position }) =>
    (found.get(position) ?? []).map(([, id, fold]) =>
      unpackOrder(String(id), String(fold))
    );
}

/**
 * An order that waits for something stays whole, and one of which the chain was asked
 * about something else than the service shows now: that could not be seen any more.
 */
function isBlocked(fold: OrderFold, parts: ErasureParts): boolean {
  const { latest, looks } = fold;
  return erasableOrder(fold, parts).blocks.length > 0 ||
    looks.some((look) => latest === null || !isAbout(look, latest));
}
