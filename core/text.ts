import { concatenated } from "./bytes.ts";

/**
 * Characters that a terminal obeys or hides instead of printing: controls (so
 * ANSI escapes too), line and paragraph separators, marks that turn round the
 * order of reading, invisible characters, and halves of a surrogate pair.
 */
const UNSAFE =
  // deno-lint-ignore no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\u{e0000}-\u{e007f}]/gu;

/** Text from outside, safe to print on one line: it can neither move the cursor
 * nor colour, nor turn round the order in which what stands beside it is read. */
export function printable(text: string): string {
  return text.replace(UNSAFE, "�");
}

/** The same for output of several lines: line breaks and tabs stay. */
export function printableLines(text: string): string {
  return text.replace(
    UNSAFE,
    (character, at: number) =>
      character === "\n" || character === "\t" ||
        (character === "\r" && text[at + 1] === "\n")
        ? character
        : "�",
  );
}

/** JSON with such characters escaped: who reads it gets the same value. */
export function printableJson(value: unknown, indent: number = 0): string {
  return JSON.stringify(value, null, indent).split("\n")
    .map((line) => line.replace(UNSAFE, escaped)).join("\n");
}

/** Escapes as JSON and shells read them: `\u001b`, and pairs as two. */
function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
}

/** Whether every character of a text is printed unchanged. */
export function isPrintable(text: string): boolean {
  return text.search(UNSAFE) === -1;
}

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

/**
 * The word that needs the fewest letters changed, added or removed to become
 * `text`; of several the first.
 */
export function closest(text: string, words: Iterable<string>): string {
  const start = text.slice(0, 100);
  let best = "";
  let fewest = Infinity;
  for (const word of words) {
    const changes = lettersBetween(start, word);
    if (changes < fewest) [best, fewest] = [word, changes];
  }
  return best;
}

/** How many letters to change, add or remove: the Levenshtein distance. */
function lettersBetween(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 0; i < a.length; i++) {
    const row = [i + 1];
    for (let j = 0; j < b.length; j++) {
      row.push(Math.min(
        (above[j] ?? 0) + (a[i] === b[j] ? 0 : 1),
        (above[j + 1] ?? 0) + 1,
        (row[j] ?? 0) + 1,
      ));
    }
    above = row;
  }
  return above[b.length] ?? 0;
}

/** No identifier holds it, so that it marks what would be read as a step. */
const MARK = "\0";

/**
 * Writes an identifier as one segment of a path. `.` and `..` are steps through
 * the path for every browser and proxy, percent-encoded or not, so a link of
 * such an id would lead elsewhere: they are written with `%00` before them.
 */
export function pathOfId(id: string): string {
  return encodeURIComponent(id === "." || id === ".." ? MARK + id : id);
}

/**
 * Reads the identifier of a segment that {@linkcode pathOfId} wrote, or anybody
 * by hand.
 */
export function idOfPath(segment: string): string {
  return segment.startsWith(MARK) ? segment.slice(MARK.length) : segment;
}
