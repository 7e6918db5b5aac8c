/** Folds and chains what was appended, behind the endpoint's answer. */
export interface Projection {
  /** Says that events were appended. @param count How many. @default 1 */
  wake(count?: number): void;
  /** Ends the work that is under way, and resolves. */
  stop(): Promise<void>;
}

/** Told of how folding goes. */
export interface ProjectionEvents {
  /** Told of every failure. */
  readonly onError: (error: unknown) => void;
  /** Told of every time that the work went well. */
  readonly onDone: () => void;
}
