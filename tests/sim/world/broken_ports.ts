import { emptyRecord } from "../../../core/guards.ts";
import { ORDER_FIELD_NAMES } from "../../../core/wire/fields.ts";
import type { Completeness, Page } from "../../../client/mod.ts";
import {
  type Driver,
  FOLD_VERSION,
  readFact,
  type Statement,
} from "../../../ledger/for_sync.ts";
import type {
  Fact,
  FoldCode,
  RecordedEvent,
  ResultSet,
  SqlValue,
  WebhookFact,
} from "../../../ledger/testing/mod.ts";
import type {
  PollClient,
  PollWalk,
  ReconcileLedger,
} from "../../../sync/mod.ts";
import { parseWebhook } from "../../../webhooks/mod.ts";
import { broke } from "./broke.ts";
import type { PortTools } from "./ports.ts";

/** The answer of a statement that did nothing. */
export const nothing: ResultSet = { columns: [], rows: [], rowsAffected: 0 };

/** What a strict integrator would take: documented events, and whole. */
export function isDocumented(body: string): boolean {
  try {
    return parseWebhook(body).type !== "unrecognised";
  } catch {
    return false;
  }
}

/** Alters each statement on its way to the database. */
export function altering(
  alter: (statement: Statement) => Statement,
): (next: Driver) => Driver {
  return (next) =>
    wrap(next, (statements, mode) =>
      next.batch(
        statements.map((statement) => {
          const altered = alter(statement);
          if (altered !== statement) broke();
          return altered;
        }),
        mode,
      ));
}

/** Replaces a piece of the SQL of each statement that has it. */
export function replacing(
  piece: string | RegExp,
  by: string,
): (next: Driver) => Driver {
  return altering((statement) => {
    const sql = statement.sql.replace(piece, () => by);
    return sql === statement.sql ? statement : { ...statement, sql };
  });
}

/** A driver whose batches go another way. */
export function wrap(next: Driver, batch: Driver["batch"]): Driver {
  const copyTo = next.copyTo?.bind(next);
  return {
    location: next.location,
    batch,
    ...(copyTo && { copyTo }),
    close: () => next.close(),
  };
}

/** A driver that finds nothing where a read asks for something. */
export function blind(next: Driver, asked: string | RegExp): Driver {
  return finding(next, asked, () => []);
}

/**
 * A driver that finds other rows where a read asks for something.
 *
 * @param change What is found in place of the rows.
 */
export function finding(
  next: Driver,
  asked: string | RegExp,
  change: (rows: ResultSet["rows"], statement: Statement) => ResultSet["rows"],
): Driver {
  return wrap(next, async (statements, mode) => {
    const results = await next.batch(statements, mode);
    return results.map((result, at) => {
      const statement = statements[at];
      if (statement === undefined) return result;
      const isAsked = typeof asked === "string"
        ? statement.sql.includes(asked)
        : asked.test(statement.sql);
      if (!isAsked) return result;
      const rows = change(result.rows, statement);
      if (JSON.stringify(rows) !== JSON.stringify(result.rows)) broke();
      return { ...result, rows };
    });
  });
}

/** Whether a statement begins a batch that folds, and expects to be the first. */
export function movesGuard(statement: Statement | undefined): boolean {
  return statement?.expects === true &&
    statement.sql.startsWith("UPDATE ledger SET position");
}

/** Moves the guard, however far others have moved it meanwhile. */
export function unguarded(statement: Statement): Statement {
  if (!movesGuard(statement)) return statement;
  const sql = statement.sql.replace(/CASE WHEN turn = .* END/, "turn + 1");
  return { ...statement, sql };
}

/** Places of the columns of a row of `orders` or `users` that a batch writes. */
interface Columns {
  readonly at: (column: string) => number;
}

/** A statement that inserts rows, each edited, or left out by null. */
export function editingRows(
  statement: Statement,
  into: RegExp,
  edit: (row: SqlValue[], head: string) => SqlValue[] | null,
): Statement {
  const [, head = "", row = "", rest = ""] =
    /^(.+?) VALUES (\([?,]+\))(?:,\([?,]+\))*(.*)$/s.exec(statement.sql) ?? [];
  if (!into.test(head)) return statement;
  const width = row.split("?").length - 1;
  const { args } = statement;
  const rows = Array.from(
    { length: args.length / width },
    (_, at) => args.slice(at * width, (at + 1) * width),
  );
  const edited = rows.map((one) => edit(one, head));
  if (edited.every((one, at) => one === rows[at])) return statement;
  const kept = edited.filter((one) => one !== null);
  const sql = `${head} VALUES ${kept.map(() => row).join()}${rest}`;
  return kept.length === 0
    ? { sql: "SELECT 1 WHERE false", args: [] }
    : { sql, args: kept.flat() };
}

