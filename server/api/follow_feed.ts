import type { TransitionsJson } from "../../resources/queries/transitions.ts";
import { UsageError } from "../../core/settings/errors.ts";
import { ApiProblem } from "./problem.ts";
import type { TransitionFeed } from "./transition_feed.ts";
import { transitionStream } from "./transition_stream.ts";

/** Clients that may wait at the same time, with streams or without. */
const MOST_WAITING = 100;

/** What a client accepts that wants a stream. */
export const EVENT_STREAM = "text/event-stream";

/** What a feed is followed with. */
export interface FeedParts {
  /** Tells when there is more. */
  readonly feed: TransitionFeed;
  /** Aborted when the server stops. */
  readonly signal: AbortSignal;
}

/** What a client asks of a feed. */
export interface FeedRequest {
  /** Where it begins. @default {at the first} */
  readonly after?: number | "latest";
  /** Seconds to wait for the next. @default {none} */
  readonly wait?: number;
  /** The headers. */
  readonly headers: Headers;
  /** Whether only the headers of the answer are asked for. */
  readonly isHead: boolean;
}

/** Reads a feed from a place on. */
export type ReadFeed = (
  place: { readonly after: number | "latest"; readonly limit?: number },
) => Promise<TransitionsJson>;

/** How many wait now, by the feed that they wait for. */
const waitingNow = new WeakMap<TransitionFeed, { count: number }>();

/**
 * Answers with what there is of a feed after a place; waits for it, or goes on
 * as a stream, where the client asks for that.
 *
 * @throws {UsageError} When the place is wrong.
 * @throws {ApiProblem} When too many wait.
 */
export async function feedAnswer(
  parts: FeedParts,
  read: ReadFeed,
  { after = 0, wait = 0, headers, isHead }: FeedRequest,
): Promise<TransitionsJson | Response> {
  // A body that nobody reads would never end.
  const streams = !isHead &&
    (headers.get("accept") ?? "").includes(EVENT_STREAM);
  if (streams) {
    const from = lastEventId(headers) ?? after;
    return stream(
      parts,
      read,
      from === "latest" ? (await read({ after: from })).next : from,
    );
  }
  const found = await read({ after });
  return found.items.length > 0 || wait === 0 || isHead
    ? found
    : waiting(parts, read, { after: found.next, ms: wait * 1000 });
}

/** Where a client says that its last stream ended. */
function lastEventId(headers: Headers): number | null {
  const text = headers.get("last-event-id");
  if (text === null || text === "") return null;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new UsageError(
    `Wrong Last-Event-ID: "${text}" is not the id of an event of this stream`,
  );
}

function stream(parts: FeedParts, read: ReadFeed, after: number): Response {
  const { feed, signal } = parts;
  const onEnd = takePlace(feed);
  const body = transitionStream({ feed, read }, { after, signal, onEnd });
  return new Response(body, {
    headers: { "content-type": EVENT_STREAM, "x-accel-buffering": "no" },
  });
}

/**
 * An answer whose body is written when there is a transition. A server reports
 * that a client is gone only once an answer has begun.
 */
function waiting(
  { feed, signal: stopped }: FeedParts,
  read: ReadFeed,
  { after, ms }: { readonly after: number; readonly ms: number },
): Response {
  const onEnd = takePlace(feed);
  const gone = new AbortController();
  const signal = AbortSignal.any([stopped, gone.signal]);
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: async (controller) => {
      try {
        const found = await waitFor({ feed, signal }, read, { after, ms });
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
  { feed, signal }: FeedParts,
  read: ReadFeed,
  { after: first, ms }: { readonly after: number; readonly ms: number },
): Promise<TransitionsJson> {
  const untilMs = performance.now() + ms;
  let after = first;
  let found = await read({ after });
  while (found.items.length === 0) {
    const isLookedThrough = found.next === after;
    after = found.next;
    const leftMs = untilMs - performance.now();
    if (isLookedThrough && !await feed.waitFor(after, leftMs, signal)) break;
    found = await read({ after });
  }
  return found;
}

/**
 * Takes one of the places for waiting clients.
 *
 * @throws {ApiProblem} When all are taken.
 */
function takePlace(feed: TransitionFeed): () => void {
  const places = waitingNow.get(feed) ?? { count: 0 };
  waitingNow.set(feed, places);
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
