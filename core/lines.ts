import { concatenated } from "./bytes.ts";

/**
 * Splits a stream of bytes into lines, as bytes: an NDJSON body keeps exactly
 * the bytes it had. A line ends in LF or CRLF; the last one may end in neither.
 * Memory is bounded by the longest line.
 */
export async function* byteLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of chunks) {
    let from = 0;
    for (
      let at = chunk.indexOf(LF);
      at >= 0;
      at = chunk.indexOf(LF, from)
    ) {
      yield trimReturn(concatenated([...rest, chunk.slice(from, at)]));
      rest = [];
      from = at + 1;
    }
    if (from < chunk.length) rest.push(chunk.slice(from));
  }
  if (rest.length > 0) yield trimReturn(concatenated(rest));
}

/** The same as {@linkcode byteLines}, decoded from UTF-8. */
export async function* textLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const line of byteLines(chunks)) yield decoder.decode(line);
}

const LF = 10;
const CR = 13;

function trimReturn(line: Uint8Array): Uint8Array {
  return line.at(-1) === CR ? line.subarray(0, -1) : line;
}
