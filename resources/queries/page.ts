import {
  type Param,
  type Params,
  textParam,
  wholeParam,
  wordParam,
} from "../../core/settings/params.ts";

/** Rows of a list, and how to ask for those that follow. */
export interface Page<Row> {
  /** The rows, as `--json` prints each of them. */
  readonly items: readonly Row[];
  /** What to pass as `cursor` for the next page; null on the last one. */
  readonly next: string | null;
}

/** Which page of a list. */
export interface PageParams {
  /** `next` of the page before. @default {the first page} */
  readonly cursor?: string;
  /** At most this many rows, 1 to 1000. @default 100 */
  readonly limit?: number;
}

/** Most rows of one page. */
export const MOST_ROWS = 1000;

/** The parameters of a page. */
export const PAGE = {
  cursor: textParam("`next` of the page before"),
  limit: wholeParam(
    "At most this many rows, and 4 MB; `next` leads to the others",
    { min: 1, max: MOST_ROWS, usual: 100 },
  ),
} as const satisfies Params;

/** A parameter that says which rows come first. */
export interface SortParam<Word extends string> extends Param<Word> {
  /** What stands for its value beside the flag. */
  readonly operand: string;
}

/** Which rows come first, by when they were created. */
export const SORT: SortParam<"newest" | "oldest"> = {
  ...wordParam("Which come first: newest (the default) or oldest", [
    "newest",
    "oldest",
  ]),
  operand: "<order>",
};
