/**
 * Cuts the exact text of each element of the top-level `data` array out of an
 * answer.
 *
 * @param text A JSON text whose top level is an object with an array `data`.
 * @returns One text per element, as received; empty when there is no such
 * array. Of several `data` members the last one counts, as in `JSON.parse`.
 *
 * @example Keep what was received
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const text = '{"data": [{"a": 1.50}, {"a": 2}], "total": 2}';
 * assert.deepEqual(dataSources(text), ['{"a": 1.50}', '{"a": 2}']);
 * ```
 */
export function dataSources(text: string): readonly string[] {
  let found: readonly string[] = [];
  let at = skipSpace(text, 0);
  if (text.charCodeAt(at) !== openBrace) return found;
  at = skipSpace(text, at + 1);
  while (text.charCodeAt(at) === quote) {
    const keyEnd = endOfString(text, at);
    const key: unknown = JSON.parse(text.slice(at, keyEnd));
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const valueEnd = endOfValue(text, valueStart);
    if (key === "data") found = elements(text, valueStart);
    at = skipSpace(text, valueEnd);
    if (text.charCodeAt(at) !== comma) break;
    at = skipSpace(text, at + 1);
  }
  return found;
}

const quote = 34;
const comma = 44;
const backslash = 92;
const openBracket = 91;
const closeBracket = 93;
const openBrace = 123;
const closeBrace = 125;

function elements(text: string, start: number): readonly string[] {
  const found: string[] = [];
  if (text.charCodeAt(start) !== openBracket) return found;
  let at = skipSpace(text, start + 1);
  while (at < text.length && text.charCodeAt(at) !== closeBracket) {
    const end = endOfValue(text, at);
    found.push(text.slice(at, end));
    at = skipSpace(text, end);
    if (text.charCodeAt(at) !== comma) break;
    at = skipSpace(text, at + 1);
  }
  return found;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  for (;;) {
    const char = text.charCodeAt(at);
    if (char !== 32 && char !== 10 && char !== 13 && char !== 9) return at;
    at++;
  }
}

/** Where the value at `start` ends; a scan, because nesting can be deep. */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const char = text.charCodeAt(at);
    if (char === quote) {
      at = endOfString(text, at);
      if (depth === 0) return at;
      continue;
    }
    if (char === openBrace || char === openBracket) {
      depth++;
    } else if (char === closeBrace || char === closeBracket) {
      if (depth === 0) return trimmed(text, start, at);
      depth--;
      if (depth === 0) return at + 1;
    } else if (char === comma && depth === 0) {
      return trimmed(text, start, at);
    }
    at++;
  }
  return at;
}

/** A bare number or word ends before the space that follows it. */
function trimmed(text: string, start: number, end: number): number {
  return start + text.slice(start, end).trimEnd().length;
}

function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1;) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === backslash) slashes++;
    if (slashes % 2 === 0) return at + 1;
    at = text.indexOf('"', at + 1);
  }
  return text.length;
}
