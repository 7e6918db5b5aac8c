/** What the thread that owns the file is asked, and what it answers. */
import type { AssetTable } from "../../core/assets/environment.ts";
import type {
  FileDriver,
  FileOptions,
} from "../store/connections/file_driver.ts";
import type { LedgerErrorCode } from "../store/database.ts";

/** What the thread does when it is asked. */
export interface Calls extends
  Pick<
    FileDriver,
    "batch" | "copyTo" | "vacuum" | "emptyLog" | "close"
  > {
  open(options: FileOptions): void;
  work(name: string, task: { assets: AssetTable }): Promise<unknown>;
}

/** What is asked; the answers come in the order of the requests. */
export interface Request {
  readonly call: keyof Calls;
  readonly args: readonly unknown[];
}

/** How work ended. An error crosses threads as plain data. */
export type Outcome =
  | { readonly result: unknown }
  | { readonly code: LedgerErrorCode; readonly message: string };
