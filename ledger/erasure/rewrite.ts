/** Puts redacted events in the place of others, and makes the states that follow anew. */
import { ulid } from "ulid";
import type { AssetTable } from "../../core/assets/environment.ts";
import { record } from "../events/record.ts";
import type { NewEvent, RecordedEvent } from "../events/event.ts";
import { type Fact, isExpectation } from "../events/fact.ts";
import { isExpectationKind } from "../machines/event_kind.ts";
import type { Driver, SqlValue, Statement } from "../store/driver/driver.ts";
import { leafOf } from "../evidence/seals.ts";
import { foldOrdersAnew, foldUsersAnew } from "../projection/anew.ts";
import { packOrder, packUser, type Row } from "../projection/doc.ts";
import { type Guard, moveGuard } from "../projection/guard.ts";
import { LookupHash } from "../projection/lookup_hash.ts";
import { dropRefolded } from "../projection/refold.ts";
import {
  lookupText,
  ORDER_COLUMNS,
  orderColumns,
  orderView,
  stateLinks,
  USER_COLUMNS,
  userColumns,
} from "../projection/rows.ts";
import {
  insertMany,
  listed,
  readDeciding,
  statement,
} from "../store/database.ts";
import { appendStatement, hexOf, type StoredEvent } from "../store/events.ts";

/** What erasing and pruning work with. */
export interface ErasureParts {
  readonly driver: Driver;
  readonly ledgerId: string;
  readonly assets: AssetTable;
  /** The clock, in ms. */
  readonly now: () => number;
  readonly randomBytes: (length: number) => Uint8Array;
  readonly readFact: (event: RecordedEvent) => Fact;
  /** Version of the fold. */
  readonly foldVersion: number;
}

/** An event as it was, and as it is from now on. */
export interface Replacement {
  readonly before: StoredEvent;
  readonly after: StoredEvent;
}

/** Whose rows go, and whose links. */
export interface Gone {
  /** Rows of users of whom nothing may be left. */
  readonly users?: readonly number[];
  /** Orders of the person, of which nothing but their state leads to them. */
  readonly orders?: readonly number[];
}

/** Everything that follows where folded events are replaced; the guard is moved by it. */
export async function replaceEvents(
  parts: ErasureParts,
  { guard, replaced, gone = {} }: {
    readonly guard: Guard;
    readonly replaced: readonly Replacement[];
    readonly gone?: Gone;
  },
): Promise<Statement[]> {
  const { now, ledgerId, randomBytes } = parts;
  const hash = new LookupHash(guard.key);
  const counts: Record<string, number> = { ...guard.counts };
  for (const { before, after } of replaced) {
    counts[before.kind] = (counts[before.kind] ?? 0) - 1;
    counts[after.kind] = (counts[after.kind] ?? 0) + 1;
  }
  const terms = replaced.filter(({ before }) => isExpectationKind(before.kind))
    .map(({ before }) => before);
  const body = {
    ledger: ledgerId,
    replaced: replaced.map(({ before, after }) => [
      before.position,
      hexOf(leafOf(before)),
      hexOf(leafOf(after)),
    ]),
  };
  return [
    moveGuard(guard, { erasures: guard.erasures + 1, counts }),
    ...dropRefolded,
    ...replaced.map(({ after }) => updateEvent(after)),
    ...replaced.length === 0
      ? []
      : [appendStatement([minted(body, now(), randomBytes)])],
    statement(
      // That something was expected stays known.
      `UPDATE expected SET click = NULL, reference = NULL, session = NULL
        WHERE position IN (SELECT value FROM json_each(?))`,
      listed(terms.map(({ position }) => position)),
    ),
    ...await statesAfter(parts, { guard, hash, replaced, gone, terms }),
  ];
}

/** Stores an event in its place. */
export function updateEvent(after: StoredEvent): Statement {
  return statement(
    `UPDATE events SET id = ?2, kind = ?3, body = ?4, salt = ?5
      WHERE position = ?1`,
    ...[after.position, after.eventId, after.kind, after.body, after.salt],
  );
}

function minted(
  body: object,
  nowMs: number,
  randomBytes: ErasureParts["randomBytes"],
): NewEvent {
  return record("person_erased", body, {
    eventId: ulid(nowMs, () => (randomBytes(1)[0] ?? 0) / 256),
    recordedAt: new Date(nowMs).toISOString(),
    salt: randomBytes(16),
  });
}

