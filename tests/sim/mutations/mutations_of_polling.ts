import { createHash } from "node:crypto";
import { broke } from "../world/broke.ts";
import {
  altering,
  askedLater,
  eachEvent,
  finding,
  firstOf,
  stale,
  throughFloats,
  unknownFirst,
  walking,
  withUrgency,
  wrap,
} from "../world/broken_ports.ts";
import type { Driver } from "../../../ledger/for_sync.ts";
import type { Mutation } from "./mutation.ts";

/** What is asked of the service, and what its answers mean. */
export const POLLING_MUTATIONS: readonly Mutation[] = [
  {
    name: "ignore the cursor",
    within: 40,
    ports: {
      pollClient: (next) => walking(next, (pages) => firstOf(pages)),
    },
  },
  {
    name: "ignore a reading of the same status",
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
    ports: {
      get sweeps() {
        broke();
        return ["confirm", "new", "open"] as const;
      },
    },
  },
  {
    name: "say that an answer is younger than it is",
    within: 20,
    ports: {
      driver: altering(askedLater),
    },
  },
  {
    name: "wait for the next look although a webhook was folded",
    within: 12,
    ports: {
      pollLedger: (next) => {
        broke();
        return {
          driver: next.driver,
          project: (options) => next.project(options),
        };
      },
    },
  },
  {
    name: "let an order rest whatever is claimed of it",
    within: 12,
    ports: { driver: withUrgency(0) },
  },
  {
    name: "ask at once each time that a status is claimed",
    within: 12,
    ports: { driver: withUrgency(2) },
  },
  {
    name: "ask first for what the service has never shown",
    within: 12,
    ports: { driver: unknownFirst },
  },
  {
    name: "never contradict a claim",
    within: 40,
    ports: {
      driver: eachEvent((row) => row[1] === "order_contradicted" ? null : row),
    },
  },
  {
    name: "let a claim of a user stand although the service was asked",
    within: 40,
    ports: {
      driver: (next) =>
        reading(next, (fold) => ({
          ...fold,
          ...fold.lkyc ? { lkyc: [] } : {},
          ...fold.fkyc ? { fkyc: [] } : {},
        })),
    },
  },
  {
    name: "trust that the service's clock is never set back",
    within: 80,
    ports: {
      driver: (next) =>
        reading(next, ({ latest: _, ...fold }) => {
          for (const name of READINGS) delete fold[name];
          return fold;
        }),
    },
  },
  {
    name: "name a reading without its time, so that A, B, A is two",
    within: 10,
    ports: {
      driver: eachEvent((row, body) => {
        if (!String(row[1]).endsWith("_snapshot")) return row;
        const digest = createHash("sha256").update(body).digest("hex");
        const { order_id, user_id } = JSON.parse(body);
        const id = row[1] === "order_snapshot" ? order_id : user_id;
        return [`${row[1]} ${id} ${digest}`, ...row.slice(1)];
      }),
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
        const changed = text.replaceAll('"refund_pending"', '"pending"');
        if (changed !== text) broke();
        return new Response(changed, response);
      },
    },
  },
];

/** Where the document of an order or user holds what was read. */
const READINGS = ["plausible", "ahead", "statusless", "redacted"];

/** A driver by which the poller sees what is folded in another way. */
function reading(
  next: Driver,
  change: (fold: Record<string, unknown>) => Record<string, unknown>,
): Driver {
  return wrap(next, async (statements, mode) => {
    const isPolls = statements[0]?.sql.includes("name = 'observations'");
    if (!isPolls) return await next.batch(statements, mode);
    return await finding(
      next,
      /^SELECT r\.no, /,
      (rows) =>
        rows.map((row) => {
          const fold = JSON.parse(String(row[4]));
          return row.with(4, JSON.stringify(change(fold)));
        }),
    ).batch(statements, mode);
  });
}
