import type { Deadlines } from "./_deadlines.ts";

/** Why there is no body. */
export type NoBody = "too_large" | "late" | "broken";

/** What bounds the reading of a body. */
export interface BodyBounds {
  readonly maxBytes: number;
  /** When the body must be there, by the clock of `deadlines`. */
  readonly dueAt: number;
  readonly deadlines: Deadlines;
}

/**
 * Reads the body of a request, or says why it cannot be had. A body that
 * states its length is refused before it is read; any other is counted while
 * it comes in.
 */
export function readBody(
  request: Request,
  bounds: BodyBounds,
): Promise<Uint8Array | NoBody> {
  const stated = request.headers.get("content-length");
  if (stated !== null) {
    if (Number(stated) > bounds.maxBytes) return Promise.resolve("too_large");
    return readWhole(request, bounds);
  }
  return request.body === null
    ? Promise.resolve(new Uint8Array(0))
    : readCounting(request.body.getReader(), bounds);
}

async function readWhole(
  request: Request,
  { maxBytes, dueAt, deadlines }: BodyBounds,
): Promise<Uint8Array | NoBody> {
  try {
    const whole = await deadlines.race(request.arrayBuffer(), dueAt, null);
    if (whole === null) return "late";
    return whole.byteLength > maxBytes ? "too_large" : new Uint8Array(whole);
  } catch {
    return "broken";
  }
}

async function readCounting(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { maxBytes, dueAt, deadlines }: BodyBounds,
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
