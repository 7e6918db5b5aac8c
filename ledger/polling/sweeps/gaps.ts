/** Gaps kept one by one; beyond that they are merged. */
const gapsKept = 50;

/** A range of the past that was read without proof. */
export interface Gap {
  /** Exclusive start, in milliseconds since the epoch. */
  readonly fromMs: number;
  /** Inclusive end, in milliseconds since the epoch. */
  readonly untilMs: number;
  /** Why there is no proof, in one sentence. */
  readonly why: string;
}

/** Merges the last gaps into one when there are too many to list. */
export function limitGaps(gaps: readonly Gap[]): Gap[] {
  if (gaps.length <= gapsKept) return [...gaps];
  const head = gaps.slice(0, gapsKept - 1);
  const tail = gaps.slice(gapsKept - 1);
  return [...head, {
    fromMs: Math.min(...tail.map((gap) => gap.fromMs)),
    untilMs: Math.max(...tail.map((gap) => gap.untilMs)),
    why: tail[0]?.why ?? "",
  }];
}
