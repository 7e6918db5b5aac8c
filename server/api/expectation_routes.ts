import type { JsonSchema } from "../../resources/schemas/json_schema.ts";
import type { OrderExpectation } from "../../ledger/mod.ts";
import type { BodyFields } from "./body.ts";
import type { SessionRequestJson } from "../../resources/operations/sessions.ts";
import {
  type Term,
  type TermName,
  TERMS,
} from "../../resources/operations/terms.ts";
import { named, type Route, route } from "./route.ts";

const text = (description: string): JsonSchema => ({
  type: "string",
  minLength: 1,
  maxLength: 256,
  description,
});
const amount = (description: string): JsonSchema => ({
  type: ["string", "integer"],
  description: `${description}, as a decimal in quotes`,
});

/** What an order is compared with. */
const TERM_FIELDS = Object.fromEntries(
  Object.entries<Term>(TERMS).map(([name, { means, isAmount }]) => [
    name,
    { schema: isAmount ? amount(means) : text(means) },
  ]),
) as Record<TermName, BodyFields[string]>;

const VALID_FOR = {
  schema: {
    type: "integer",
    minimum: 1,
    description:
      "How long it is valid, in milliseconds; seven days unless said",
  },
} as const;

const REFERENCE = {
  schema: text("Your own reference of the purchase; it names one purchase"),
} as const;

/** What an expectation says. */
const EXPECTATION = {
  clickId: {
    schema: text("Click id that the widget is opened with"),
    required: true,
  },
  reference: REFERENCE,
  ...TERM_FIELDS,
  validForMs: VALID_FOR,
  askedAt: {
    schema: {
      type: "string",
      format: "date-time",
      description: "When it was asked for, where that is not now",
    },
  },
} as const satisfies Record<keyof OrderExpectation, BodyFields[string]>;

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
    schema: text("Click id for the widget; one is made where it is left out"),
  },
  reference: REFERENCE,
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
  validForMs: VALID_FOR,
} as const satisfies Record<keyof SessionRequestJson, BodyFields[string]>;

/** What back ends in other languages record before the widget opens. */
export const EXPECTATION_ROUTES: readonly Route[] = [
  route({
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
  }),
  route({
    method: "POST",
    path: "/v1/expectations",
    operationId: "expectOrder",
    summary: "Record what an order is expected to be, without a session",
    description: "For sessions that another program makes, and for a basket " +
      "that has changed since. What was recorded last for a reference before " +
      "the order counts.",
    scope: "operate",
    params: {},
    body: EXPECTATION,
    answer: {
      description: "It is recorded",
      schema: named("Expectation"),
    },
    problems: ["conflict"],
    handle: ({ operations }, { caller, body }) =>
      operations.expect(caller, body as unknown as OrderExpectation),
  }),
];
