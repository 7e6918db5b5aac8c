import { findOrder, ORDER_REF } from "../../resources/operations/find_order.ts";
import type { JsonSchema } from "../../resources/schemas/json_schema.ts";
import type { JobWindow } from "./background_job.ts";
import {
  endParam,
  needed,
  type Params,
  timeParam,
  type ValuesOf,
} from "../../settings/params.ts";
import { ApiProblem } from "./problem.ts";
import { named, type Route, route } from "./route.ts";

/** The window of a job. */
const WINDOW = {
  from: needed(timeParam("Start of the window")),
  to: endParam("End of the window; now by default"),
} as const satisfies Params;

/** What can be done while the service runs. */
export const OPERATE_ROUTES: readonly Route[] = [
  route({
    method: "POST",
    path: "/v1/poll",
    operationId: "pollNow",
    summary: "Ask the service at once",
    description:
      "The poller of this process reads what is new, what webhooks " +
      "named and every open order, without waiting for their time.",
    scope: "operate",
    params: {},
    answer: accepted(),
    problems: ["conflict"],
    handle: ({ operations }, { caller }) => {
      operations.pollNow(caller);
      return { accepted: true };
    },
  }),
  route({
    method: "POST",
    path: "/v1/orders/{ref}/read",
    operationId: "readOrder",
    summary: "Have one order read again",
    description:
      "Behind the answer, within seconds; `freshness.requestedAt` of " +
      "the order says when it was. One order is read every ten seconds at most.",
    scope: "operate",
    placeholders: { ref: ORDER_REF.description },
    params: {},
    answer: accepted(),
    problems: ["not_found", "several", "conflict"],
    handle: async ({ operations }, { path: { ref = "" }, caller }) => {
      const { order } = await findOrder(operations.context(), ref);
      await operations.readOrder(caller, order.orderId);
      return { accepted: true };
    },
  }),
  route({
    method: "POST",
    path: "/v1/recover",
    operationId: "recover",
    summary: "Read a window again, as after an outage",
    description: "At most 31 days, one at a time, behind the answer; " +
      "GET /v1/recover says how it goes.",
    scope: "operate",
    params: WINDOW,
    answer: {
      status: 202,
      description: "It has begun",
      schema: jobOf("RecoverReport", "recover"),
    },
    problems: ["conflict"],
    handle: ({ operations, now }, { query, caller }) =>
      operations.recover(caller, windowOf(query, now)),
  }),
  route({
    method: "GET",
    path: "/v1/recover",
    operationId: "getRecovery",
    summary: "The last recovery that this process was asked for",
    scope: "read",
    params: {},
    answer: {
      description: "How it goes, or how it ended",
      schema: jobOf("RecoverReport", "recover"),
    },
    problems: ["not_found"],
    handle: ({ operations }) =>
      operations.recovery.latest ??
        none("No window was read again since this process began"),
  }),
  route({
    method: "POST",
    path: "/v1/reconcile",
    operationId: "reconcile",
    summary: "Compare service and ledger over a window, and change nothing",
    description: "At most 31 days, one at a time, behind the answer; " +
      "GET /v1/reconcile has the report.",
    scope: "operate",
    params: WINDOW,
    answer: {
      status: 202,
      description: "It has begun",
      schema: jobOf("ReconcileReport", "reconcile"),
    },
    problems: ["conflict"],
    handle: ({ operations, now }, { query, caller }) =>
      operations.reconcile(caller, windowOf(query, now)),
  }),
  route({
    method: "GET",
    path: "/v1/reconcile",
    operationId: "getReconciliation",
    summary: "The last comparison that this process was asked for",
    description: "Reports are not stored: they end with the process.",
    scope: "read",
    params: {},
    answer: {
      description: "How it goes, or its report",
      schema: jobOf("ReconcileReport", "reconcile"),
    },
    problems: ["not_found"],
    handle: ({ operations }) =>
      operations.reconciliation.latest ??
        none("Nothing was compared since this process began"),
  }),
];

/** JSON Schema of a job, and of the report that it ends with. */
function jobOf(report: string, command: string): JsonSchema {
  const time = { type: "string", format: "date-time" };
  const properties = {
    id: { type: "integer", description: "Its number in this process, from 1" },
    state: { type: "string", enum: ["running", "ended", "failed"] },
    by: { type: "string", description: "Name of the token that asked for it" },
    from: time,
    to: time,
    startedAt: time,
    endedAt: { type: ["string", "null"], format: "date-time" },
    read: { type: "integer", description: "Orders and users read so far" },
    report: {
      anyOf: [named(report), { type: "null" }],
      description: `What \`${command} --json\` prints; null until it has ended`,
    },
    error: { type: ["string", "null"], description: "Why it failed" },
  };
  return { type: "object", required: Object.keys(properties), properties };
}

function windowOf(
  { from, to }: ValuesOf<typeof WINDOW>,
  now: () => number,
): JobWindow {
  const toMs = to === undefined ? now() : Date.parse(to);
  return { fromMs: Date.parse(from), toMs };
}

function none(detail: string): never {
  throw new ApiProblem("not_found", detail);
}

function accepted(): Route["answer"] {
  return {
    status: 202,
    description: "It is done behind the answer",
    schema: {
      type: "object",
      required: ["accepted"],
      properties: { accepted: { const: true } },
    },
  };
}
