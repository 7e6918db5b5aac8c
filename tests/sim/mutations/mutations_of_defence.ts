import { broke } from "../world/broke.ts";
import {
  eachRow,
  fold,
  replacing,
  walking,
  without,
} from "../world/broken_ports.ts";
import {
  allOrNothing,
  followingCursors,
  inseparable,
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
      fold: fold((fact) =>
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
      fold: fold((fact, { body }) => {
        if (fact.kind !== "webhook" || fact.orderId !== null) return fact;
        const text = new TextDecoder().decode(body ?? undefined);
        const sent = /"order":\{"id":"([^"]{200,})"/.exec(text)?.[1];
        return sent === undefined ? fact : { ...fact, orderId: sent };
      }),
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
      driver: (next) =>
        replacing(/AND (?:l\.)?shown = 1\b/g, "")(
          replacing(/SELECT hash, shown, no\b/g, "SELECT hash, 1 AS shown, no")(
            next,
          ),
        ),
    },
  },
  {
    name: "wait by a clock that can be set back",
    within: 40,
    ports: {
      steadyNow: (now) => () => {
        broke();
        return now();
      },
    },
  },
  {
    name: "believe every date that an answer bears",
    within: 80,
    ports: {
      fold: fold((fact, event) =>
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
      fold: fold((fact) => {
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
      fold: fold((fact) =>
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
      driver: replacing(
        /WHERE o\.id = m\.order_id AND e\.kind = 'webhook'/g,
        "WHERE e.kind = 'webhook'",
      ),
    },
  },
  {
    name: "miss each webhook that comes after the reading",
    within: 40,
    ports: {
      driver: replacing(
        /<= strftime\('%Y-%m-%dT%H:%M:%fZ', m\.seen_at,\s+'\+[\d.]+ seconds'\)/g,
        "<= m.seen_at",
      ),
    },
  },
  {
    name: "let large bodies fill the spool",
    within: 40,
    ports: {
      spool: (next) => {
        const noRoomFor = next.noRoomFor.bind(next);
        return Object.assign(next, {
          noRoomFor: (...asked: Parameters<typeof noRoomFor>) => {
            if (noRoomFor(...asked) !== null) broke();
            return null;
          },
        });
      },
    },
  },
  {
    name: "never read again what lately became final",
    within: 40,
    ports: {
      driver: eachRow((args, { at }) =>
        args[at("open")] === 0 && args[at("due_at")] !== null
          ? args.with(at("due_at"), null)
          : args
      ),
    },
  },
  {
    name: "fold without extending the chain",
    within: 5,
    ports: {
      driver: (next) =>
        without(next, (sql) => sql.startsWith("INSERT INTO seals")),
    },
  },
];
