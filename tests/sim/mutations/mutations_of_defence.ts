import { placesOfIds } from "../../../ledger/testing/mod.ts";
import {
  altering,
  blind,
  walking,
  withIdsAsSent,
  wrap,
} from "../world/broken_ports.ts";
import {
  allOrNothing,
  foldOf,
  followingCursors,
  inseparable,
  saying,
  withClaimsAsReadings,
  withCursors,
} from "../world/hostile_ports.ts";
import type { Mutation } from "./mutation.ts";

/** What one row, id, header or sender must not do to all the others. */
export const DEFENCE_MUTATIONS: readonly Mutation[] = [
  {
    name: "give a page up for one odd row",
    within: 20,
    ports: { pollClient: allOrNothing },
  },
  {
    name: "leave out what is odd, and tell nobody",
    within: 20,
    ports: {
      fold: foldOf((fact) =>
        fact.kind === "order_snapshot" || fact.kind === "user_snapshot"
          ? { ...fact, reading: { ...fact.reading, odd: [] } } as typeof fact
          : fact
      ),
    },
  },
  {
    name: "take a window with a row without an id for proven",
    within: 40,
    ports: { recoverClient: (next) => walking(next, (pages) => pages) },
  },
  {
    name: "take an identifier of any length",
    within: 40,
    ports: {
      driver: (next) =>
        wrap(
          next,
          (statements, mode) => next.batch(withIdsAsSent(statements), mode),
        ),
    },
  },
  {
    name: "follow a cursor for ever",
    within: 40,
    ports: { pollClient: followingCursors },
  },
  {
    name: "stop where the service has no cursor",
    within: 40,
    ports: {
      pollClient: (next) => walking(next, (pages) => withCursors(pages)),
    },
  },
  {
    name: "refuse what was once asked for beside a refused id",
    within: 40,
    ports: { fetch: inseparable },
  },
  {
    name: "take what a webhook names for what the service has shown",
    within: 40,
    ports: {
      driver: altering((statement) => ({
        ...statement,
        sql: statement.sql.replaceAll(/AND confirmed = 1\b/g, ""),
      })),
    },
  },
  {
    name: "wait by a clock that can be set back",
    within: 40,
    ports: { steadyNow: (now) => now },
  },
  {
    name: "believe every date that an answer bears",
    within: 80,
    ports: {
      fold: foldOf((fact, event) =>
        fact.kind === "user_snapshot"
          ? {
            ...fact,
            reading: { ...fact.reading, readAt: event.readAt ?? "" },
          }
          : fact
      ),
    },
  },
  {
    name: "believe a change that is dated after its reading",
    within: 40,
    ports: {
      fold: foldOf((fact) => {
        if (fact.kind !== "order_snapshot") return fact;
        const { reading } = fact;
        const changedAt = reading.statedChangedAt ?? reading.changedAt;
        return {
          ...fact,
          reading: { ...reading, changedAt, statedChangedAt: null },
        };
      }),
    },
  },
  {
    name: "let a contesting claim withhold goods",
    within: 40,
    ports: { fold: withClaimsAsReadings() },
  },
  {
    name: "let a webhook choose the session of an order",
    within: 20,
    ports: {
      fold: foldOf((fact) =>
        fact.kind === "session_created"
          ? {
            ...fact,
            clickId: null,
            expectation: { ...fact.expectation, clickId: null },
          }
          : fact
      ),
    },
  },
  {
    name: "let a webhook about one order speak for another",
    within: 40,
    ports: {
      driver: (next) =>
        saying(
          next,
          "WHERE e.order_id = m.order_id AND e.kind = 'webhook'",
          "WHERE e.kind = 'webhook'",
        ),
    },
  },
  {
    name: "miss each webhook that comes after the reading",
    within: 40,
    ports: {
      driver: (next) =>
        saying(
          next,
          "e.recorded_at <= strftime('%Y-%m-%dT%H:%M:%fZ', m.seen_at, ?1)",
          "e.recorded_at <= m.seen_at",
        ),
    },
  },
  {
    name: "let large bodies fill the spool",
    within: 40,
    ports: {
      spool: (next) => Object.assign(next, { noRoomFor: () => null }),
    },
  },
  {
    name: "never read again what lately became final",
    within: 40,
    ports: {
      driver: (next) =>
        wrap(next, (statements, mode) =>
          next.batch(
            statements.map((statement) =>
              statement.sql.startsWith("INSERT INTO requests") &&
                statement.sql.includes("due_at, final_at)")
                ? {
                  ...statement,
                  sql: `DELETE FROM requests WHERE seq IN (${
                    placesOfIds("order", "queue = 1", { id: "w.value ->> 0" })
                  })`,
                }
                : statement
            ),
            mode,
          )),
    },
  },
  {
    name: "fold without extending the chain",
    within: 5,
    ports: {
      driver: (next) =>
        blind(
          next,
          "coalesce((SELECT position FROM chain_checkpoint), 0)",
        ),
    },
  },
];