/** Alters the rows of orders and users that batches write. */
export function eachRow(
  change: (args: SqlValue[], columns: Columns) => SqlValue[],
): (next: Driver) => Driver {
  return altering((statement) =>
    editingRows(
      statement,
      /^INSERT INTO (?:orders|users) \(no,/,
      (row, head) => {
        const names = head.slice(head.indexOf("(") + 1, -1).split(",");
        return change(row, { at: (column) => names.indexOf(column) });
      },
    )
  );
}

/** What was asked for is said to have been asked for a day later. */
export function askedLater(statement: Statement): Statement {
  const [entity, list, ...rest] = statement.args;
  if (!/^INSERT INTO observations\s/.test(statement.sql)) return statement;
  const later = (time: string) =>
    new Date(Date.parse(time) + 24 * 3_600_000).toISOString();
  const rows = JSON.parse(String(list)).map(
    (row: { readonly requestedAt: string }) => ({
      ...row,
      requestedAt: later(row.requestedAt),
    }),
  );
  const args = [entity ?? null, JSON.stringify(rows), ...rest];
  return { ...statement, args };
}

const utf8 = new TextDecoder();

type EventRow = readonly (string | number | null)[];

/**
 * A driver that changes, or leaves out, each event that is appended.
 *
 * @param change Gets id, kind and what else is appended, and the body as text.
 */
export function eachEvent(
  change: (row: EventRow, body: string) => EventRow | null,
): (next: Driver) => Driver {
  return altering((statement) => {
    const [blob, rows] = statement.args;
    if (!statement.sql.startsWith("INSERT INTO events")) return statement;
    if (!(blob instanceof Uint8Array)) return statement;
    const before = JSON.parse(String(rows)) as EventRow[];
    const changed = before.map((row) => {
      const [at = 1, length = 0] = row.slice(4, 6).map(Number);
      return change(row, utf8.decode(blob.subarray(at - 1, at - 1 + length)));
    });
    return changed.every((row, at) => row === before[at]) ? statement : {
      ...statement,
      args: [blob, JSON.stringify(changed.filter((row) => row !== null))],
    };
  });
}

/** Seals in which no body has a part. */
export function withoutBodies(statement: Statement): Statement {
  if (!statement.sql.startsWith("INSERT INTO seals")) return statement;
  const [position = null, events = null, root, leaves] = statement.args;
  const nothing = (bytes: SqlValue | undefined) =>
    new Uint8Array(bytes instanceof Uint8Array ? bytes.length : 0);
  return {
    ...statement,
    args: [position, events, nothing(root), nothing(leaves)],
  };
}

/** The fold, its facts changed on the way in. */
export function fold(
  change: (fact: Fact, event: RecordedEvent) => Fact,
): FoldCode {
  return {
    version: FOLD_VERSION,
    readFact: (event) => {
      const fact = readFact(event);
      const changed = change(fact, event);
      if (changed !== fact) broke();
      return changed;
    },
  };
}

/** What a webhook claims, as if the service had been asked. */
export function asReading(fact: WebhookFact): Fact {
  const { claim, body, recordedAt, digest, position, eventId, orderId } = fact;
  return {
    kind: "order_snapshot",
    label: "order_snapshot",
    position,
    eventId,
    recordedAt,
    digest,
    orderId,
    userId: null,
    sessionId: null,
    clickId: null,
    reading: {
      ...emptyRecord(ORDER_FIELD_NAMES),
      digest,
      readAt: recordedAt,
      status: claim ?? "created",
      changedAt: recordedAt,
      createdAt: "",
      statedChangedAt: null,
      statedCreatedAt: null,
      currency: body?.currency ?? null,
      currencyAmount: body?.currencyAmount ?? null,
      commodity: body?.commodity ?? null,
      cryptoAmount: body?.cryptoAmount ?? null,
      address: body?.address ?? null,
      txId: body?.txId ?? null,
      userId: body?.userId ?? null,
      odd: [],
      match: null,
      erasedTx: null,
    },
  };
}

/** A client whose walks over orders show other pages. */
export function walking(
  next: PollClient,
  change: <T>(pages: AsyncIterable<Page<T>>) => AsyncIterable<Page<T>>,
): PollClient {
  return {
    orders: {
      page: (query, options) => next.orders.page(query, options),
      list: (query, options) => {
        const walk = next.orders.list(query, options);
        return over(walk, change(walk.pages()));
      },
    },
    users: next.users,
  };
}

function over<T>(
  walk: PollWalk<T>,
  pages: AsyncIterable<Page<T>>,
): PollWalk<T> {
  return {
    pages: () => pages,
    get completeness(): Completeness {
      if (!walk.completeness.complete) broke();
      const { pages, items, passes, total, warnings } = walk.completeness;
      const facts = { pages, items, passes, total, warnings };
      return { ...facts, complete: true, exhausted: true };
    },
  };
}

/** The first page of a walk. */
export async function* firstOf<T>(
  pages: AsyncIterable<Page<T>>,
): AsyncGenerator<Page<T>> {
  for await (const page of pages) {
    broke();
    yield page;
    return;
  }
}

/** Pages in which an order stays as it was first seen in its status. */
export async function* stale<T>(
  pages: AsyncIterable<Page<T>>,
  seen: Map<string, { status: unknown; source: string }>,
): AsyncGenerator<Page<T>> {
  for await (const page of pages) {
    const sources = page.data.map((item, at) => {
      const { order_id, status } = item as {
        order_id: string;
        status: unknown;
      };
      const before = seen.get(order_id);
      if (before !== undefined && before.status === status) {
        if (before.source !== page.sources[at]) broke();
        return before.source;
      }
      const source = page.sources[at] ?? "";
      seen.set(order_id, { status, source });
      return source;
    });
    const { oddFields, rowsWithoutId } = page;
    yield { ...page, sources, oddFields, rowsWithoutId };
  }
}

/** JSON as one who never heard of exact numbers passes it on. */
export function throughFloats(text: string): string {
  try {
    const passed = JSON.stringify(JSON.parse(text));
    if (passed !== text) broke();
    return passed;
  } catch {
    return text;
  }
}

/** A driver that leaves statements out. */
export function without(
  next: Driver,
  left: (sql: string) => boolean,
): Driver {
  return wrap(next, async (statements, mode) => {
    const kept = statements.filter(({ sql }) => !left(sql));
    if (kept.length < statements.length) broke();
    const results = await next.batch(kept, mode);
    return statements.map(({ sql }) =>
      left(sql) ? nothing : results.shift() ?? nothing
    );
  });
}

/** A ledger that takes its claims for confirmed. */
export function believing(next: ReconcileLedger): ReconcileLedger {
  return {
    ...next,
    orders: {
      get: async (id) => {
        const order = await next.orders.get(id);
        if (order === null) return null;
        if (order.trust !== "confirmed") broke();
        return { ...order, trust: "confirmed" };
      },
      list: (query) => next.orders.list(query),
    },
  };
}

/**
 * A driver by which a refold swaps in what it has built without holding the
 * live states where they were: late, and after that it makes no difference.
 */
export function swapping(next: Driver, { clock }: PortTools): Driver {
  return wrap(next, async (statements, mode) => {
    if (
      !statements.some(({ sql }) => sql.includes("RENAME TO orders_former"))
    ) {
      return await next.batch(statements, mode);
    }
    await clock.sleep(60_000);
    broke();
    return await next.batch(
      statements.map((one) =>
        movesGuard(one)
          ? {
            sql: "UPDATE ledger SET fold_version = ?, turn = turn + 1",
            args: [one.args[3] ?? null],
          }
          : one
      ),
      mode,
    );
  });
}

/** A driver by which every process takes the states for those of its fold. */
export function ofOneFold(
  next: Driver,
  { foldVersion }: { readonly foldVersion: number },
): Driver {
  return wrap(next, async (statements, mode) => {
    const results = await next.batch(
      statements.map((statement) =>
        movesGuard(statement)
          ? {
            ...statement,
            sql: statement.sql.replace("AND fold_version = ?2", ""),
          }
          : statement
      ),
      mode,
    );
    return results.map((result) => {
      const at = result.columns.indexOf("fold_version");
      return at === -1 ? result : {
        ...result,
        rows: result.rows.map((row) => {
          if (row[at] !== foldVersion) broke();
          return row.with(at, foldVersion);
        }),
      };
    });
  });
}

/** Every webhook makes a read equally urgent. */
export function withUrgency(urgency: 0 | 2): (next: Driver) => Driver {
  let claims = 0;
  return eachRow((args, { at }) => {
    const [level, claimedBy] = [at("urgency"), at("claimed_by")];
    if (args[at("wanted_at")] === null || args[level] === urgency) return args;
    const by = urgency === 0 ? 0 : 1e9 + ++claims;
    return args.with(level, urgency).with(claimedBy, by);
  });
}

/** A driver by which known ids wait until no unknown one does. */
export function unknownFirst(next: Driver): Driver {
  return wrap(next, async (statements, mode) => {
    const results = await next.batch(statements, mode);
    const isOf = (at: number, shown: 0 | 1) =>
      new RegExp(`q\\.shown = ${shown}\\s+AND q\\.named_at`)
        .test(statements[at]?.sql ?? "");
    const waits = results.some(({ rows }, at) =>
      rows.length > 0 && isOf(at, 0)
    );
    if (!waits) return results;
    return results.map((result, at) => {
      if (!isOf(at, 1)) return result;
      if (result.rows.length > 0) broke();
      return { ...result, rows: [] };
    });
  });
}
