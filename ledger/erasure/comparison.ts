/** Result of comparing the events with the values of erased people. */
export interface Comparison {
  /** Events that were blanked: they held such a value and were nobody else's. */
  readonly blanked: number;
  /** Events that are listed for a person. */
  readonly listed: number;
}
