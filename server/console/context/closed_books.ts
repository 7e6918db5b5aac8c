import { readMonthAt, readMonthPositions } from "../../../ledger/for_server.ts";
import type { Ledger } from "../../../ledger/mod.ts";
import {
  type BooksDigest,
  booksDigest,
} from "../../../resources/months/books_digest.ts";
import { closedBooks } from "../../../resources/months/month_books.ts";
import {
  type MonthJson,
  monthJson,
} from "../../../resources/views/month_view.ts";

/** A closed month, with as many of its rows as a page shows. */
export interface ClosedMonth extends MonthJson {
  readonly books: BooksDigest;
}

/**
 * The closed months. One of them holds a row for each of its orders, and never
 * changes: each is read once, and its digest is remembered.
 */
export class ClosedBooks {
  readonly #ledger: Ledger;
  readonly #read = new Map<number, ClosedMonth | null>();

  /** Reads nothing until asked. */
  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** Every closed month, in their order. */
  async list(): Promise<ClosedMonth[]> {
    const { driver } = this.#ledger;
    const positions = await readMonthPositions(driver);
    const months = new Map<string, ClosedMonth>();
    for (const position of positions) {
      let month = this.#read.get(position);
      if (month === undefined) {
        const close = await readMonthAt(driver, position);
        month = close && {
          ...monthJson(close),
          books: booksDigest(closedBooks(close)),
        };
        this.#read.set(position, month);
      }
      if (month !== null) months.set(month.month, month);
    }
    return [...months.values()].sort((a, b) => a.month < b.month ? -1 : 1);
  }

  /** One closed month; null when it is not closed. */
  async get(month: string): Promise<ClosedMonth | null> {
    return (await this.list()).find((one) => one.month === month) ?? null;
  }
}
