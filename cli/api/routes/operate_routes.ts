import { subscriptionList } from "../../queries/subscriptions.ts";
import { endParam, textParam, timeParam } from "../params.ts";
import { ApiProblem } from "../problem.ts";
import { type ApiParts, named, type Route, route } from "../route.ts";
import { orderOf, REFERENCE } from "./order_routes.ts";

const RECOVERY = {
  type: "object",
  required: [
    "id",
    "state",
    "by",
    "from",
    "to",
    "startedAt",
    "endedAt",
    "orders",
    "users",
    "report",
    "error",
  ],
  properties: {
    id: { type: "integer", description: "Number of the recovery, from 1" },
    state: { enum: ["running", "ended", "failed"] },
    by: { type: "string", description: "Name of the token that asked for it" },
    from: { type: "string", format: "date-time" },
    to: { type: "string", format: "date-time" },
    startedAt: { type: "string", format: "date-time" },
    endedAt: { type: ["string", "null"], format: "date-time" },
    orders: { type: "integer", description: "Orders read so far" },
    users: { type: "integer", description: "Users read so far" },
    report: {
      anyOf: [named("RecoverReport"), { type: "null" }],
      description: "What `recover --json` prints; null until it has ended",
    },
    error: { type: ["string", "null"], description: "Why it failed" },
  },
} as const;

const KEY = textParam("Key of the transition, as the dead letter has it");
const NAME = { name: "Name of the subscription" } as const;

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
    description: "Behind the answer, within seconds; `freshness.askedAt` of " +
      "the order says when it was. One order is read every ten seconds at most.",
    scope: "operate",
    placeholders: REFERENCE,
    params: {},
    answer: accepted(),
    problems: ["not_found", "several", "conflict"],
    handle: async (parts, { path, caller }) => {
      const { orderId } = await orderOf(parts, path.ref);
      await parts.operations.readOrder(caller, orderId);
      return { accepted: true };
    },
  }),
  route({
    method: "POST",
    path: "/v1/recovery",
    operationId: "recover",
    summary: "Read a window again, as after an outage",
    description: "At most 31 days, one at a time, behind the answer; " +
      "GET /v1/recovery says how it goes.",
    scope: "operate",
    params: {
      from: { ...timeParam("Start of the outage"), required: true },
      to: endParam("End of the outage, now where it is left out"),
    },
    answer: {
      status: 202,
      description: "It has begun",
      schema: RECOVERY,
    },
    problems: ["conflict"],
    handle: ({ operations, now }, { query: { from = "", to }, caller }) =>
      operations.recover(caller, {
        fromMs: Date.parse(from),
        toMs: to === undefined ? now() : Date.parse(to),
      }),
  }),
  route({
    method: "GET",
    path: "/v1/recovery",
    operationId: "getRecovery",
    summary: "The last recovery that this process was asked for",
    scope: "read",
    params: {},
    answer: { description: "How it goes, or how it ended", schema: RECOVERY },
    problems: ["not_found"],
    handle: ({ operations }) => {
      if (operations.recovery !== null) return operations.recovery;
      throw new ApiProblem(
        "not_found",
        "No window was read again since this process began",
      );
    },
  }),
  route({
    method: "POST",
    path: "/v1/subscriptions/{name}/retry",
    operationId: "retryDeadLetters",
    summary: "Deliver dead letters again",
    scope: "operate",
    placeholders: NAME,
    params: { key: KEY },
    answer: counted("retried", "How many will be tried again"),
    problems: ["not_found"],
    handle: async (parts, { path: { name = "" }, query: { key }, caller }) => {
      await requireSubscription(parts, name);
      return { retried: await parts.operations.retry(caller, name, key) };
    },
  }),
  route({
    method: "POST",
    path: "/v1/subscriptions/{name}/drop",
    operationId: "dropDeadLetter",
    summary: "Give up a dead letter",
    description: "What waits behind it is delivered then.",
    scope: "operate",
    placeholders: NAME,
    params: { key: { ...KEY, required: true } },
    answer: counted("dropped", "How many were given up"),
    problems: ["not_found"],
    handle: async (
      parts,
      { path: { name = "" }, query: { key = "" }, caller },
    ) => {
      await requireSubscription(parts, name);
      return { dropped: await parts.operations.drop(caller, name, key) };
    },
  }),
  route({
    method: "POST",
    path: "/v1/subscriptions/{name}/resume",
    operationId: "resumeTarget",
    summary: "Send again to a target that was switched off",
    scope: "operate",
    placeholders: NAME,
    params: {},
    answer: {
      description: "Whether it was switched off",
      schema: {
        type: "object",
        required: ["resumed"],
        properties: { resumed: { type: "boolean" } },
      },
    },
    problems: ["not_found"],
    handle: async (parts, { path: { name = "" }, caller }) => {
      await requireSubscription(parts, name);
      return { resumed: await parts.operations.resume(caller, name) };
    },
  }),
  route({
    method: "POST",
    path: "/v1/transitions/fire",
    operationId: "fireTransition",
    summary: "Tell subscriptions of a state that none was told of",
    description: "What a refold or an import made: see `subscriptions fire`.",
    scope: "operate",
    params: { key: { ...KEY, required: true } },
    answer: counted("fired", "How many are told now; 0 when they were before"),
    handle: async ({ operations }, { query: { key = "" }, caller }) => ({
      fired: await operations.fire(caller, key),
    }),
  }),
];

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

function counted(name: string, description: string): Route["answer"] {
  return {
    description,
    schema: {
      type: "object",
      required: [name],
      properties: { [name]: { type: "integer", minimum: 0 } },
    },
  };
}

async function requireSubscription(
  { ledger }: ApiParts,
  name: string,
): Promise<void> {
  const names = (await subscriptionList(ledger)).map(({ name }) => name);
  if (names.includes(name)) return;
  throw new ApiProblem(
    "not_found",
    `There is no subscription "${name}"; ` +
      (names.length === 0 ? "there is none yet" : `see ${names.join(", ")}`),
  );
}
