const meanings: Readonly<Record<string, string>> = {
  "4000":
    "Card could not be charged; order not completed; the user can try again",
  "4001": "Incorrect CVV/CVC",
  "4002": "Declined by the card issuer",
  "4003": "Incorrect card details",
  "4004": "Insufficient balance",
  "4005": "Card limit exceeded; use a different card",
  "4010": "Declined by the card issuer",
  "4011": "Card validation failed",
  "4012": "Declined by the card issuer",
  "4013": "Declined due to risk assessment",
  "4014":
    "Name on the bank payment account does not match the verified identity",
  "4015": "Payment not received within the expected time",
  "4016": "Payment received after the order timeout; funds to be refunded",
  "4017": "Payment amount does not match the order amount",
  "4018": "Payment cancelled by the user; no funds charged",
};

/** The documented payment error codes. Source: service interface, "Payment error codes". */
export const failReasons: readonly string[] =
  // Marked as pure, so that a bundle which needs no meanings leaves them out.
  /* @__PURE__ */ Object.keys(meanings);

/**
 * Says what a payment error code (`fail_reason` of an order) means.
 *
 * @param code The code as sent.
 * @returns The meaning in English, or null when the code is not documented.
 *
 * @example Explain a failed payment
 * ```ts
 * import { describeFailReason } from "@rampkit/onramp/client";
 * import assert from "node:assert/strict";
 *
 * assert.equal(describeFailReason("4004"), "Insufficient balance");
 * assert.equal(describeFailReason(""), null);
 * ```
 */
export function describeFailReason(code: string): string | null {
  return Object.hasOwn(meanings, code) ? meanings[code] ?? null : null;
}
