/** What the thread that owns the file is asked, and what it answers. */
import type { AssetTable } from "../../core/assets/environment.ts";
import type { ConnectionOptions } from "../store/connections/database_url.ts";
import type { ResultSet, Statement } from "../store/driver/driver.ts";
import type { LedgerErrorCode } from "../store/driver/errors.ts";
import type { Projected } from "../projection/project.ts";

/** A request; the answer has the same `id`. */
export type Request = { readonly id: number } & Task;

export type Task =
  | { readonly task: "open"; readonly options: ConnectionOptions }
  | {
    readonly task: "batch";
    readonly statements: readonly Statement[];
    readonly mode: "read" | "write";
  }
  | ({ readonly task: "project" } & StepOptions)
  | { readonly task: "copy"; readonly path: string }
  | { readonly task: "vacuum" | "emptyLog" | "close" };

/** How a step is made. */
export interface StepOptions {
  readonly assets: AssetTable;
  readonly maxEvents: number;
}

export type Answer = { readonly id: number } & Outcome;

/** How work ended. An error crosses threads as plain data. */
export type Outcome =
  | { readonly results: readonly ResultSet[] }
  | { readonly projected: Projected }
  | { readonly code: LedgerErrorCode; readonly message: string };
