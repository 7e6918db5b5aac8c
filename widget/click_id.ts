/**
 * Makes a click id: a UUID v4, which is what the service suggests.
 *
 * Unlike `crypto.randomUUID` it also works on pages without TLS, so that a
 * widget can be tried on a phone in the same network.
 *
 * @param randomBytes Where sixteen random bytes come from. Defaults to the
 * platform's secure source.
 * @returns A click id to pass to session, widget and your own records.
 *
 * Source: service interface, "Widget initialisation", `click_id`.
 *
 * @example Make a click id
 * ```ts
 * import { clickId } from "@rampkit/onramp/widget";
 * import assert from "node:assert/strict";
 *
 * assert.match(clickId(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab]/);
 * ```
 */
export function clickId(
  randomBytes: (count: number) => Uint8Array = secureBytes,
): string {
  const hex = Array.from(
    randomBytes(16).subarray(0, 16),
    (byte, i) => uuidByte(byte, i).toString(16).padStart(2, "0"),
  ).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

// RFC 9562, section 5.4: four bits of version, two bits of variant.
function uuidByte(byte: number, index: number): number {
  if (index === 6) return (byte & 0x0f) | 0x40;
  if (index === 8) return (byte & 0x3f) | 0x80;
  return byte;
}

function secureBytes(count: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(count));
}
