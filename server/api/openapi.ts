import {
  COMPONENTS,
  type JsonSchema,
  schemasUsedBy,
} from "../../resources/schemas/json_schema.ts";
import { bodySchema, type Route } from "./route.ts";
import { PROBLEM_TYPE, type ProblemCode, PROBLEMS } from "./problem.ts";

/** An OpenAPI document. */
export type OpenApi = Readonly<Record<string, unknown>>;

/** Problems that any route may answer with. */
const EVERYWHERE: readonly ProblemCode[] = [
  "bad_request",
  "method_not_allowed",
  "unknown_host",
  "other_site",
  "failed",
  "unavailable",
];

/** Problems of routes that need a token. */
const WITH_TOKEN: readonly ProblemCode[] = ["unauthorized", "forbidden"];

const PROBLEM: JsonSchema = {
  type: "object",
  description: "A problem document (RFC 9457)",
  required: ["type", "title", "status", "detail"],
  properties: {
    type: {
      type: "string",
      examples: Object.keys(PROBLEMS).map((code) =>
        `urn:rampkit:problem:${code}`
      ),
    },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string", description: "What went wrong, and what to do" },
    errors: {
      type: "array",
      description: "Every field of the body that is at fault",
      items: {
        type: "object",
        required: ["field", "message"],
        properties: {
          field: { type: "string" },
          message: { type: "string" },
        },
      },
    },
    orderIds: {
      type: "array",
      items: { type: "string" },
      description: "The orders that a reference leads to, where it is several",
    },
    foundBy: {
      type: "object",
      description: "How sure it is that they belong to the reference",
      properties: {
        trust: { enum: ["confirmed", "claimed"] },
        alsoClaimed: { type: "array", items: { type: "string" } },
      },
    },
  },
};

/** The OpenAPI 3.1 document of the routes. */
export function openApi(routes: readonly Route[], version: string): OpenApi {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    (paths[route.path] ??= {})[route.method.toLowerCase()] = operation(route);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Rampkit",
      version,
      description: "The state of every order, and the feed of what became " +
        "true. Amounts are decimal strings, times are UTC ISO 8601, what is " +
        "not known is null. Fields are only ever added.",
    },
    paths,
    components: {
      schemas: schemasUsedBy(paths, { ...COMPONENTS, Problem: PROBLEM }),
      securitySchemes: {
        token: {
          type: "http",
          scheme: "bearer",
          description: "A token of RAMPKIT_API_TOKENS; operate: allows all, " +
            "support: allows GET and to take notes, read: allows GET",
        },
      },
    },
  };
}

function operation(route: Route): Record<string, unknown> {
  const { answer } = route;
  return {
    operationId: route.operationId,
    summary: route.summary,
    ...(route.description === undefined
      ? {}
      : { description: route.description }),
    security: route.scope === null ? [] : [{ token: [] }],
    parameters: parameters(route),
    ...(route.body === undefined ? {} : {
      requestBody: {
        required: true,
        content: { "application/json": { schema: bodySchema(route.body) } },
      },
    }),
    responses: {
      [answer.status ?? 200]: {
        description: answer.description,
        content: {
          ...(answer.schema === null
            ? {}
            : { "application/json": { schema: answer.schema } }),
          ...Object.fromEntries(
            Object.entries(answer.also ?? {}).map(([type, description]) => [
              type,
              { schema: { type: "string", description } },
            ]),
          ),
        },
      },
      ...problemResponses(route),
    },
  };
}

function parameters(route: Route): unknown[] {
  const placeholders = Object.entries(route.placeholders ?? {}).map((
    [name, description],
  ) => ({
    name,
    in: "path",
    required: true,
    description,
    schema: { type: "string" },
  }));
  const query = Object.entries(route.params).map(([name, param]) => ({
    name,
    in: "query",
    required: param.required ?? false,
    description: param.description,
    schema: param.schema,
  }));
  return [...placeholders, ...query];
}

function problemResponses(route: Route): Record<string, unknown> {
  const codes = [
    ...EVERYWHERE,
    ...(route.scope === null ? [] : WITH_TOKEN),
    ...(route.method === "POST" && route.body === undefined
      ? ["body_not_taken" as const]
      : []),
    ...(route.problems ?? []),
  ];
  const byStatus = Map.groupBy(codes, (code) => PROBLEMS[code][0]);
  return Object.fromEntries(
    [...byStatus].map(([status, some]) => [
      String(status),
      {
        description: some.map((code) => PROBLEMS[code][1]).join("; "),
        content: {
          [PROBLEM_TYPE]: { schema: { $ref: "#/components/schemas/Problem" } },
        },
      },
    ]),
  );
}
