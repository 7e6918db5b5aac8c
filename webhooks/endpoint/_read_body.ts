import { free } from "../../core/bytes.ts";
import type { Deadlines } from "./deadlines.ts";
import type { NoRoom } from "./body_room.ts";
import type { RefusalReason } from "./refusal.ts";

/** Why the body could not be read. */
export type NoBody = Extract<
  RefusalReason,
  "too_large" | "late" | "broken" | "read_before" | "overload" | NoRoom
>;

/** The limits of one body. */
export interface BodyBounds {
  readonly maxBytes: number;
  /** When the body must be there, by the clock of `deadlines`. */
  readonly dueAt: number;
  readonly deadlines: Deadlines;
  /** Reserves memory for this many more bytes, or says why there is no room. */
  readonly hold: (bytes: number) => NoBody | null;
}

/**
 * Longest stated length for which memory is reserved at once. For a longer
 * body, or one of unstated length, it is reserved as the bytes arrive: a sender
 * who states much and sends little must not use up the memory.
 */
export const TRUSTED_BYTES = 16 * 1024;

/** The length that a request states for its body; null without one. */
export function statedBytes(request: Request): number | null {
  const stated = request.headers.get("content-length");
  return stated === null ? null : Number(stated);
}

/** Reads a body chunk by chunk, within the limits at every chunk. */
export async function readChunks(
  body: ReadableStream<Uint8Array>,
  { maxBytes, dueAt, deadlines, hold }: BodyBounds,
): Promise<Uint8Array | NoBody> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const giveUp = (why: NoBody): NoBody => {
    reader.cancel().catch(() => {});
    return why;
  };
  while (true) {
    const result = await deadlines.race(reader.read(), dueAt, null);
    if (result === null) return giveUp("late");
    if (result.done) break;
    bytes += result.value.byteLength;
    if (bytes > maxBytes) return giveUp("too_large");
    const why = hold(result.value.byteLength);
    if (why !== null) return giveUp(why);
    chunks.push(result.value);
  }
  const [first] = chunks;
  if (chunks.length === 1 && first !== undefined) return first;
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
    free(chunk);
  }
  return whole;
}
