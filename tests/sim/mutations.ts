import type { Completeness, Page } from "../../client/mod.ts";
import {
  type Driver,
  type Fact,
  FOLD_VERSION,
  type FoldCode,
  LedgerError,
  type PollClient,
  type PollWalk,
  readFact,
  type ResultSet,
  type Statement,
  type WebhookFact,
} from "../../ledger/mod.ts";
import { isRecognised, parseWebhook } from "../../webhooks/mod.ts";
import type { Ports } from "./ports.ts";

/** A rule broken on purpose, to see that the simulator notices. */
export interface Mutation {
  /** What is done wrong, in a few words. */
  readonly name: string;
  /** Seeds, from 1, within which it has to be noticed. */
  readonly within: number;
  /** The ports that do it. */
  readonly ports: Partial<Ports>;
}

/** Every rule that is broken, one at a time. */
export const MUTATIONS: readonly Mutation[] = [
  {
    name: "answer before the commit",
    within: 10,
    ports: {
      append: (next) => (delivery) => {
        next(delivery).catch(() => {});
        return Promise.resolve();
      },
    },
  },
  {
    name: "take a busy database's silence for done",
    within: 20,
    ports: {
      driver: (next) =>
        wrap(next, async (statements, mode) => {
          try {
            return await next.batch(statements, mode);
          } catch (error) {
            const busy = error instanceof LedgerError && error.code === "busy";
            if (!busy || mode === "read") throw error;
            return statements.map(() => nothing);
          }
        }),
    },
  },
  {
    name: "give a delivery a new id when it is stored again",
    within: 20,
    ports: {
      driver: (next, { newId }) => {
        const tried = new Set<string>();
        return wrap(next, (statements, mode) =>
          next.batch(
            eachEvent(statements, (row) => {
              const id = String(row[0]);
              if (row[1] !== "webhook") return row;
              if (tried.has(id)) return [newId(), ...row.slice(1)];
              tried.add(id);
              return row;
            }),
            mode,
          ));
      },
    },
  },
  {
    name: "let the spool forget before the ledger has it",
    within: 40,
    ports: {
      spool: (next) => ({
        get depth() {
          return next.depth;
        },
        get bytes() {
          return next.bytes;
        },
        put: (delivery) => next.put(delivery),
        drain: (append, options) =>
          next.drain((delivery) => {
            append(delivery).catch(() => {});
            return Promise.resolve();
          }, options),
        close: () => next.close(),
      }),
    },
  },
  {
    name: "refuse what is not documented",
    within: 10,
    ports: {
      endpoint: (next) => async (request) => {
        const known = isDocumented(await request.clone().text());
        return known
          ? await next(request)
          : new Response(null, { status: 400 });
      },
    },
  },
  {
    name: "accept what is not documented, and drop it",
    within: 10,
    ports: {
      append: (next) => (delivery) =>
        isDocumented(new TextDecoder().decode(delivery.body))
          ? next(delivery)
          : Promise.resolve(),
    },
  },
  {
    name: "keep bodies as text",
    within: 60,
    ports: {
      append: (next) => (delivery) => {
        const text = new TextDecoder().decode(delivery.body);
        return next({ ...delivery, body: new TextEncoder().encode(text) });
      },
    },
  },
  {
    name: "move the checkpoint outside the batch",
    within: 20,
    ports: {
      driver: (next) =>
        wrap(next, async (statements, mode) => {
          const [guard, ...rest] = statements;
          if (!isProjection(guard) || rest.length === 0) {
            return await next.batch(statements, mode);
          }
          return [
            ...await next.batch([guard], mode),
            ...await next.batch(rest, mode),
          ];
        }),
    },
  },
  {
    name: "move the checkpoint whatever it was",
    within: 60,
    ports: {
      driver: (next) =>
        wrap(next, (statements, mode) =>
          next.batch(
            statements.map((statement) =>
              isProjection(statement)
                ? {
                  sql: "UPDATE projections SET position = ?2 WHERE name = ?1",
                  args: [
                    statement.args[0] ?? null,
                    statement.args[4] ?? null,
                  ],
                }
                : statement
            ),
            mode,
          )),
    },
  },
  {
    name: "log a transition each time",
    within: 20,
    ports: {
      driver: (next) =>
        wrap(next, (statements, mode) =>
          next.batch(
            statements.map(({ sql, args }) => ({
              sql: sql.replace(
                /,\s*UNIQUE \(entity, entity_id, trust, status\)/,
                "",
              ),
              args,
            })),
            mode,
          )),
    },
  },
  {
    name: "move a subscription before its receiver is done",
    within: 40,
    ports: {
      handler: (next, { clock }) => (transition, context) => {
        clock.setTimer(2000, () => {
          Promise.resolve(next(transition, context)).catch(() => {});
        });
      },
    },
  },
  {
    name: "tell a receiver twice",
    within: 10,
    ports: {
      handler: (next) => async (transition, context) => {
        await next(transition, context);
        await next(transition, context);
      },
    },
  },
  {
    name: "confirm what a webhook claims",
    within: 10,
    ports: {
      fold: fold((fact) =>
        fact.kind === "webhook" && fact.claim !== null && fact.orderId !== null
          ? asReading(fact)
          : fact
      ),
    },
  },
  {
    name: "let the highest status win, whatever its time",
    within: 40,
    ports: {
      fold: fold((fact) =>
        fact.kind === "order_snapshot"
          ? { ...fact, reading: { ...fact.reading, changedAt: "" } }
          : fact
      ),
    },
  },
  {
    name: "drop the time of reading that breaks a user's ties",
    within: 20,
    ports: {
      fold: fold((fact) =>
        fact.kind === "user_snapshot"
          ? { ...fact, reading: { ...fact.reading, readAt: "" } }
          : fact
      ),
    },
  },
  {
    name: "ignore the cursor",
    within: 40,
    ports: {
      pollClient: (next) => walking(next, (pages) => firstOf(pages)),
    },
  },
  {
    name: "take a reading of the same status for no news",
    within: 20,
    ports: {
      pollClient: (next) => {
        const seen = new Map<string, { status: unknown; source: string }>();
        return walking(next, (pages) => stale(pages, seen));
      },
    },
  },
  {
    name: "never go through the past again",
    within: 60,
    ports: { sweeps: ["confirm", "new", "open"] },
  },
  {
    name: "never contradict a claim",
    within: 40,
    ports: {
      driver: (next) =>
        wrap(next, (statements, mode) =>
          next.batch(
            eachEvent(
              statements,
              (row) => row[1] === "order_contradicted" ? null : row,
            ),
            mode,
          )),
    },
  },
  {
    name: "let a claim of a user stand although the service was asked",
    within: 40,
    ports: {
      driver: (next) => blind(next, '"needsConfirm":true'),
    },
  },
  {
    name: "trust that the service's clock is never set back",
    within: 200,
    ports: {
      driver: (next) => blind(next, "max(read_at"),
    },
  },
  {
    name: "name a reading without its time, so that A, B, A is two",
    within: 10,
    ports: {
      driver: (next) =>
        wrap(next, (statements, mode) =>
          next.batch(
            eachEvent(statements, (row) =>
              String(row[1]).endsWith("_snapshot")
                ? [`${row[1]} ${row[3] ?? row[4]} ${row[9]}`, ...row.slice(1)]
                : row),
            mode,
          )),
    },
  },
  {
    name: "leave bodies out of the evidence",
    within: 5,
    ports: {
      driver: (next) =>
        wrap(next, (statements, mode) =>
          next.batch(
            statements.map((statement) =>
              statement.sql.startsWith("INSERT INTO chain (")
                ? { ...statement, args: withoutCommitments(statement.args) }
                : statement
            ),
            mode,
          )),
    },
  },
  {
    name: "let amounts pass through floats",
    within: 20,
    ports: {
      fetch: (next) => async (input, init) => {
        const response = await next(input, init);
        const text = await response.text();
        return new Response(throughFloats(text), response);
      },
    },
  },
  {
    name: "take an unknown status for pending",
    within: 40,
    ports: {
      fetch: (next) => async (input, init) => {
        const response = await next(input, init);
        const text = await response.text();
        return new Response(
          text.replaceAll('"refund_pending"', '"pending"'),
          response,
        );
      },
    },
  },
];

