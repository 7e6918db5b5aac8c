import type { Deadlines } from "./_deadlines.ts";

/** Why there is no body. */
export type NoBody = "too_large" | "late" | "broken" | "overload";

/** What bounds the reading of a body. */
export interface BodyBounds {
  readonly maxBytes: number;
  /** When the body must be there, by the clock of `deadlines`. */
  readonly dueAt: number;
  readonly deadlines: Deadlines;
  /** Asks for room for so many bytes more; false when there is none. */
  readonly hold: (bytes: number) => boolean;
}

/**
 * Longest body to make room for on its word alone. Longer ones, and those that
 * do not state their length, are given room as they come in, so that senders
 * who announce much and send little do not use up what there is.
 */
const TRUSTED_BYTES = 16 * 1024;

/**
 * Reads the body of a request, or says why it cannot be had. A body that
 * states its length is refused before it is read; any other is counted while
 * it comes in.
 *
 * Tells `done` instead of returning a promise: this is where most of the time
 * of a request goes, and each promise in between costs more than the rest.
 *
 * @param statedBytes Length that the request states, or null.
 */
export function readBody(
  request: Request,
  statedBytes: number | null,
  bounds: BodyBounds,
  done: (body: Uint8Array | NoBody) => void,
): void {
  const { maxBytes, dueAt, deadlines, hold } = bounds;
  if (statedBytes !== null && statedBytes > maxBytes) return done("too_large");
  if (statedBytes === null || statedBytes > TRUSTED_BYTES) {
    if (request.body === null) return done(new Uint8Array(0));
    readCounting(request.body.getReader(), bounds).then(done);
    return;
  }
  if (!hold(statedBytes)) return done("overload");
  let waiting = true;
  const settle = (body: Uint8Array | NoBody): void => {
    if (!waiting) return;
    waiting = false;
    deadlines.remove(deadline);
    done(body);
  };
  const deadline = deadlines.add(dueAt, () => settle("late"));
  request.arrayBuffer().then(
    (whole) =>
      settle(
        whole.byteLength > maxBytes ? "too_large" : new Uint8Array(whole),
      ),
    () => settle("broken"),
  );
}

async function readCounting(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { maxBytes, dueAt, deadlines, hold }: BodyBounds,
): Promise<Uint8Array | NoBody> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const giveUp = (why: NoBody): NoBody => {
    reader.cancel().catch(() => {});
    return why;
  };
  try {
    while (true) {
      const result = await deadlines.race(reader.read(), dueAt, null);
      if (result === null) return giveUp("late");
      if (result.done) break;
      bytes += result.value.byteLength;
      if (bytes > maxBytes) return giveUp("too_large");
      if (!hold(result.value.byteLength)) return giveUp("overload");
      chunks.push(result.value);
    }
  } catch {
    return "broken";
  }
  const [first] = chunks;
  if (chunks.length === 1 && first !== undefined) return first;
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}
