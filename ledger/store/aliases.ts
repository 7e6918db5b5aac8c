/**
 * What must be recognised of erased people when it comes again, hidden behind keyed
 * hashes: nobody can read it, also not who has the file and guesses at random.
 */
import { createHash, createHmac } from "node:crypto";
import type { Driver, SqlValue, Statement } from "./driver/driver.ts";
import { bytesOf, listed, readDeciding, statement } from "./database.ts";
import { hexOf } from "./events.ts";

/**
 * What an alias stands for.
 *
 * - `user`, `click`, `order`: what is about one of them is redacted.
 * - `own`, `chosen`: a value that other bodies may hold anywhere.
 * - `person`: somebody who was erased, by the name that stands for them.
 * - `returned`: an order that an erased user made later.
 * - `key`: what another ledger hid its names with, before they were imported.
 */
export type AliasKind =
  | "user"
  | "click"
  | "order"
  | "own"
  | "chosen"
  | "person"
  | "returned"
  | "key";

/** What is kept with a hash: times and random names, as JSON. */
export type Alias = Readonly<Record<string, string | number | null>>;

/**
 * An id in the form in which it is compared: the service writes its ids in one
 * case, senders of webhooks in any, and with blanks around.
 */
export function comparedId(id: string): string {
  return id.trim().replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
}

/** Whether two ids are the same, without regard to case. */
export function isSameId(a: string | null, b: string | null): boolean {
  return a === b ||
    (a !== null && b !== null && comparedId(a) === comparedId(b));
}

/** Hides a name behind a keyed hash of 32 bytes. */
export function hideName(
  key: Uint8Array,
  kind: string,
  name: string,
): Uint8Array {
  return new Uint8Array(
    createHmac("sha256", key).update(`${kind}\0${comparedId(name)}`).digest(),
  );
}

/** What a hash is made of: values of both sorts are one, so that each is one look. */
function hashedAs(kind: AliasKind): string {
  return kind === "own" || kind === "chosen" ? "value" : kind;
}

/** Names are hidden with a key of their own: an export of who was erased holds it. */
export function erasureKey(ledgerKey: Uint8Array): Uint8Array {
  const hash = createHash("sha256").update("rampkit/erasure/1\n");
  return new Uint8Array(hash.update(ledgerKey).digest());
}

/** Stores an alias, in the place of what was known of the name. */
export function insertAlias(
  key: Uint8Array,
  kind: AliasKind,
  [name, alias]: readonly [string, Alias],
): Statement {
  return insertAliasRow([
    hideName(erasureKey(key), hashedAs(kind), name),
    kind,
    JSON.stringify(alias),
  ]);
}

export function insertAliasRow(
  [hash, kind, alias]: readonly [Uint8Array, string, string],
): Statement {
  return statement(
    `INSERT INTO aliases VALUES (?, ?, ?) ON CONFLICT (hash) DO UPDATE
      SET kind = CASE WHEN kind = 'own' THEN kind ELSE excluded.kind END,
        alias = excluded.alias`,
    ...[hash, kind, alias],
  );
}

/** The ledger's own key, and those that came with imports. */
export async function readKeys(driver: Driver): Promise<Uint8Array[]> {
  const [own, others] = await readDeciding(driver, [
    statement("SELECT key FROM ledger"),
    statement("SELECT unhex(alias) FROM aliases WHERE kind = 'key'"),
  ]);
  return [
    erasureKey(bytesOf(own?.[0]?.[0])),
    ...(others ?? []).map(([key]) => bytesOf(key)),
  ];
}

/** How another ledger's key is kept among the aliases. */
export function keyRow(
  key: Uint8Array,
): readonly [Uint8Array, string, string] {
  const hash = new Uint8Array(createHash("sha256").update(key).digest());
  return [hash, "key", hexOf(key)];
}

/** An alias that was found. */
export interface Found {
  readonly kind: AliasKind;
  readonly hash: Uint8Array;
  readonly alias: Alias;
}

/** Names looked up at once. */
const AT_ONCE = 500;

