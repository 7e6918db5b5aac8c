import type { Deadlines } from "./deadlines.ts";
import type { RefusalReason } from "../admission/refusal.ts";

/** Why the body could not be read. */
export type NoBody = Extract<
  RefusalReason,
  "too_large" | "late" | "broken" | "overload"
>;

/** The limits of one body. */
export interface BodyBounds {
  readonly maxBytes: number;
  /** When the body must be there, by the clock of `deadlines`. */
  readonly dueAt: number;
  readonly deadlines: Deadlines;
  /** Reserves memory for so many more bytes; false when there is none left. */
  readonly hold: (bytes: number) => boolean;
}

/**
 * Longest stated length for which memory is reserved at once. For a longer
 * body, or one of unstated length, it is reserved as the bytes arrive: a sender
 * who states much and sends little must not use up the memory.
 */
const TRUSTED_BYTES = 16 * 1024;

/**
 * Reads the body of a request, or says why it cannot be read. A stated length
 * over the limit is refused before anything is read.
 */
export async function readBody(
  request: Request,
  bounds: BodyBounds,
): Promise<Uint8Array | NoBody> {
  const { maxBytes, dueAt, deadlines, hold } = bounds;
  const stated = request.headers.get("content-length");
  const statedBytes = stated === null ? null : Number(stated);
  if (statedBytes !== null && statedBytes > maxBytes) return "too_large";
  if (statedBytes === null || statedBytes > TRUSTED_BYTES) {
    if (request.body === null) return new Uint8Array(0);
    return await readCounting(request.body.getReader(), bounds);
  }
  if (!hold(statedBytes)) return "overload";
  try {
    const whole = await deadlines.race(request.arrayBuffer(), dueAt, null);
    if (whole === null) return "late";
    return whole.byteLength > maxBytes ? "too_large" : new Uint8Array(whole);
  } catch {
    return "broken";
  }
}

/** Reads a body chunk by chunk, within the limits at every chunk. */
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
