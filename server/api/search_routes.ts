import { attentionPage } from "../../resources/queries/attention.ts";
import { findJson } from "../../resources/queries/find.ts";
import { ORDER_FILTERS } from "../../resources/queries/order_filters.ts";
import { textParam } from "../../settings/params.ts";
import { PAGE } from "./params.ts";
import { named, pageOf, type Route, route } from "./route.ts";

/** What waits for a person, and what a text leads to. */
export const SEARCH_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/v1/attention",
    operationId: "listAttention",
    summary: "Orders that wait for a person, the gravest first",
    scope: "read",
    params: {
      ...PAGE,
      kind: ORDER_FILTERS.attention,
    },
    answer: {
      description: "One page",
      schema: pageOf(named("AttentionItem")),
    },
    handle: ({ ledger, now }, { query }) => attentionPage(ledger, query, now()),
  }),
  route({
    method: "GET",
    path: "/v1/find",
    operationId: "find",
    summary: "Find orders and users by anything that names one",
    description: "Order id, external order id, reference, click id, session, " +
      "transaction, wallet address or user id, in any case; from four " +
      "characters on, the beginning of the first three will do.",
    scope: "read",
    params: { q: { ...textParam("What to look for"), required: true } },
    answer: {
      description: "At most a hundred, whole matches first",
      schema: {
        type: "object",
        required: ["items", "more", "recorded"],
        properties: {
          items: { type: "array", items: named("Found") },
          more: {
            type: "boolean",
            description: "Whether there are more than are listed",
          },
          recorded: {
            type: "array",
            description: "What you recorded under this very session, click " +
              "id or reference, also where no order has come of it; the " +
              "latest ten, latest first",
            items: {
              type: "object",
              required: [
                "sessionId",
                "clickId",
                "reference",
                "askedAt",
                "validUntil",
              ],
              properties: {
                sessionId: { type: ["string", "null"] },
                clickId: { type: ["string", "null"] },
                reference: { type: ["string", "null"] },
                askedAt: { type: "string", format: "date-time" },
                validUntil: { type: "string", format: "date-time" },
              },
            },
          },
        },
      },
    },
    handle: ({ ledger, now }, { query: { q = "" } }) =>
      findJson(ledger, q, now()),
  }),
];
