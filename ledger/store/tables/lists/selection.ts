import type { SqlValue } from "../../driver/driver.ts";

/** What every query of states can say. */
export interface PageQuery {
  /**
   * Only what was created after it, ISO 8601 with a zone. Until the service has
   * stated when, the time of the first event stands for it.
   */
  readonly createdAfter?: string;
  /** Only what was created then or before, ISO 8601 with a zone. */
  readonly createdUpTo?: string;
  /**
   * Rows of a page, 1 to 1000. It has fewer where they are long, or where many
   * rows were looked through: only a `next` that is null says that it is the
   * last one.
   *
   * @default 100
   */
  readonly limit?: number;
  /** `next` of the page before. @default from the beginning */
  readonly after?: string;
}

/** Which rows of a list come first. */
export type ListSort = "newest" | "oldest" | "largest" | "smallest";

/** One condition of a query. */
export interface Condition {
  /** SQL with `?` placeholders. */
  readonly sql: string;
  /** One value per placeholder. */
  readonly args: readonly SqlValue[];
}

/** One of several index ranges that are read side by side. */
export interface Range extends Condition {
  /** Its index. @default {that of the selection} */
  readonly index?: string;
}

/** The index of orders by their ids: for what names those that it selects. */
export const BY_ID = "sqlite_autoindex_orders_1";

/** The indexes that hold all that lists of orders choose by. */
export const WALKED = {
  time: "orders_by_time",
  amount: "orders_by_amount",
} as const;

/** What is read, and how. */
export interface Selection {
  /** `orders` or `users`. */
  readonly table: "orders" | "users";
  /**
   * Index to go by, where SQLite would rather walk all rows in their order. One
   * of {@linkcode WALKED} tells of each row whether it is selected without
   * reading it; how many are selected is not known before.
   *
   * @default what SQLite chooses
   */
  readonly index?: string;
  /** Whether its index has few rows of what is selected. @default {false} */
  readonly isOfFew?: boolean;
  /** Conditions besides those of the query's times and amounts. */
  readonly where: readonly Condition[];
  /**
   * Of these one holds, and never two for one row. Each is read by an index of
   * its own, and the rows of all are merged in their order.
   *
   * @default none: `where` alone selects
   */
  readonly either?: readonly Range[];
  /** Least and most of the column `amount`. @default {any} */
  readonly amounts?: { readonly from?: number; readonly to?: number };
  /** The query. */
  readonly query: PageQuery & {
    /** Which rows come first. @default "newest" */
    readonly sort?: ListSort;
  };
}
