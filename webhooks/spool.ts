import type { BodyClasses } from "../core/webhook_event/classify_body.ts";
import type { NoRoom } from "./body_room.ts";
import type {
  AppendDelivery,
  UnansweredDelivery,
} from "../core/wire/objects.ts";

/**
 * Stores records for good, oldest first; `ledger.appendRecords` does. Resolves
 * only after the commit that holds them, with what their bodies are if it knows,
 * and stores each only once, however often it is given.
 */
export type TakeRecords = (
  records: Uint8Array<ArrayBuffer>,
  count: number,
) => Promise<BodyClasses | void>;

/** The processes that write to a spool, by names that do not repeat. */
export interface SpoolWriters {
  /** This process. */
  readonly own: string;
  /** Ended processes whose deliveries this one has taken over completely. */
  readonly takenOver: ReadonlySet<string>;
  /** Processes whose files are there, and are not this process's. */
  readonly others: ReadonlySet<string>;
  /** When the files were listed, ms since 1970. */
  readonly listedMs: number;
}

/** A file of a spool that cannot be read, or not whole. */
export interface SpoolDamage {
  /** Name of the file. */
  readonly file: string;
  /** What is wrong with it. */
  readonly detail: string;
}

/**
 * Keeps deliveries durably from their receipt until the ledger has them.
 * {@linkcode fileSpool} is the one that comes with this module.
 */
export interface Spool {
  /** Records kept and not yet drained. */
  readonly depth: number;
  /** Bytes they take. */
  readonly bytes: number;
  /** When the oldest of them was received, ms since 1970; null without any. */
  readonly oldestMs: number | null;
  /** Who writes here, as of the latest {@linkcode Spool.tidy}. */
  readonly writers: SpoolWriters;
  /**
   * Keeps a delivery, whose id is a ULID. Resolves only when it would survive
   * the machine going down. It needs no `this`.
   *
   * @throws {SpoolError} When it could not be kept.
   */
  readonly put: AppendDelivery;
  /**
   * Why a body of this size should not be put now although a smaller one may
   * be, counting what is kept and what is being put. Null where there is room,
   * and where `put` itself reports what is wrong. It can be called without
   * `this`.
   */
  readonly noRoomFor: (bodyBytes: number) => NoRoom | null;
  /**
   * Keeps a note of a delivery that was not answered in time. It needs no
   * `this`.
   *
   * @throws {SpoolError} When it could not be kept.
   */
  readonly note: (unanswered: UnansweredDelivery) => Promise<void>;
  /**
   * Sets the listener that is called whenever something was kept; it replaces
   * an earlier one.
   */
  onKept(listener: () => void): void;
  /**
   * Hands over what is kept by now, oldest first, in groups of at most 1,024 records
   * and about a megabyte, and forgets each group that was taken.
   *
   * @returns How many records were taken.
   * @throws Whatever `take` threw; the rest stays kept, in order.
   */
  drain(
    take: TakeRecords,
    options?: { readonly signal?: AbortSignal },
  ): Promise<number>;
  /**
   * Takes over what ended processes have left, and overwrites what was drained.
   * Call it now and then, while nothing is being drained.
   *
   * @throws {SpoolError} When the disk fails.
   */
  tidy(): Promise<void>;
  /**
   * Makes sure that there is room for a delivery.
   *
   * @throws {SpoolError} With the reason when there is none.
   */
  ready(): Promise<void>;
  /** Stops taking deliveries, and releases the files; kept records stay. */
  close(): Promise<void>;
}

/** What went wrong, as {@linkcode SpoolError} reports it. */
export type SpoolErrorCode =
  /** The spool holds as much as it may. */
  | "full"
  /** The spool was closed. */
  | "closed"
  /** The disk refused or failed; `cause` says how. */
  | "disk";

/**
 * The spool could not take a delivery.
 *
 * @example Tell a full spool from a broken disk
 * ```ts
 * import { SpoolError } from "@rampkit/onramp/webhooks";
 * import assert from "node:assert/strict";
 *
 * const error: unknown = new SpoolError("full", "Cannot spool: 9 bytes left");
 * assert(error instanceof SpoolError && error.code === "full");
 * ```
 */
export class SpoolError extends Error {
  /** Name of the class. */
  override readonly name = "SpoolError";
  /** What kind of trouble. */
  readonly code: SpoolErrorCode;

  /**
   * Makes the error.
   *
   * @param code What went wrong.
   * @param message The fault, and what to do about it.
   * @param options The error behind this one, if any.
   */
  constructor(
    code: SpoolErrorCode,
    message: string,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
    this.code = code;
  }
}
