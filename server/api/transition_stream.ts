import {
  type FeedEntry,
  type TransitionParams,
  transitionsAfter,
} from "../../resources/queries/transitions.ts";
import type { ApiParts } from "./route.ts";

/** Interval of a line that shows that the connection lives, ms. */
const HEARTBEAT_MS = 15_000;

/** Transitions that are written at once. */
const AT_ONCE = 100;

/** What a stream of transitions sends, and how long. */
export interface TransitionStreamOptions {
  /** Which transitions, and after which it begins. */
  readonly params: TransitionParams & { readonly after: number };
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
  { ledger, feed }: Pick<ApiParts, "ledger" | "feed">,
  options: TransitionStreamOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { params, onEnd, heartbeatMs = HEARTBEAT_MS } = options;
  const gone = new AbortController();
  const signal = AbortSignal.any([options.signal, gone.signal]);
  const encoder = new TextEncoder();
  let { after } = params;
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
      const read = await transitionsAfter(ledger, {
        ...params,
        after,
        limit: AT_ONCE,
      });
      const advanced = read.next > after;
      after = read.next;
      if (read.items.length > 0) return read.items.map(eventOf).join("");
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
