import type { ConnectionOptions } from "./database_url.ts";
import type { ResultSet, Statement } from "../driver/driver.ts";
import type { LedgerErrorCode } from "../driver/errors.ts";

/** A request to the database thread; the answer has the same `id`. */
export type Request = { readonly id: number } & Task;

/** Work for the database thread. */
export type Task =
  | { readonly task: "open"; readonly options: ConnectionOptions }
  | {
    readonly task: "batch";
    readonly statements: readonly Statement[];
    readonly mode: "read" | "write";
  }
  | { readonly task: "copy"; readonly path: string }
  | { readonly task: "vacuum" | "emptyLog" }
  | { readonly task: "close" };

/** An answer of the database thread. */
export type Answer = { readonly id: number } & Outcome;

/** How work ended. An error crosses threads as plain data. */
export type Outcome =
  | { readonly results: readonly ResultSet[] }
  | { readonly code: LedgerErrorCode; readonly message: string };
