import { ENTITIES } from "../../ledger/for_sync.ts";
import { UsageError } from "../../settings/errors.ts";
import {
  type TransitionParams,
  transitionsAfter,
  type TransitionsJson,
} from "../../resources/queries/transitions.ts";
import {
  type Param,
  textParam,
  wholeParam,
  wordParam,
} from "../../settings/params.ts";
import { patternsParam } from "./params.ts";
import { ApiProblem } from "./problem.ts";
import { type ApiParts, named, type Route, route } from "./route.ts";
import { transitionStream } from "./transition_stream.ts";

/** The longest that an answer waits for a transition, seconds. */
const LONGEST_WAIT_S = 60;

/** Clients that may wait at the same time, with streams or without. */
const MOST_WAITING = 100;

const EVENT_STREAM = "text/event-stream";

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

/** How many wait now, by the parts that they use. */
const waitingNow = new WeakMap<ApiParts, { count: number }>();

/** The feed of transitions. */
export const TRANSITION_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/v1/transitions",
    operationId: "readTransitions",
    summary: "The feed of transitions, in the order of the log",
    description:
      "Each states the release of its order as of now beside what was " +
      "logged. Pass `next` as `after` of the next request; no transition is lost " +
      "between two. With `wait`, the answer waits until there is one. With " +
      "`Accept: text/event-stream` it is a stream of Server-Sent Events " +
      "instead: the id of each is its `seq`, and `Last-Event-ID` goes on " +
      "after it.",
    scope: "read",
    params: {
      after: AFTER,
      limit: wholeParam("At most this many", { min: 1, max: 1000, usual: 100 }),
      wait: wholeParam(
        "Where there is none yet, wait this many seconds for one",
        { min: 0, max: LONGEST_WAIT_S, usual: 0 },
      ),
      on: patternsParam(
        "Only those that match one of these patterns, by commas: " +
          "order.release.yes, order.*.failed, user.fkyc.confirmed.*",
      ),
      entity: wordParam("Only those of orders, or of users", ENTITIES),
      id: textParam("Only those of this order or user id"),
    },
    answer: {
      description: "The transitions after a place, and the next place",
      schema: {
        type: "object",
        required: ["items", "next"],
        properties: {
          items: { type: "array", items: named("FeedEntry") },
          next: {
            type: "integer",
            description: "`after` of the next request; the feed has no end",
          },
        },
      },
      also: {
        [EVENT_STREAM]: "Events named transition; data is one FeedEntry",
      },
    },
    problems: ["too_many_streams"],
    handle: async (parts, { query, headers, isHead }) => {
      const { wait = 0, after, ...params } = query;
      // A body that nobody reads would never end.
      const streams = !isHead &&
        (headers.get("accept") ?? "").includes(EVENT_STREAM);
      const from = (streams ? lastEventId(headers) : null) ?? after ?? 0;
      const place = {
        ...params,
        after: from === "latest" ? await parts.feed.last() : from,
      };
      if (streams) return stream(parts, place);
      const read = await transitionsAfter(parts.ledger, place);
      return read.items.length > 0 || wait === 0 || isHead
        ? read
        : waiting(parts, { ...place, after: read.next }, wait * 1000);
    },
  }),
];

/** Where a client says that its last stream ended. */
function lastEventId(headers: Headers): number | null {
  const text = headers.get("last-event-id");
  if (text === null || text === "") return null;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new UsageError(
    `Wrong Last-Event-ID: "${text}" is not the id of an event of this stream`,
  );
}

function stream(
  parts: ApiParts,
  params: TransitionParams & { readonly after: number },
): Response {
  const onEnd = takePlace(parts);
  const body = transitionStream(parts, { params, signal: parts.signal, onEnd });
  return new Response(body, {
    headers: { "content-type": EVENT_STREAM, "x-accel-buffering": "no" },
  });
}

/**
 * An answer whose body is written when there is a transition. A server reports
 * that a client is gone only once an answer has begun.
 */
function waiting(
  parts: ApiParts,
  params: TransitionParams & { readonly after: number },
  ms: number,
): Response {
  const onEnd = takePlace(parts);
  const gone = new AbortController();
  const signal = AbortSignal.any([parts.signal, gone.signal]);
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: async (controller) => {
      try {
        const found = await waitFor(parts, params, { ms, signal });
        if (gone.signal.aborted) return;
        const text = `${JSON.stringify(found)}\n`;
        controller.enqueue(new TextEncoder().encode(text));
        controller.close();
      } catch (error) {
        // The client asks again, and gets the error.
        controller.error(error);
      } finally {
        onEnd();
      }
    },
    cancel: () => {
      gone.abort();
      onEnd();
    },
  }, { highWaterMark: 0 });
  return new Response(body, {
    headers: { "content-type": "application/json" },
  });
}

/** Reads the feed, and waits for its next transition where there is none. */
async function waitFor(
  parts: ApiParts,
  params: TransitionParams & { readonly after: number },
  { ms, signal }: { readonly ms: number; readonly signal: AbortSignal },
): Promise<TransitionsJson> {
  const untilMs = performance.now() + ms;
  let read = await transitionsAfter(parts.ledger, params);
  let after = params.after;
  while (read.items.length === 0) {
    const isLookedThrough = read.next === after;
    after = read.next;
    const leftMs = untilMs - performance.now();
    if (
      isLookedThrough && !await parts.feed.waitFor(after, leftMs, signal)
    ) {
      break;
    }
    read = await transitionsAfter(parts.ledger, { ...params, after });
  }
  return read;
}

/**
 * Takes one of the places for waiting clients.
 *
 * @returns Gives it back.
 * @throws {ApiProblem} When all are taken.
 */
function takePlace(parts: ApiParts): () => void {
  const places = waitingNow.get(parts) ?? { count: 0 };
  waitingNow.set(parts, places);
  if (places.count >= MOST_WAITING) {
    throw new ApiProblem("too_many_streams", {
      detail: `${MOST_WAITING} clients wait already; try again later`,
      headers: { "retry-after": "30" },
    });
  }
  places.count++;
  let isTaken = true;
  return () => {
    if (isTaken) places.count--;
    isTaken = false;
  };
}
