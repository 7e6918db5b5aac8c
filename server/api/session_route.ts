import {
  REFERENCE,
  TERM_PARAMS,
  VALID_FOR,
} from "../../resources/operations/expectation_operations.ts";
import type { SessionRequestJson } from "../../resources/operations/sessions.ts";
import type { Param } from "../../settings/params.ts";
import type { BodyFields } from "./body.ts";
import { named, type Route, route } from "./route.ts";

function field({ schema, description }: Param<unknown>): BodyFields[string] {
  return { schema: { ...schema, description } };
}

const TERM_FIELDS = Object.fromEntries(
  Object.entries(TERM_PARAMS).map(([name, param]) => [name, field(param)]),
) as Record<keyof typeof TERM_PARAMS, BodyFields[string]>;

/** What a session is asked for with. */
const SESSION = {
  flowType: {
    schema: {
      enum: ["simple", "simple_full_restrict"],
      description: "What the user may change; simple unless said",
    },
  },
  ...TERM_FIELDS,
  smartContract: {
    schema: {
      type: "boolean",
      description: "simple_full_restrict then needs no wallet and no amount",
    },
  },
  clickId: {
    schema: {
      ...{ type: "string", minLength: 1, maxLength: 256 },
      description: "Click id for the widget; one is made where it is left out",
    },
  },
  reference: field(REFERENCE),
  expected: {
    schema: {
      type: "object",
      additionalProperties: false,
      properties: Object.fromEntries(
        Object.entries(TERM_FIELDS).map(([name, { schema }]) => [name, schema]),
      ),
      description: "What the order is compared with where the session does " +
        "not say it; it counts in place of the session's own fields",
    },
  },
  validForMs: field(VALID_FOR),
} as const satisfies Record<keyof SessionRequestJson, BodyFields[string]>;

/** What back ends in other languages ask for before the widget opens. */
export const SESSION_ROUTE: Route = route({
  method: "POST",
  path: "/v1/sessions",
  operationId: "createSession",
  summary: "Ask the service for a widget session, and record it",
  description: "Ask when the user clicks: a session opens one widget, " +
    "within 30 seconds. Open the widget with `clickId` of the answer.",
  scope: "operate",
  params: {},
  body: SESSION,
  answer: {
    description: "The session",
    schema: named("Session"),
  },
  problems: ["conflict", "service_failed"],
  handle: ({ operations }, { caller, body }) =>
    operations.createSession(caller, body as SessionRequestJson),
});
