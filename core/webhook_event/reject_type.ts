import type { KnownRejectType, RejectType } from "./webhook_event.ts";

/**
 * The documented reasons of a failed verification, each with its meaning.
 * `LKYC` is the light verification, `FKYC` the one with documents.
 *
 * Source: service interface, "Events", `reject_type` values.
 */
export const REJECT_TYPES: Readonly<
  Record<KnownRejectType, string>
> = Object.freeze({
  LKYC_FAILED_AGE: "The age requirement is not met (light verification)",
  FKYC_FAILED_AGE: "The age requirement is not met (document verification)",
  LKYC_FAILED_UNSUPPORTED_COUNTRY:
    "The country is not supported (light verification)",
  FKYC_FAILED_UNSUPPORTED_COUNTRY:
    "The country is not supported (document verification)",
  LKYC_FAILED_UNSUPPORTED_STATE:
    "The state or region is not supported (light verification)",
  FKYC_FAILED_UNSUPPORTED_STATE:
    "The state or region is not supported (document verification)",
  LKYC_FAILED_DUPLICATE: "A record already exists (light verification)",
  FKYC_FAILED_DUPLICATE: "A record already exists (document verification)",
  LKYC_FAILED_GENERAL: "The light verification failed without a named reason",
  FKYC_FAILED_GENERAL:
    "The document verification failed without a named reason",
  FKYC_FAILED_SPAM: "The document verification was flagged as spam or fraud",
});

/**
 * Says what a `reject_type` means.
 *
 * @param code The value of a `verify_failed` event; the list is open.
 * @returns One sentence for people, or null for a value not known here.
 *
 * @example What to tell the user
 * ```ts
 * import { describeRejectType } from "@rampkit/onramp/webhooks";
 * import assert from "node:assert/strict";
 *
 * assert.match(String(describeRejectType("LKYC_FAILED_AGE")), /age/);
 * assert.equal(describeRejectType("FKYC_FAILED_MOOD"), null);
 * ```
 */
export function describeRejectType(code: RejectType): string | null {
  return Object.hasOwn(REJECT_TYPES, code)
    ? REJECT_TYPES[code as KnownRejectType]
    : null;
}