async function statesAfter(
  { driver, assets, readFact }: ErasureParts,
  { guard, hash, replaced, gone, terms }: {
    readonly guard: Guard;
    readonly hash: LookupHash;
    readonly replaced: readonly Replacement[];
    readonly gone: Gone;
    readonly terms: readonly StoredEvent[];
  },
): Promise<Statement[]> {
  const links = terms.map(readFact).filter(isExpectation).flatMap((
    { expectation: { clickId, sessionId, reference } },
  ) => [
    ...clickId === null ? [] : [hash.of("click", clickId)],
    ...sessionId === null ? [] : [hash.of("session", sessionId)],
    ...reference === null ? [] : [hash.of("reference", reference)],
  ]);
  const [orders, users] = await readDeciding(driver, [
    statement(
      `SELECT no, id, historic, told FROM orders WHERE no IN (
        SELECT no FROM mentions WHERE position IN
          (SELECT value FROM json_each(?1))
        UNION SELECT no FROM lookup WHERE hash IN
          (SELECT value FROM json_each(?2))
        UNION SELECT value FROM json_each(?3))`,
      listed(replaced.map(({ before }) => before.position)),
      listed(links),
      listed(gone.orders ?? []),
    ),
    statement(
      `SELECT no, id, historic, told FROM users WHERE no IN (
        SELECT no FROM mentions WHERE position IN
          (SELECT value FROM json_each(?1)))
        AND no NOT IN (SELECT value FROM json_each(?2))`,
      listed(replaced.map(({ before }) => before.position)),
      listed(gone.users ?? []),
    ),
  ]);
  const anew = {
    ...{ readFact, hash, until: guard.position },
    replaced: new Map(
      replaced.map(({ after }) => [after.position, after] as const),
    ),
  };
  const entities = (rows: typeof orders) =>
    (rows ?? []).map(([no, id]) => ({ no: Number(no), id: String(id) }));
  const orderFolds = await foldOrdersAnew(driver, entities(orders), anew);
  const userFolds = await foldUsersAnew(driver, entities(users), anew);
  const own = new Set(gone.orders);
  const leads: [number, number, number][] = [];
  const statements: Statement[] = [];
  for (const row of orders ?? []) {
    const fold = orderFolds.get(Number(row[0]));
    if (fold === undefined) continue;
    const whole: Row<typeof fold> = { ...keptOf(row), fold };
    const view = orderView(whole, { assets });
    statements.push(update("orders", ORDER_COLUMNS, {
      ...orderColumns(whole, view, hash),
      fold: packOrder(fold),
    }));
    if (!own.has(whole.no)) continue;
    for (const { kind, link } of stateLinks(view)) {
      const shown = fold.latest === null ? 0 : 1;
      leads.push([hash.of(kind, lookupText(kind, link)), whole.no, shown]);
    }
  }
  const nobody: number[] = [];
  for (const row of users ?? []) {
    const fold = userFolds.get(Number(row[0]));
    if (fold === undefined) continue;
    const whole: Row<typeof fold> = { ...keptOf(row), fold };
    if (fold.activity.firstAt === null) nobody.push(whole.no);
    statements.push(update("users", USER_COLUMNS, {
      ...userColumns(whole),
      fold: packUser(fold),
    }));
  }
  const lost = listed([...gone.users ?? [], ...nobody]);
  return [
    ...statements,
    statement(
      "DELETE FROM lookup WHERE no IN (SELECT value FROM json_each(?))",
      listed(own),
    ),
    ...insertMany("lookup", leads, "ON CONFLICT DO NOTHING"),
    statement(
      `DELETE FROM outbox WHERE no IN (SELECT value FROM json_each(?))`,
      lost,
    ),
    ...["users", "mentions", "log"].map((table) =>
      statement(
        `DELETE FROM ${table} WHERE no IN (SELECT value FROM json_each(?))`,
        lost,
      )
    ),
  ];
}

function keptOf([no, , historic, told]: readonly SqlValue[]) {
  return {
    no: Number(no),
    historic: Number(historic),
    told: JSON.parse(String(told)),
  };
}

function update(
  table: "orders" | "users",
  columns: readonly string[],
  values: Readonly<Record<string, SqlValue>>,
): Statement {
  const set = columns.filter((one) =>
    one !== "no" && one !== "id" && one !== "told"
  );
  return statement(
    `UPDATE ${table} SET ${set.map((one) => `${one} = ?`).join(", ")}
      WHERE no = ?`,
    ...set.map((one) => values[one] ?? null),
    values.no ?? null,
  );
}
