import type { ConnectionOptions } from "./connection_options.ts";
import type { ResultSet, Statement } from "./driver.ts";
import type { LedgerErrorCode } from "./errors.ts";

/** What the database thread is asked; `id` returns with the answer. */
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
  | { readonly task: "close" };

/** What the database thread answers. */
export type Answer = { readonly id: number } & Outcome;

/** How work ended. An error crosses threads as plain data. */
export type Outcome =
  | { readonly results: readonly ResultSet[] }
  | { readonly code: LedgerErrorCode; readonly message: string };
