/** Less than this is left to the garbage collector. */
const WORTH_BYTES = 16 * 1024;

/**
 * Frees the memory of bytes that are not read again. The garbage collector
 * waits until very many bytes outside of its heap are garbage: with bodies of a
 * megabyte that is most of the memory of a process.
 */
export function free({ buffer, byteLength }: Uint8Array): void {
  if (byteLength < WORTH_BYTES || byteLength < buffer.byteLength) return;
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}

/** Pieces as one, which is the only piece itself where there is one. */
export function concatenated(
  pieces: readonly Uint8Array<ArrayBuffer>[],
): Uint8Array<ArrayBuffer> {
  const [first] = pieces;
  if (pieces.length === 1 && first !== undefined) return first;
  const whole = new Uint8Array(
    pieces.reduce((sum, { length }) => sum + length, 0),
  );
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

const utf8 = new TextEncoder();

/** How many bytes a value takes as JSON. */
export function jsonBytes(value: unknown): number {
  return utf8.encode(JSON.stringify(value)).length;
}

/** The most bytes of a character that JavaScript counts as one. */
const MOST_BYTES = 3;

/** Room that all calls share: none of them waits for anything. */
let room = new Uint8Array(4096);

/**
 * The beginning of a text that takes at most so many bytes in UTF-8. It ends
 * before a character that would not fit whole.
 */
export function utf8Prefix(text: string, mostBytes: number): string {
  if (text.length * MOST_BYTES <= mostBytes) return text;
  if (room.length < mostBytes) room = new Uint8Array(mostBytes);
  const { read } = utf8.encodeInto(text, room.subarray(0, mostBytes));
  return read < text.length ? text.slice(0, read) : text;
}

/** A body as text; null where it has more bytes, and the rest is not read. */
export async function textWithin(
  body: AsyncIterable<Uint8Array> | null,
  mostBytes: number,
  signal?: AbortSignal,
): Promise<string | null> {
  const decoder = new TextDecoder();
  let [text, size] = ["", 0];
  // Leaving the loop cancels the rest.
  for await (const piece of body ?? []) {
    signal?.throwIfAborted();
    size += piece.byteLength;
    if (size > mostBytes) return null;
    text += decoder.decode(piece, { stream: true });
  }
  signal?.throwIfAborted();
  return text + decoder.decode();
}
