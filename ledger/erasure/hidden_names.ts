import { createHmac } from "node:crypto";
import { comparedId } from "./same_id.ts";

/** What kind of name is hidden. */
export type NameKind = "user" | "click" | "value";

/**
 * Hides a name behind a keyed hash: whoever has the ledger can recognise the
 * name when it comes again, in whatever case, and nobody can read it.
 *
 * @param key The ledger's key.
 * @param kind What kind of name it is.
 * @param name The name.
 * @returns 32 bytes.
 */
export function hideName(
  key: Uint8Array,
  kind: NameKind,
  name: string,
): Uint8Array {
  const hmac = createHmac("sha256", key).update(
    `${kind}\0${comparedId(name)}`,
  ).digest();
  return new Uint8Array(hmac);
}
