import { messageOf } from "../../core/guards.ts";
import {
  matcher,
  type Pattern,
  readLastSeq,
} from "../../ledger/for_resources.ts";
import { ENTITIES } from "../../ledger/for_sync.ts";
import type { Transition } from "../../ledger/mod.ts";
import { UsageError } from "../../core/settings/errors.ts";
import {
  type Param,
  textParam,
  wholeParam,
  wordParam,
} from "../../core/settings/params.ts";
import { transitionsAfter } from "../queries/transitions.ts";
import { type Operation, operation } from "./operation.ts";

/** The longest that an answer waits for a transition, seconds. */
const LONGEST_WAIT_S = 60;

/** A place in the feed. */
const AFTER: Param<number | "latest"> = {
  description: "Only those after this `seq`; `latest` for only those to come",
  schema: {
    oneOf: [{ type: "integer", minimum: 0 }, { const: "latest" }],
    default: 0,
  },
  read: (name, text) => {
    if (text === "latest") return text;
    if (/^\d{1,15}$/.test(text)) return Number(text);
    throw new UsageError(
      `Wrong ${name}: "${text}" is neither the seq of a transition nor latest`,
    );
  },
};

/** Patterns of transitions, as subscriptions have them. */
const PATTERNS: Param<(transition: Transition) => boolean> = {
  description: "Only those that match one of these patterns, by commas: " +
    "order.release.yes, order.*.failed, user.fkyc.confirmed.*",
  schema: { type: "string", minLength: 1 },
  read: (name, text) => {
    try {
      return matcher(text.split(",").map((one) => one.trim()) as Pattern[]);
    } catch (error) {
      // What a program may pass beside patterns cannot be said here.
      const [what = ""] = messageOf(error).split("; a status");
      throw new UsageError(
        `Wrong ${name}: ${what.replace("Wrong pattern: ", "")}`,
      );
    }
  },
};

/** The feed of transitions; the API lets requests wait for more of it. */
export const TRANSITIONS: Operation = operation({
  command: null,
  onlyRequest: "A feed is for programs; `listen` shows people what happens.",
  path: "/v1/transitions",
  scope: "read",
  operationId: "readTransitions",
  summary: "The feed of transitions, in the order of the log",
  description:
    "Each states the release of its order as of now beside what was logged. " +
    "Pass `next` as `after` of the next request; no transition is lost " +
    "between two. With `wait`, the answer waits until there is one. With " +
    "`Accept: text/event-stream` it is a stream of Server-Sent Events " +
    "instead: the id of each is its `seq`, and `Last-Event-ID` goes on after " +
    "it.",
  params: {
    after: AFTER,
    limit: wholeParam("At most this many", { min: 1, max: 1000, usual: 100 }),
    wait: wholeParam(
      "Where there is none yet, wait this many seconds for one",
      { min: 0, max: LONGEST_WAIT_S, usual: 0 },
    ),
    on: PATTERNS,
    entity: wordParam("Only those of orders, or of users", ENTITIES),
    id: textParam("Only those of this order or user id"),
  },
  result: {
    schema: "FeedEntry",
    description: "The transitions after a place, and the next place",
    many: "feed",
  },
  run: async ({ ledger }, { after = 0, ...params }) =>
    await transitionsAfter(ledger, {
      ...params,
      after: after === "latest" ? await readLastSeq(ledger.driver) : after,
    }),
});

/** That the ledger can be read. */
export interface Readable {
  /** Always true: where it cannot be read, the answer is a problem. */
  readonly ok: true;
}

/** Whether the ledger can be read. */
export const HEALTH: Operation = operation({
  command: null,
  onlyRequest: "Load balancers ask it; `doctor` says much more to people.",
  path: "/v1/health",
  scope: null,
  operationId: "getHealth",
  summary: "Whether the ledger can be read; for load balancers",
  params: {},
  result: { schema: "Readable", description: "It can" },
  run: async ({ ledger }): Promise<Readable> => {
    await readLastSeq(ledger.driver);
    return { ok: true };
  },
});