/** Looks up which of some names are known, by the name as it was given. */
export async function readAliases(
  driver: Driver,
  kinds: readonly AliasKind[],
  names: Iterable<string>,
): Promise<Map<string, Found>> {
  const found = new Map<string, Found>();
  const all = [...new Set(names)];
  if (all.length === 0) return found;
  const keys = await readKeys(driver);
  const as = [...new Set(kinds.map(hashedAs))];
  for (let from = 0; from < all.length; from += AT_ONCE) {
    // Two names that differ in case alone have one hash.
    const hidden = new Map<string, string[]>();
    for (const name of all.slice(from, from + AT_ONCE)) {
      for (const key of keys) {
        for (const kind of as) {
          const hash = hexOf(hideName(key, kind, name));
          hidden.set(hash, [...hidden.get(hash) ?? [], name]);
        }
      }
    }
    const [rows] = await readDeciding(driver, [statement(
      `SELECT hash, kind, alias FROM aliases
        WHERE hash IN (SELECT unhex(value) FROM json_each(?))`,
      listed(hidden.keys()),
    )]);
    for (const [hash, kind, alias] of rows ?? []) {
      if (!kinds.includes(kind as AliasKind)) continue;
      for (const name of hidden.get(hexOf(bytesOf(hash))) ?? []) {
        found.set(name, {
          kind: kind as AliasKind,
          hash: bytesOf(hash),
          alias: JSON.parse(String(alias)),
        });
      }
    }
  }
  return found;
}

/** A user who was erased. */
export interface ErasedName {
  readonly hash: Uint8Array;
  /** When, UTC ISO 8601. */
  readonly erasedAt: string;
  /** When the user became a customer again, UTC ISO 8601; null while not. */
  readonly returnedAt: string | null;
}

/** Looks up which of some users or click ids were erased. */
export async function readErasedNames(
  driver: Driver,
  kind: "user" | "click",
  names: Iterable<string>,
): Promise<ReadonlyMap<string, ErasedName>> {
  const found = await readAliases(driver, [kind], names);
  return new Map(
    [...found].map(([name, { hash, alias: { at, back = null } }]) => [
      name,
      {
        hash,
        erasedAt: String(at),
        returnedAt: back === null ? null : String(back),
      },
    ]),
  );
}

/** What stands in an order for the people whom it named. */
export interface ErasedOrder {
  readonly orderId: string;
  readonly userId: string | null;
  readonly clickId: string | null;
  /** When, UTC ISO 8601. */
  readonly erasedAt: string;
}

/** Looks up which of some orders are erased. */
export async function readErasedOrders(
  driver: Driver,
  orderIds: Iterable<string>,
): Promise<Map<string, ErasedOrder>> {
  const found = await readAliases(driver, ["order"], orderIds);
  return new Map(
    [...found].filter(([orderId, { alias }]) => alias.id === orderId)
      .map(([orderId, { alias: { user, click, at } }]) => [orderId, {
        orderId,
        userId: user === null ? null : String(user),
        clickId: click === null ? null : String(click),
        erasedAt: String(at),
      }]),
  );
}

export function insertErasedOrder(
  key: Uint8Array,
  { orderId, userId, clickId, erasedAt }: ErasedOrder,
): Statement {
  const alias = { id: orderId, user: userId, click: clickId, at: erasedAt };
  return insertAlias(key, "order", [orderId, alias]);
}

/** Every alias, as an export has them; the own key first, where there are any. */
export async function readAliasRows(
  driver: Driver,
): Promise<(readonly SqlValue[])[]> {
  const [rows = [], own] = await readDeciding(driver, [
    statement("SELECT hash, kind, alias FROM aliases ORDER BY kind, hash"),
    statement("SELECT key FROM ledger"),
  ]);
  const others = new Set(
    rows.filter(([, kind]) => kind === "key").map(([, , key]) => key),
  );
  const key = keyRow(erasureKey(bytesOf(own?.[0]?.[0])));
  if (rows.length === 0 || others.has(key[2])) return [...rows];
  return [key, ...rows];
}
