/** One request in so many may go to unknown ids while known ones wait. */
export const UNKNOWN_ONE_IN = 4;

/**
 * Holds the requests for ids that the service never showed to a quarter of all
 * while known ones wait: anybody can invent ids.
 *
 * @example Three requests for known ids earn one for an unknown one
 * ```ts ignore
 * const share = new UnknownShare();
 * share.spend("known", 3);
 * share.allowsUnknown; // true
 * ```
 */
export class UnknownShare {
  #earned = 0;

  /** Whether the next request may be for unknown ids although known wait. */
  get allowsUnknown(): boolean {
    return this.#earned >= UNKNOWN_ONE_IN - 1;
  }

  /**
   * Counts requests that were made while known ids waited.
   *
   * @param kind What they were for.
   * @param requests How many.
   */
  spend(kind: "known" | "unknown", requests: number): void {
    // Nothing is saved up: known ids do not pay for a later flood.
    this.#earned = kind === "known"
      ? Math.min(UNKNOWN_ONE_IN - 1, this.#earned + requests)
      : this.#earned - requests * (UNKNOWN_ONE_IN - 1);
  }
}
