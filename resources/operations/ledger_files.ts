import type { StatesVerification } from "../../ledger/mod.ts";
import { CommandError } from "../../core/settings/errors.ts";

/** Deliveries that processes which ended have left in files. */
export interface LeftDeliveries {
  /** Paths of files that can go into the ledger. */
  readonly waiting: readonly string[];
  /** Paths of damaged files, whose rest nobody reads. */
  readonly damaged: readonly string[];
}

/** What was restored, and where the ledger before it is now. */
export interface Restored {
  /** When, UTC ISO 8601. */
  readonly restoredAt: string;
  /** The ledger's file. */
  readonly file: string;
  /** What it was copied from. */
  readonly from: string;
  /** Where the old one is now; null when there was none. */
  readonly previousFile: string | null;
  /** Its environment. */
  readonly environment: string;
  /** Events in it. */
  readonly events: number;
  /** Hash of its last event. */
  readonly hash: string;
}

/** What works on the files of a ledger and beside it. */
export interface LedgerFiles {
  /** Which deliveries are left in files. */
  readonly left: () => Promise<LeftDeliveries>;
  /** Takes them into the ledger; gives what is left after that. */
  readonly drain: () => Promise<LeftDeliveries>;
  /** Compares every stored state with a fold from nothing in another file. */
  readonly compareStates: () => Promise<StatesVerification>;
  /** The bytes of a file that a parameter names. */
  readonly read: (file: string) => AsyncIterable<Uint8Array>;
  /**
   * Copies the ledger, which may be in use, into a file.
   *
   * @throws {CommandError} When the file exists or cannot be written.
   */
  readonly backUp: (
    file: string,
    onProgress: (megabytes: number) => void,
  ) => Promise<void>;
  /**
   * Puts a copy in the place of the ledger.
   *
   * @throws {CommandError} When the ledger is in use, or the copy is missing or
   * broken.
   */
  readonly restore: (from: string) => Promise<Restored>;
  /** Random bytes that an event is committed to with. */
  readonly newSalt: () => Uint8Array;
}

/**
 * What works on the files of a ledger.
 *
 * @throws {CommandError} Where it is not for requests.
 */
export function filesOf(
  { files }: { readonly files: LedgerFiles | null },
): LedgerFiles {
  if (files !== null) return files;
  throw new CommandError("Only a command does this, beside the ledger's files");
}
