/** How a local database is opened. */
export interface ConnectionOptions {
  /** Path of the file, or `:memory:`. */
  readonly path: string;
  /** Waits this long inside the driver for a lock, in ms. */
  readonly busyTimeoutMs: number;
  /**
   * Only reads: opening, closing and batches never change the file.
   *
   * @default false
   */
  readonly readOnly?: boolean;
  /** Most pages the file may have; for tests of a full disk. */
  readonly maxPages?: number;
}
