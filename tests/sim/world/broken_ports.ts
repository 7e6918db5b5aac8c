import { emptyRecord } from "../../../core/guards.ts";
import { ORDER_FIELD_NAMES } from "../../../core/wire/order_fields.ts";
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
  ResultSet,
  WebhookFact,
} from "../../../ledger/testing/mod.ts";
import type { PollBound } from "../../../sync/testing/mod.ts";
import type {
  PollClient,
  PollWalk,
  ReconcileLedger,
} from "../../../sync/mod.ts";
import { isRecognised, parseWebhook } from "../../../webhooks/mod.ts";
import type { PortTools } from "./ports.ts";

/** The answer of a statement that did nothing. */
export const nothing: ResultSet = { columns: [], rows: [], rowsAffected: 0 };

/** What a strict integrator would take: documented events, and whole. */
export function isDocumented(body: string): boolean {
  try {
    return isRecognised(parseWebhook(body));
  } catch {
    return false;
  }
}

/** Alters each statement on its way to the database. */
export function altering(
  alter: (statement: Statement) => Statement,
): (next: Driver) => Driver {
  return (next) =>
    wrap(
      next,
      (statements, mode) => next.batch(statements.map(alter), mode),
    );
}

/** Replaces a piece of the SQL of each statement that has it. */
export function replacing(
  piece: string | RegExp,
  by: string,
): (next: Driver) => Driver {
  return altering((statement) => ({
    ...statement,
    sql: statement.sql.replace(piece, by),
  }));
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
export function blind(next: Driver, asked: string): Driver {
  return wrap(next, async (statements, mode) => {
    const results = await next.batch(statements, mode);
    return results.map((result, at) =>
      statements[at]?.sql.includes(asked) ? nothing : result
    );
  });
}

/** Whether a statement expects a checkpoint to be as it was read. */
export function expectsCheckpoint(statement: Statement | undefined): boolean {
  return statement?.expects === true &&
    statement.sql.startsWith("INSERT INTO projections");
}

/** The bounds that a poller records, a hundred times too short. */
export function hundredfold(statement: Statement): Statement {
  const [name, state, ...rest] = statement.args;
  if (name !== "poll_bound" || typeof state !== "string") return statement;
  const bound = JSON.parse(state) as PollBound;
  const staleness = Object.fromEntries(
    Object.entries(bound.staleness).map(([of, ms]) => [of, ms / 100]),
  );
  const args = [name, JSON.stringify({ ...bound, staleness }), ...rest];
  return { ...statement, args };
}

const utf8 = new TextDecoder();

type EventRow = readonly (string | number | null)[];

/** Changes, or leaves out, each event that the statements append. */
export function eachEvent(
  statements: readonly Statement[],
  change: (row: EventRow) => EventRow | null,
): Statement[] {
  return statements.map((statement) => {
    const [blob = null, rows] = statement.args;
    if (!statement.sql.startsWith("INSERT INTO events")) return statement;
    const changed = (JSON.parse(String(rows)) as EventRow[])
      .map(change).filter((row) => row !== null);
    return { ...statement, args: [blob, JSON.stringify(changed)] };
  });
}

/** The statements, with the order's id of each webhook in its column as sent. */
export function withIdsAsSent(statements: readonly Statement[]): Statement[] {
  return statements.flatMap((statement) => {
    const [blob] = statement.args;
    if (!(blob instanceof Uint8Array)) return [statement];
    return eachEvent([statement], (row) => {
      const [bodyAt = 1, bodyBytes = 0] = row.slice(10, 12).map(Number);
      const body = blob.subarray(bodyAt - 1, bodyAt - 1 + bodyBytes);
      const sent = /"order":\{"id":"([^"]+)"/.exec(utf8.decode(body))?.[1];
      return row[1] !== "webhook" || sent === undefined
        ? row
        : [...row.slice(0, 3), sent, ...row.slice(4)];
    });
  });
}

/** Links of the chain whose commitments are all zero. */
export function withoutCommitments(args: Statement["args"]): Statement["args"] {
  const [links, ...rest] = args;
  if (!(links instanceof Uint8Array)) return args;
  const cleared = Uint8Array.from(links);
  for (let at = 0; at < cleared.length; at += 64) {
    cleared.fill(0, at, at + 32);
  }
  return [cleared, ...rest];
}

/** The fold, its facts changed on the way in. */
export function fold(change: (fact: Fact) => Fact): FoldCode {
  return {
    version: FOLD_VERSION,
    readFact: (event) => change(readFact(event)),
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
    return JSON.stringify(JSON.parse(text));
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
        return order === null ? null : { ...order, trust: "confirmed" };
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
    if (!statements.some(({ sql }) => sql.includes("SET generation"))) {
      return await next.batch(statements, mode);
    }
    await clock.sleep(20_000);
    const unguarded = statements.filter((one) => !expectsCheckpoint(one));
    await next.batch(unguarded, mode);
    return statements.map(() => nothing);
  });
}

/** A driver by which every process takes the states for those of its fold. */
export function ofOneFold(next: Driver): Driver {
  return wrap(next, async (statements, mode) => {
    const results = await next.batch(
      statements.map((statement) =>
        expectsCheckpoint(statement)
          ? {
            ...statement,
            sql: statement.sql.replace("AND fold_version = ?3", ""),
          }
          : statement
      ),
      mode,
    );
    return results.map((result) => {
      const at = result.columns.indexOf("fold_version");
      return at === -1 ? result : {
        ...result,
        rows: result.rows.map((row) => row.with(at, FOLD_VERSION)),
      };
    });
  });
}

/** A driver by which every webhook makes a read equally urgent. */
export function withUrgency(next: Driver, urgency: 0 | 2): Driver {
  return wrap(next, (statements, mode) =>
    next.batch(
      statements.map((statement) => {
        const { sql, args } = statement;
        if (!/^INSERT INTO requests.*\n.*claimed_by/.test(sql)) {
          return statement;
        }
        const rows = JSON.parse(String(args[0])) as unknown[][];
        const all = rows.map((row) => row.with(4, urgency).with(5, urgency));
        return { ...statement, args: [JSON.stringify(all), ...args.slice(1)] };
      }),
      mode,
    ));
}

/** A driver by which known ids wait until no unknown one does. */
export function unknownFirst(next: Driver): Driver {
  return wrap(next, async (statements, mode) => {
    const results = await next.batch(statements, mode);
    const waits = results.some(({ rows }, at) =>
      rows.length > 0 && /known = 0 AND ready = 1/.test(sqlAt(at))
    );
    return results.map((result, at) =>
      waits && /q\.known = 1/.test(sqlAt(at)) ? nothing : result
    );
    function sqlAt(at: number): string {
      return statements[at]?.sql ?? "";
    }
  });
}
