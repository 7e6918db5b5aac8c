import { type Driver, readPrimary } from "../store/driver/driver.ts";
import { hex } from "@scure/base";
import {
  selectKeys,
  selectNames,
} from "../store/tables/erasure/hidden_names.ts";
import { createHmac } from "node:crypto";

/** A name that was erased. */
export interface ErasedName {
  /** Its keyed hash. */
  readonly hash: Uint8Array;
  /** When it was erased, UTC ISO 8601. */
  readonly erasedAt: string;
  /** When the user became a customer again; null while not. */
  readonly returnedAt: string | null;
}

/** Which of some names were erased, by name. */
export type ErasedNames = ReadonlyMap<string, ErasedName>;

/** Looks up which of some names were erased. */
export async function readErasedNames(
  driver: Driver,
  kind: NameKind,
  names: Iterable<string>,
): Promise<ErasedNames> {
  const [keys] = await readPrimary(driver, [selectKeys]);
  // Two names that differ in case alone have one hash.
  const hidden = new Map<string, string[]>();
  for (const name of new Set(names)) {
    for (const [key] of keys?.rows ?? []) {
      const hash = hex.encode(hideName(key as Uint8Array, kind, name));
      hidden.set(hash, [...hidden.get(hash) ?? [], name]);
    }
  }
  const found = new Map<string, ErasedName>();
  const hashes = [...hidden.keys()].map((hash) => hex.decode(hash));
  for (let from = 0; from < hashes.length; from += LOOKED_UP_AT_ONCE) {
    const page = hashes.slice(from, from + LOOKED_UP_AT_ONCE);
    const [rows] = await readPrimary(driver, [selectNames(page)]);
    for (const [hash, , erasedAt, returnedAt] of rows?.rows ?? []) {
      for (const name of hidden.get(hex.encode(hash as Uint8Array)) ?? []) {
        found.set(name, {
          hash: hash as Uint8Array,
          erasedAt: String(erasedAt),
          returnedAt: returnedAt === null ? null : String(returnedAt),
        });
      }
    }
  }
  return found;
}

const LOOKED_UP_AT_ONCE = 500;

/** What kind of name is hidden. */
export type NameKind = "user" | "click" | "value";

/**
 * Hides a name behind a keyed hash: the ledger recognises the name when it
 * comes again, in any case, but nobody can read it.
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

/**
 * An id in the form in which it is compared: the service writes its ids in one
 * case, senders of webhooks in any.
 *
 * @param id The id, as somebody wrote it.
 */
export function comparedId(id: string): string {
  return id.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
}

/** Whether two ids are the same, without regard to case. */
export function isSameId(a: string | null, b: string | null): boolean {
  return a === b ||
    (a !== null && b !== null && comparedId(a) === comparedId(b));
}
