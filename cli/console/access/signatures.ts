import { createHmac, timingSafeEqual } from "node:crypto";

/** A keyed hash of a text that says what it is for. */
export function signed(key: string | Uint8Array, text: string): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}

/** Compares without telling by the time taken how much agrees. */
export function isSame(a: string, b: string): boolean {
  // Of equal length whatever was given.
  const digest = (text: string) =>
    createHmac("sha256", "compare").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
