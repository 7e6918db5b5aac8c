// The small form of zod: `import { z } from "zod"` brings every language's
// messages into a bundle.
import * as z from "zod/mini";
import { isRecord } from "../core/guards.ts";
import {
  isIdentifier,
  type OddFieldOf,
  type Page,
} from "../core/wire/objects.ts";
import type { RowRead } from "../core/wire/fields.ts";
import { type Answer, promised, wrongShape } from "./transport.ts";

/** How the rows of a list are read. */
export interface PageForm<T> {
  /** The field that identifies a row. */
  readonly id: keyof T & string;
  readonly read: (row: Readonly<Record<string, unknown>>) => RowRead<object>;
}

/** The envelope of a page; its rows are read one by one. */
const listSchema = z.looseObject({
  success: z.optional(z.literal(true)),
  next_cursor_id: z.optional(z.nullable(z.string())),
  // A wrong total is a warning of the walk, never a fault of the page.
  total: z.optional(z.unknown()),
  data: z.optional(z.nullable(z.array(z.unknown()))),
});

/**
 * Makes a page of an answer. Its rows are read one by one, so that an odd row
 * costs at most itself and never hides the others.
 */
export function pageOf<T>(
  answer: Answer,
  action: string,
  { id, read }: PageForm<T>,
  skipped: number,
): Page<T> {
  const list = promised(listSchema, answer, action);
  const total = countOf(list.total);
  // Some services write an empty list as null, or leave it out.
  if (!list.data && (total ?? 0) > skipped) {
    throw wrongShape(answer, action, ["data"]);
  }
  const texts = dataSources(answer.text);
  const data: T[] = [];
  const sources: string[] = [];
  const oddFields: OddFieldOf[] = [];
  const rowsWithoutId: string[] = [];
  for (const [place, value] of (list.data ?? []).entries()) {
    const named = isRecord(value) ? value[id] : null;
    const source = texts[place] ?? "";
    if (!isRecord(value) || !isIdentifier(named)) {
      rowsWithoutId.push(source);
      continue;
    }
    const { row, odd } = read(value);
    data.push(row as T);
    sources.push(source);
    for (const field of odd) oddFields.push({ id: named, ...field });
  }
  return {
    data,
    sources,
    oddFields,
    rowsWithoutId,
    nextCursorId: list.next_cursor_id || null,
    pagedBy: list.next_cursor_id === undefined ? "offset" : "cursor",
    total,
    readAt: answer.readAt,
    requestId: answer.requestId,
    ...(!list.data && { withoutData: list.data === null ? "null" : "missing" }),
  };
}

function countOf(total: unknown): number | null {
  if (typeof total !== "string" || !/^\d+$/.test(total)) return null;
  const count = Number(total);
  return Number.isSafeInteger(count) ? count : null;
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},:]|[^\s"[\]{},:]+/g;

/**
 * Cuts the exact text of each element of the top-level `data` array out of a
 * JSON text. Of several `data` members the last one counts, as in `JSON.parse`.
 */
export function dataSources(text: string): readonly string[] {
  let found: string[] = [];
  let depth = 0;
  let name: string | null = null;
  let isInData = false;
  /** Where the element under way begins; -1 between two. */
  let start = -1;
  let end = 0;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const closes = token === "]" || token === "}";
    if (isInData && depth === 2 && start >= 0 && (closes || token === ",")) {
      found.push(text.slice(start, end));
      start = -1;
    } else if (isInData && depth >= 2 && start < 0 && !closes) {
      start = index;
    }
    if (closes && --depth === 1) isInData = false;
    if (depth === 1 && token === ",") name = null;
    else if (depth === 1 && token.startsWith('"')) name ??= token;
    else if (depth === 1 && token !== ":" && !closes && name !== null) {
      if (JSON.parse(name) === "data") {
        found = [];
        isInData = token === "[";
      }
    }
    if (token === "[" || token === "{") depth++;
    end = index + token.length;
  }
  return found;
}
