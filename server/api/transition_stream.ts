import type {
  FeedEntry,
  TransitionsJson,
} from "../../resources/queries/transitions.ts";
import type { TransitionFeed } from "./transition_feed.ts";

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
export interface TransitionStreamOptions {
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
