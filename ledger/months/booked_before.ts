import { printable } from "../../core/printable.ts";
import type { Money } from "./money.ts";
import type { BookBy, MonthRow } from "./month_row.ts";

/** What closed months have booked of an order. */
export interface BookedBefore {
  /** What stands in the books; null once it was taken back. */
  readonly money: Money | null;
  /** Month of the order. */
  readonly ofMonth: string;
  /** Which time decided it. */
  readonly datedBy: BookBy;
  /** Position of the closing that booked it last. */
  readonly closedAt: number;
}

/** What closed months have booked, by order as its files write it. */
export class BooksBefore {
  readonly #orders = new Map<string, BookedBefore>();

  /** Adds the rows of a closed month; months come in their order. */
  add(rows: Iterable<MonthRow>, closedAt: number): void {
    // A restatement stands behind the reversal of the same order.
    for (const { orderId, kind, money, ofMonth, datedBy } of rows) {
      this.#orders.set(printable(orderId), {
        money: kind === "reversal" ? null : money,
        ofMonth,
        datedBy,
        closedAt,
      });
    }
  }

  /** What they have booked of an order; null when nothing. */
  of(orderId: string): BookedBefore | null {
    return this.#orders.get(printable(orderId)) ?? null;
  }
}