const nothing: ResultSet = { columns: [], rows: [], rowsAffected: 0 };

/** What a strict integrator would take: documented events, and whole. */
function isDocumented(body: string): boolean {
  try {
    return isRecognised(parseWebhook(body));
  } catch {
    return false;
  }
}

/** A driver whose batches go another way. */
function wrap(next: Driver, batch: Driver["batch"]): Driver {
  return { location: next.location, batch, close: () => next.close() };
}

/** A driver that finds nothing where a read asks for something. */
function blind(next: Driver, asked: string): Driver {
  return wrap(next, async (statements, mode) => {
    const results = await next.batch(statements, mode);
    return results.map((result, at) =>
      statements[at]?.sql.includes(asked) ? nothing : result
    );
  });
}

function isProjection(
  statement: Statement | undefined,
): statement is Statement {
  return statement !== undefined && statement.args.length === 5 &&
    statement.sql.startsWith("INSERT INTO projections");
}

type EventRow = readonly (string | number | null)[];

/** Changes, or leaves out, each event that the statements append. */
function eachEvent(
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

function withoutCommitments(args: Statement["args"]): Statement["args"] {
  const [links, ...rest] = args;
  if (!(links instanceof Uint8Array)) return args;
  const cleared = Uint8Array.from(links);
  for (let at = 0; at < cleared.length; at += 64) {
    cleared.fill(0, at, at + 32);
  }
  return [cleared, ...rest];
}

function fold(change: (fact: Fact) => Fact): FoldCode {
  return {
    version: FOLD_VERSION,
    readFact: (event) => change(readFact(event)),
  };
}

/** What a webhook claims, as if the service had been asked. */
function asReading(fact: WebhookFact): Fact {
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
      digest,
      readAt: recordedAt,
      status: claim ?? "created",
      changedAt: recordedAt,
      createdAt: "",
      currency: body?.currency ?? null,
      currencyAmount: body?.currencyAmount ?? null,
      commodity: body?.commodity ?? null,
      cryptoType: null,
      network: null,
      cryptoAmount: body?.cryptoAmount ?? null,
      address: body?.address ?? null,
      txId: body?.txId ?? null,
      userId: body?.userId ?? null,
      clickId: null,
      externalOrderId: null,
      failReason: null,
      cardId: null,
      cardBrand: null,
      paymentType: null,
      processedThrough: null,
      partnerFee: null,
      partnerFeePercent: null,
      serviceFee: null,
      serviceFeePercent: null,
      scInputData: null,
    },
  };
}

/** A client whose walks over orders show other pages. */
function walking(
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

async function* firstOf<T>(
  pages: AsyncIterable<Page<T>>,
): AsyncGenerator<Page<T>> {
  for await (const page of pages) {
    yield page;
    return;
  }
}

async function* stale<T>(
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
    const { data, nextCursorId, total, readAt, requestId } = page;
    yield { data, sources, nextCursorId, total, readAt, requestId };
  }
}

function throughFloats(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}
