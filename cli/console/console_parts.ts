import type { DeliveryHealth, Ledger } from "../../ledger/mod.ts";
import type { Operations } from "../api/operations.ts";
import type { Log } from "../monitoring/logger.ts";
import type { Access } from "./access/access.ts";
import type { Explorers } from "./explorers.ts";
import type { RefundsOfMonths } from "./parts/refunds_due.ts";
import type { Waiting } from "./parts/waiting_counts.ts";
import type { Remembered } from "./remembered.ts";
import type { ClosedBooks } from "./closed_books.ts";
import type { OpenBooks } from "./open_books.ts";
import type { DeadLetterActions } from "./settle_dead_letters.ts";

/** What the console is made of. */
export interface ConsoleParts {
  /** The ledger that is shown. */
  readonly ledger: Ledger;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /** Who may open it. */
  readonly access: Access;
  /** Names under which people open it, besides addresses and localhost. */
  readonly hostNames: readonly string[];
  /** Address of the service's dashboard. */
  readonly dashboardUrl: string;
  /** Where transactions can be looked at. */
  readonly explorers: Explorers;
  /** Brings states up to date, or to a bounded age. */
  readonly catchUp: () => Promise<void>;
  /** Told what failed. */
  readonly log: Log;
  /** Reads a window again; null where the service cannot be asked. */
  readonly operations: Pick<Operations, "recover" | "recovery"> | null;
  /** Sends dead letters again, or drops them. */
  readonly deadLetters: DeadLetterActions;
}

/** What a page is rendered from. */
export interface PageContext extends
  Pick<
    ConsoleParts,
    "ledger" | "dashboardUrl" | "explorers" | "operations"
  > {
  /** The time of the request, ms since the epoch. */
  readonly nowMs: number;
  /** Whether the reader may acknowledge and note. */
  readonly operates: boolean;
  /** What the forms of the page send back. */
  readonly formToken: string;
  /** How many orders wait, and for which reason. */
  readonly waiting: Remembered<Waiting>;
  /** How webhook delivery is. */
  readonly delivery: Remembered<DeliveryHealth>;
  /** The closed months. */
  readonly closedBooks: ClosedBooks;
  /** Refunds that are due. */
  readonly refunds: RefundsOfMonths;
  /** The books of months that are not closed. */
  readonly openBooks: OpenBooks;
}
