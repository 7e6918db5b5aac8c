import anyAscii from "any-ascii";

/**
 * Writes a name in the letters the service accepts: A-Z, a-z and 0-9, without
 * spaces, accents, hyphens or apostrophes. Nothing in this package calls it
 * automatically, because people should see how their name will be written.
 *
 * @param name A name in any script.
 * @returns The name in English letters; possibly empty, and not cut to length.
 *
 * @example Standardise before creating a user
 * ```ts
 * import { toEnglishName } from "@rampkit/onramp/client";
 * import assert from "node:assert/strict";
 *
 * assert.equal(toEnglishName("Łukasz"), "Lukasz");
 * assert.equal(toEnglishName("O’Brien-Müller"), "OBrienMuller");
 * assert.equal(toEnglishName("Дмитрий"), "Dmitriy");
 * ```
 */
export function toEnglishName(name: string): string {
  return anyAscii(name.normalize("NFC")).replace(/[^A-Za-z0-9]/g, "");
}
