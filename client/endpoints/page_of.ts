import { isRecord } from "../../core/guards.ts";
import { isIdentifier } from "../../core/wire/identifier.ts";
import type { OddFieldOf } from "../../core/wire/odd_field.ts";
import type { Page } from "../../core/wire/page.ts";
import type { RowRead } from "../../core/wire/read_row.ts";
import { listSchema } from "./schemas.ts";
import { promised } from "../http/caller.ts";
import type { Answer } from "../http/transport.ts";

/**
 * Makes a page of an answer. Its rows are read one by one, so that an odd row
 * costs at most itself and never hides the others.
 */
export function pageOf<T>(
  answer: Answer,
  action: string,
  reader: {
    readonly id: keyof T & string;
    readonly read: (
      row: Readonly<Record<string, unknown>>,
      mayHoldNul: boolean,
    ) => RowRead<object>;
  },
): Page<T> {
  const list = promised(listSchema, answer, action);
  // Only an escape can bring NUL into a text.
  const mayHoldNul = answer.text.includes("\\u0000");
  const data: T[] = [];
  const oddFields: OddFieldOf[] = [];
  const places: number[] = [];
  const unidentified: number[] = [];
  list.data.forEach((value, place) => {
    const id = isRecord(value) ? value[reader.id] : null;
    if (!isRecord(value) || !isIdentifier(id)) {
      unidentified.push(place);
      return;
    }
    const { row, odd } = reader.read(value, mayHoldNul);
    data.push(row as T);
    places.push(place);
    for (const { field, value } of odd) oddFields.push({ id, field, value });
  });
  return new ReadPage<T>(
    answer.text,
    unidentified.length === 0 ? null : places,
    {
      data,
      oddFields,
      rowsWithoutId: unidentified.length === 0
        ? []
        : cut(dataSources(answer.text), unidentified),
      nextCursorId: list.next_cursor_id || null,
      pagedBy: list.next_cursor_id === undefined ? "offset" : "cursor",
      total: countOf(list.total),
      readAt: answer.readAt,
      requestId: answer.requestId,
    },
  );
}

/** The pieces at some places. */
function cut(
  pieces: readonly string[],
  places: readonly number[],
): readonly string[] {
  return places.map((place) => pieces[place] ?? "");
}

/**
 * A page whose sources are cut when first asked for.
 *
 * An object literal with a getter would do, but the engine makes a hidden class
 * for each such object, which holds on to the text of the answer until the next
 * full collection: megabytes a second. So all pages share one getter; it is a
 * property of each page's own, so that a copy of a page has its sources.
 */
class ReadPage<T> implements Page<T> {
  readonly data: readonly T[];
  declare readonly sources: readonly string[];
  readonly oddFields: readonly OddFieldOf[];
  readonly rowsWithoutId: readonly string[];
  readonly nextCursorId: string | null;
  readonly pagedBy: "cursor" | "offset";
  readonly total: number | null;
  readonly readAt: string;
  readonly requestId: string | null;
  readonly #text: string;
  /** Where the items stood; null where each row is an item. */
  readonly #places: readonly number[] | null;
  #sources: readonly string[] | null = null;

  constructor(
    text: string,
    places: readonly number[] | null,
    page: Omit<Page<T>, "sources">,
  ) {
    this.data = page.data;
    Object.defineProperty(this, "sources", ReadPage.#cutSources);
    this.oddFields = page.oddFields;
    this.rowsWithoutId = page.rowsWithoutId;
    this.nextCursorId = page.nextCursorId;
    this.pagedBy = page.pagedBy;
    this.total = page.total;
    this.readAt = page.readAt;
    this.requestId = page.requestId;
    this.#text = text;
    this.#places = places;
  }

  static readonly #cutSources:
    & PropertyDescriptor
    & ThisType<ReadPage<unknown>> = {
      enumerable: true,
      get(): readonly string[] {
        if (this.#sources !== null) return this.#sources;
        const all = dataSources(this.#text);
        return this.#sources = this.#places === null
          ? all
          : cut(all, this.#places);
      },
    };
}

function countOf(total: unknown): number | null {
  if (typeof total !== "string" || !/^\d+$/.test(total)) return null;
  const count = Number(total);
  return Number.isSafeInteger(count) ? count : null;
}

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
