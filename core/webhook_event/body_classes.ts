import type { BodyClass } from "./classify_body.ts";

/** A stored body that is none of the documented events, or has an oddity. */
export interface OddBody {
  /** `id` of the delivery. */
  readonly deliveryId: string;
  /**
   * `other` for a JSON object, `quarantined` for anything else; the type of a
   * documented event that has an oddity.
   */
  readonly type: string;
  /** What is odd about it. */
  readonly why: string;
}

/** What the bodies of some deliveries are: plain data, which crosses threads. */
export interface BodyClasses {
  /** How many bodies there are of each type, `other` and `quarantined` among
   * them. */
  readonly counts: Readonly<Record<string, number>>;
  /** Those with something odd. */
  readonly odd: readonly OddBody[];
}

/** Counts bodies by their class. */
export class BodyTally implements BodyClasses {
  /** How many bodies there are of each type. */
  readonly counts: Record<string, number> = {};
  /** Those with something odd. */
  readonly odd: OddBody[] = [];

  /** Counts a body. */
  add(deliveryId: string, { type, why }: BodyClass): void {
    this.counts[type] = (this.counts[type] ?? 0) + 1;
    if (why !== null) this.odd.push({ deliveryId, type, why });
  }
}
