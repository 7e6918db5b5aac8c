import { LedgerError } from "../../ledger/mod.ts";
import {
  asReading,
  believing,
  blind,
  eachEvent,
  firstOf,
  fold,
  isDocumented,
  isProjection,
  nothing,
  stale,
  swapping,
  throughFloats,
  walking,
  without,
  withoutCommitments,
  wrap,
} from "./broken_ports.ts";
import type { Ports } from "./ports.ts";

/** A rule broken on purpose, to see that the simulator notices. */
export interface Mutation {
  /** What is done wrong, in a few words. */
  readonly name: string;
  /** Seeds, from 1, within which it has to be noticed. */
  readonly within: number;
  /** The ports that do it. */
  readonly ports: Partial<Ports>;
  /** Whether it takes a database in a file. @default false */
  readonly onFile?: boolean;
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
    name: "let what arrived last win, webhook or reading",
    within: 10,
    ports: {
      fold: fold((fact) => {
        if (fact.kind === "webhook" && fact.claim !== null) {
          return asReading(fact);
        }
        if (fact.kind !== "order_snapshot") return fact;
        const changedAt = fact.recordedAt;
        return { ...fact, reading: { ...fact.reading, changedAt } };
      }),
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
    within: 80,
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
  {
    name: "recover from the first page, and call that proven",
    within: 40,
    ports: {
      recoverClient: (next) => walking(next, (pages) => firstOf(pages)),
    },
  },
  {
    name: "compare the first page, and call that everything",
    within: 40,
    ports: {
      reconcileClient: (next) => walking(next, (pages) => firstOf(pages)),
    },
  },
  {
    name: "compare claims as if they were confirmed",
    within: 40,
    ports: { reconcileLedger: believing },
  },
  {
    name: "take what is imported for news",
    within: 40,
    ports: {
      copyDriver: (next) =>
        without(next, (sql) => sql.startsWith("INSERT INTO imported")),
    },
  },
  {
    name: "forget the commitment of an erased body",
    within: 40,
    ports: {
      driver: (next) =>
        without(next, (sql) => sql.startsWith("INSERT INTO erasures")),
    },
  },
  {
    name: "copy the database's file and not the log beside it",
    within: 40,
    onFile: true,
    ports: {
      backup: (next, database) => async (path) => {
        await next(path);
        await Deno.copyFile(database ?? path, path);
      },
    },
  },
  {
    name: "swap refolded states in, however far the live ones are",
    within: 40,
    ports: { driver: swapping },
  },
];
