import { isRecord } from "../../core/guards.ts";
import type { OddFieldOf } from "../../core/wire/odd_field.ts";
import type { Page } from "../../core/wire/page.ts";
import { dataSources } from "./page_sources.ts";
import { isUsableId, type RowRead } from "../../core/wire/read_row.ts";
import { listSchema } from "../endpoints/schemas.ts";
import { promised } from "../http/promised.ts";
import type { Answer } from "../http/transport.ts";

/**
 * Makes a page of an answer. Its rows are read one by one, so that an odd one
 * costs itself at most: it must never hide the others.
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
    if (!isRecord(value) || !isUsableId(id)) {
      unidentified.push(place);
      return;
    }
    const { row, odd } = reader.read(value, mayHoldNul);
    data.push(row as T);
    places.push(place);
    for (const { field, value } of odd) oddFields.push({ id, field, value });
  });
  let sources: readonly string[] | null = null;
  const cut = (): readonly string[] => sources ??= dataSources(answer.text);
  const cutAt = (wanted: readonly number[]): readonly string[] =>
    wanted.map((place) => cut()[place] ?? "");
  return {
    data,
    get sources(): readonly string[] {
      return unidentified.length === 0 ? cut() : cutAt(places);
    },
    oddFields,
    get rowsWithoutId(): readonly string[] {
      return cutAt(unidentified);
    },
    nextCursorId: list.next_cursor_id || null,
    pagedBy: list.next_cursor_id === undefined ? "offset" : "cursor",
    total: countOf(list.total),
    readAt: answer.readAt,
    requestId: answer.requestId,
  };
}

function countOf(total: unknown): number | null {
  if (typeof total !== "string" || !/^\d+$/.test(total)) return null;
  const count = Number(total);
  return Number.isSafeInteger(count) ? count : null;
}
