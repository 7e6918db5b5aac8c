import {
  blind,
  eachEvent,
  firstOf,
  hundredfold,
  stale,
  throughFloats,
  unknownFirst,
  walking,
  withUrgency,
  wrap,
} from "../world/broken_ports.ts";
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
    ports: { sweeps: ["confirm", "new", "open"] },
  },
  {
    name: "promise what takes a hundred times the rate",
    within: 20,
    ports: {
      driver: (next) =>
        wrap(
          next,
          (statements, mode) => next.batch(statements.map(hundredfold), mode),
        ),
    },
  },
  {
    name: "wait for the next look although a webhook was folded",
    within: 12,
    ports: {
      pollLedger: (next) => ({
        driver: next.driver,
        project: (options) => next.project(options),
      }),
    },
  },
  {
    name: "let an order rest whatever is claimed of it",
    within: 12,
    ports: { driver: (next) => withUrgency(next, 0) },
  },
  {
    name: "ask at once each time that a status is claimed",
    within: 12,
    ports: { driver: (next) => withUrgency(next, 2) },
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
      driver: (next) => blind(next, "AS effective_read_at"),
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
