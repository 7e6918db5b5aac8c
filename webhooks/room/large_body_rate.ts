import { type BodyRoom, LARGE_BODY_BYTES } from "./body_room.ts";

/** Most large bodies in a minute. */
const MOST_A_MINUTE = 6;
const MINUTE_MS = 60_000;

/**
 * Room for a few large bodies a minute: where no spool is in front of the
 * ledger, nothing else keeps them from filling it.
 *
 * @param clock Steady clock, ms.
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
