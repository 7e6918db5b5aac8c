import { sleep } from "../../core/waiting/waiting.ts";
import type { Ledger } from "../../ledger/mod.ts";
import { readLastSeq } from "../../ledger/for_resources.ts";
import type {
  FeedEntry,
  TransitionsJson,
} from "../../resources/queries/deliveries.ts";
import { UsageError } from "../../core/settings/errors.ts";
import { ApiProblem } from "./problem.ts";

/** Interval between two looks for more, while somebody waits, ms. */
const LOOK_EVERY_MS = 250;

/** A waiting caller. */
interface Waiter {
  readonly after: number;
  readonly resolve: () => void;
}

/**
 * Signals when transitions are added, by whichever process. One query at a time
 * looks for all who wait; while nobody waits, none runs.
 */
export class TransitionFeed {
  readonly #ledger: Ledger;
  readonly #sleep: (ms: number) => Promise<void>;
  readonly #waiting = new Set<Waiter>();
  #looking: Promise<void> | null = null;

  /** @param wait Waits. @default {the runtime's timer} */
  constructor(ledger: Ledger, wait: (ms: number) => Promise<void> = sleep) {
    this.#ledger = ledger;
    this.#sleep = wait;
  }

  /** `seq` of the last transition; 0 before the first. */
  last(): Promise<number> {
    return readLastSeq(this.#ledger.driver);
  }

  /** Waits until there is a transition after this one. */
  async waitFor(
    after: number,
    ms: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (signal.aborted || ms <= 0) return false;
    const added = Promise.withResolvers<boolean>();
    const waiter = { after, resolve: () => added.resolve(true) };
    const giveUp = () => added.resolve(false);
    const timer = setTimeout(giveUp, ms);
    signal.addEventListener("abort", giveUp, { once: true });
    this.#waiting.add(waiter);
    this.#looking ??= this.#look();
    try {
      return await added.promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", giveUp);
      this.#waiting.delete(waiter);
    }
  }

  /** Resolves when no query is under way; afterwards nobody may wait. */
  async stop(): Promise<void> {
    await this.#looking;
  }

  async #look(): Promise<void> {
    while (this.#waiting.size > 0) {
      try {
        const last = await this.last();
        for (const waiter of this.#waiting) {
          if (waiter.after < last) waiter.resolve();
        }
      } catch {
        // A client that waits asks again in the end, and gets the error.
      }
      await this.#sleep(LOOK_EVERY_MS);
    }
    this.#looking = null;
  }
}

/** Interval of a line that shows that the connection lives, ms. */
const HEARTBEAT_MS = 15_000;

/** Transitions that are written at once. */
const AT_ONCE = 100;

/** What a stream of transitions is made from. */
export interface StreamSource {
  /** Tells when there is more. */
  readonly feed: TransitionFeed;
  /** Reads transitions from a place on. */
  readonly read: (
    place: { readonly after: number; readonly limit: number },
  ) => Promise<TransitionsJson>;
}

/** Where a stream of transitions begins, and how long it goes on. */
interface TransitionStreamOptions {
  /** Only transitions after this `seq`. */
  readonly after: number;
  /** Ends the stream, as when the server stops. */
  readonly signal: AbortSignal;
  /** Called once when the stream has ended. */
  readonly onEnd: () => void;
  /** @default {HEARTBEAT_MS} */
  readonly heartbeatMs?: number;
}

/**
 * Transitions as Server-Sent Events. The id of each is its `seq`, by which a
 * client goes on after a break. Nothing is read before the client has taken
 * what was sent, so that a slow one costs no memory.
 */
export function transitionStream(
  { feed, read }: StreamSource,
  options: TransitionStreamOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { onEnd, heartbeatMs = HEARTBEAT_MS } = options;
  const gone = new AbortController();
  const signal = AbortSignal.any([options.signal, gone.signal]);
  const encoder = new TextEncoder();
  let { after } = options;
  // Sent first, so that the client knows at once that it is connected.
  let opening = `retry: 1000\n: transitions after ${after}\n\n`;
  let ended = false;
  const end = () => {
    if (!ended) onEnd();
    ended = true;
  };
  const next = async (): Promise<string | null> => {
    if (opening !== "") {
      const text = opening;
      opening = "";
      return text;
    }
    while (!signal.aborted) {
      const found = await read({ after, limit: AT_ONCE });
      const advanced = found.next > after;
      after = found.next;
      if (found.items.length > 0) return found.items.map(eventOf).join("");
      // Much was passed over: there may be more.
      if (advanced) continue;
      if (!await feed.waitFor(after, heartbeatMs, signal) && !signal.aborted) {
        // The id says how far the log was looked through.
        return `id: ${after}\n: still here\n\n`;
      }
    }
    return null;
  };
  return new ReadableStream({
    pull: async (controller) => {
      try {
        const text = await next();
        if (text !== null) {
          return controller.enqueue(encoder.encode(text));
        }
        controller.close();
      } catch (error) {
        // The client connects again, and gets the error.
        controller.error(error);
      }
      end();
    },
    cancel: () => {
      gone.abort();
      end();
    },
  }, { highWaterMark: 0 });
}

/** One transition as an event. */
function eventOf(transition: FeedEntry): string {
  return `id: ${transition.seq}\nevent: transition\n` +
    `data: ${JSON.stringify(transition)}\n\n`;
}

/** Clients that may wait at the same time, with streams or without. */
const MOST_WAITING = 100;

/** What a client accepts that wants a stream. */
export const EVENT_STREAM = "text/event-stream";

/** What a feed is followed with. */
interface FeedParts {
  /** Tells when there is more. */
  readonly feed: TransitionFeed;
  /** Aborted when the server stops. */
  readonly signal: AbortSignal;
}

/** What a client asks of a feed. */
interface FeedRequest {
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
