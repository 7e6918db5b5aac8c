import type { z } from "zod";
import { ResponseError } from "./errors/response_error.ts";
import type { Page } from "./page.ts";
import { dataSources } from "./page_sources.ts";
import type { Answer } from "./_transport.ts";

/** Reads an answer as what was promised; names the fields that are not. */
export function promised<S extends z.ZodType>(
  schema: S,
  answer: Answer,
  action: string,
): z.output<S> {
  const read = schema.safeParse(answer.body);
  if (read.success) return read.data;
  const fields = read.error.issues.slice(0, 5).map((issue) =>
    issue.path.length === 0 ? "the body" : issue.path.map(String).join(".")
  );
  throw new ResponseError(
    `${action}: the answer is not of the promised shape at ${
      fields.join(", ")
    }; the service may have changed`,
    {
      code: "wrong_shape",
      status: answer.status,
      field: fields[0] ?? null,
      requestId: answer.requestId,
    },
  );
}

/** Makes a page of a list that was read as promised. */
export function pageOf<T>(
  list: {
    readonly data: readonly T[];
    readonly next_cursor_id?: string | null;
    readonly total?: unknown;
  },
  answer: Answer,
): Page<T> {
  let sources: readonly string[] | null = null;
  return {
    data: list.data,
    get sources(): readonly string[] {
      return sources ??= dataSources(answer.text);
    },
    nextCursorId: list.next_cursor_id || null,
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
