import type { NoRoom } from "./body_room.ts";

/**
 * Why a request was refused.
 *
 * - `wrong_secret`: 404, the path holds no valid secret.
 * - `misplaced_secret`: 404, a valid secret stands elsewhere in the address.
 * - `not_allowed`: 404, the address is not on the allowlist.
 * - `method`: 405, it is not a POST.
 * - `too_large`: 413, the body is over the limit.
 * - `late`: 408, the body did not arrive in time.
 * - `broken`: 400, the body broke off.
 * - `read_before`: 503, something read the body before the endpoint got it.
 * - `overload`: 503, too many bytes of bodies are held in memory.
 * - `large_share`: 503, large bodies have used up what they share.
 * - `nearly_full`: 503, what is left of the spool is kept for small bodies.
 */
export type RefusalReason =
  | "wrong_secret"
  | "misplaced_secret"
  | "not_allowed"
  | "method"
  | "too_large"
  | "late"
  | "broken"
  | "read_before"
  | "overload"
  | NoRoom;
