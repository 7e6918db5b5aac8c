import type { Ledger } from "../../../ledger/mod.ts";
import type { DeliveryHealth } from "../../../sync/mod.ts";
import type { Operations } from "../../api/operations.ts";
import type { ClosedBooks } from "./closed_books.ts";
import type { Explorers } from "./explorers.ts";
import type { OrderTotals } from "./order_totals.ts";
import type { OpenBooks } from "./open_books.ts";
import type { RefundsOfMonths } from "./refunds_due.ts";
import type { CachedValue } from "./cached_value.ts";
import type { Waiting } from "../../../resources/health/waiting_counts.ts";

/** What a page is rendered from. */
export interface PageContext {
  /** The ledger that is shown. */
  readonly ledger: Ledger;
  /** Address of the service's dashboard. */
  readonly dashboardUrl: string;
  /** Where transactions can be looked at. */
  readonly explorers: Explorers;
  /** What can be asked here, and the progress of what is under way. */
  readonly operations: Pick<
    Operations,
    "asksChain"
  >;
  /** The time of the request, ms since the epoch. */
  readonly nowMs: number;
  /** Whether the reader may take notes. */
  readonly supports: boolean;
  /** Whether the reader may do everything else too. */
  readonly operates: boolean;
  /** What the forms of the page send back. */
  readonly formToken: string;
  /** How many orders wait, and for which reason. */
  readonly waiting: CachedValue<Waiting>;
  /** Health of webhook delivery. */
  readonly delivery: CachedValue<DeliveryHealth>;
  /** The closed months. */
  readonly closedBooks: ClosedBooks;
  /** Refunds that are due. */
  readonly refunds: RefundsOfMonths;
  /** Sums of lists of orders. */
  readonly orderTotals: OrderTotals;
  /** The books of months that are not closed. */
  readonly openBooks: OpenBooks;
}
