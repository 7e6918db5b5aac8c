/** Folds and chains what was appended, behind the endpoint's answer. */
export interface Projection {
  /** Says that events were appended. @param count How many. @default 1 */
  wake(count?: number): void;
  /** Ends the work that is under way, and resolves. */
  stop(): Promise<void>;
}

/** Callbacks for the results of folding. */
export interface ProjectionEvents {
  /** Called with each error. */
  readonly onError: (error: unknown) => void;
  /** Called after each success. */
  readonly onDone: () => void;
}
