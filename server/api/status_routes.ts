import {
  chainStateJson,
  statistics,
} from "../../resources/queries/statistics.ts";
import { STATISTICS_STEPS } from "../../ledger/for_resources.ts";
import { serviceStatus } from "../../resources/queries/service_status.ts";
import { closedMonth } from "../../resources/queries/months.ts";
import { endParam, timeParam, wordParam } from "../../settings/params.ts";
import { ApiProblem } from "./problem.ts";
import { named, type Route, route } from "./route.ts";

/** How the service is, what the ledger holds, and what is proven. */
export const STATUS_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/v1/health",
    operationId: "getHealth",
    summary: "Whether the ledger can be read; for load balancers",
    scope: null,
    params: {},
    answer: {
      description: "It can",
      schema: {
        type: "object",
        required: ["ok"],
        properties: { ok: { const: true } },
      },
    },
    handle: async ({ feed }) => {
      await feed.last();
      return { ok: true };
    },
  }),
  route({
    method: "GET",
    path: "/v1/status",
    operationId: "getStatus",
    summary: "How webhook delivery, polling and all else are",
    description: "What `doctor` finds, and the figures behind it. `ok` is " +
      "false when a check fails; its `code` stands in RUNBOOK.md.",
    scope: "read",
    params: {},
    answer: {
      description: "Delivery, polling and checks",
      schema: named("ServiceStatus"),
    },
    handle: ({ ledger, now, look }) => serviceStatus(ledger, now(), look),
  }),
  route({
    method: "GET",
    path: "/v1/stats",
    operationId: "getStatistics",
    summary: "Figures over time, for plots",
    description: "Answers, types, times of answers and orders that moved, by " +
      "step in UTC; kept for 90 days.",
    scope: "read",
    params: {
      from: timeParam("Start, a day before the end where it is left out"),
      to: endParam("End, now where it is left out"),
      step: wordParam(
        "How much time each figure is of; hour where left out",
        STATISTICS_STEPS,
      ),
    },
    answer: {
      description: "Figures from `from` to `to`",
      schema: named("Statistics"),
    },
    handle: ({ ledger, now }, { query }) => statistics(ledger, query, now()),
  }),
  route({
    method: "GET",
    path: "/v1/evidence",
    operationId: "getEvidence",
    summary: "Head of the evidence chain: keep it elsewhere",
    description: "`ledger verify --expect EVENTS:HASH` compares with it.",
    scope: "read",
    params: {},
    answer: {
      description: "How far the chain reaches",
      schema: named("ChainState"),
    },
    handle: async ({ ledger }) => chainStateJson(await ledger.evidence()),
  }),
  route({
    method: "GET",
    path: "/v1/months/{month}",
    operationId: "getMonth",
    summary: "One closed month",
    scope: "read",
    placeholders: { month: "For example 2026-11" },
    params: {},
    answer: {
      description: "What `month show --json` prints",
      schema: named("MonthDetail"),
    },
    problems: ["not_found"],
    handle: async ({ ledger }, { path: { month = "" } }) => {
      const closed = await closedMonth(ledger, month);
      if (closed !== null) return closed;
      throw new ApiProblem("not_found", `${month} is not closed`);
    },
  }),
];
