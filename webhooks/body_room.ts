/** Longest body for which the last quarter of a spool is kept, in bytes. */
export const SMALL_BODY_BYTES = 8 * 1024;
/** A longer body is large; documented ones have about one KiB. */
export const LARGE_BODY_BYTES = 64 * 1024;

const LARGE_SHARE = 1 / 10;
/** The part of a spool that takes small bodies alone. */
const SMALL_SHARE = 1 / 4;

/**
 * Why there is no room for a body now, and there may be for a smaller one.
 *
 * - `large_share`: large bodies have used up their share.
 * - `nearly_full`: what is left is kept for small bodies.
 */
export type NoRoom = "large_share" | "nearly_full";

/** Whether there is room for a body. It can be called without `this`. */
export interface BodyRoom {
  /**
   * Why there is no room for a body of this many bytes; null where there is, or
   * where storing it says what is wrong.
   */
  readonly noRoomFor: (bodyBytes: number) => NoRoom | null;
  readonly took?: (bodyBytes: number) => void;
}

export interface SpoolUse {
  readonly maxBytes: number;
  readonly bytes: number;
  readonly largeBytes: number;
}

/**
 * Decides whether a spool has room for a body: a sender who fills it with large
 * bodies must not keep out small ones, which the service itself sends.
 */
export function noRoomInSpool(
  bodyBytes: number,
  { maxBytes, bytes, largeBytes }: SpoolUse,
): NoRoom | null {
  if (
    bodyBytes > SMALL_BODY_BYTES &&
    bytes + bodyBytes > maxBytes * (1 - SMALL_SHARE)
  ) return "nearly_full";
  if (
    bodyBytes > LARGE_BODY_BYTES &&
    largeBytes + bodyBytes > maxBytes * LARGE_SHARE
  ) return "large_share";
  return null;
}

const MOST_A_MINUTE = 6;
const MINUTE_MS = 60_000;

/**
 * Room for a few large bodies a minute: without a spool in front of the ledger,
 * nothing else keeps them from filling it.
 */
export function largeBodyRate(clock: () => number): BodyRoom {
  let tookAt: number[] = [];
  return {
    noRoomFor(bodyBytes) {
      if (bodyBytes <= LARGE_BODY_BYTES) return null;
      const since = clock() - MINUTE_MS;
      tookAt = tookAt.filter((at) => at > since);
      return tookAt.length < MOST_A_MINUTE ? null : "large_share";
    },
    took(bodyBytes) {
      if (bodyBytes > LARGE_BODY_BYTES) tookAt.push(clock());
    },
  };
}
