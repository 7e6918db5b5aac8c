import { caseJson } from "../../resources/views/case_view.ts";
import { CHANGE_CASE } from "../../resources/operations/case_operation.ts";
import { readValues } from "../../resources/operations/operation.ts";
import type { BodyFields } from "./body.ts";
import { orderOf, REFERENCE } from "./order_routes.ts";
import { ApiProblem } from "./problem.ts";
import { named, type Route, route } from "./route.ts";

/** What a change of a case says: a note may name a person, so no address does. */
const CHANGE: BodyFields = Object.fromEntries(
  Object.entries(CHANGE_CASE.params)
    .filter(([name]) => name !== "order")
    .map(([name, { schema, description, required }]) => [name, {
      schema: { ...schema, description },
      // Whoever asks has a name.
      ...(required && name !== "by" ? { required } : {}),
    }]),
);

/** The case of an order: what people did about it. */
export const CASE_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/v1/orders/{ref}/case",
    operationId: "getCase",
    summary: "What people did about an order and noted of it",
    scope: "read",
    placeholders: REFERENCE,
    params: {},
    answer: {
      description: "What `case --json` prints",
      schema: named("Case"),
    },
    problems: ["not_found", "several"],
    handle: async (parts, { path }) => {
      const { order: { orderId } } = await orderOf(parts, path.ref);
      const found = await parts.ledger.cases.get(orderId);
      if (found === null) {
        throw new ApiProblem("not_found", `There is no order ${orderId}`);
      }
      return caseJson(found);
    },
  }),
  route({
    method: "POST",
    path: CHANGE_CASE.path,
    operationId: CHANGE_CASE.operationId,
    summary: CHANGE_CASE.summary,
    description: `${CHANGE_CASE.description} \`by\` is the name of the token ` +
      "where it is left out.",
    scope: CHANGE_CASE.scope,
    placeholders: REFERENCE,
    params: {},
    body: CHANGE,
    answer: {
      description: CHANGE_CASE.result.description,
      schema: named(CHANGE_CASE.result.schema),
    },
    problems: ["not_found", "several", "conflict"],
    handle: async (parts, { path, caller, body }) => {
      const { order: { orderId } } = await orderOf(parts, path.ref);
      const given = { by: caller.name, ...body, order: orderId };
      const values = readValues(CHANGE_CASE, (name) => textOf(given, name));
      if (values === null) {
        throw new ApiProblem("bad_request", "Say the change in the body");
      }
      return await parts.operations.operate(caller, CHANGE_CASE, values);
    },
  }),
];

function textOf(
  given: Readonly<Record<string, unknown>>,
  name: string,
): string | undefined {
  const value = given[name];
  if (value === undefined || typeof value === "string") return value;
  throw new ApiProblem("bad_request", `Wrong ${name}: it is no text`);
}
