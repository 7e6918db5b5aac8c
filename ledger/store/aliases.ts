/**
 * What must be recognised of erased people when it comes again, hidden behind keyed
 * hashes: nobody can read it, also not who has the file and guesses at random.
 */
import { createHash, createHmac } from "node:crypto";
import {
  bytesOf,
  type Driver,
  listed,
  readDeciding,
  type SqlValue,
  type Statement,
  statement,
} from "./database.ts";
import { hexOf } from "./events.ts";

/** A user who was erased, recognised by a keyed hash of the id. */
export interface ErasedUser {
  /** When, UTC ISO 8601. */
  readonly erasedAt: string;
  /** When the user became a customer again, UTC ISO 8601; null while not. */
  readonly returnedAt: string | null;
}

export interface ErasedOrder {
  readonly orderId: string;
  readonly userId: string | null;
  readonly clickId: string | null;
  readonly erasedAt: string;
}

/** A person who was erased. */
export interface ErasedPerson {
  /** Pseudonym of the user in the orders that are kept. */
  readonly pseudonym: string;
  /** When, UTC ISO 8601. */
  readonly erasedAt: string;
  /** Events that were blanked. */
  readonly events: number;
  /** Orders that are kept without names. */
  readonly orders: number;
}

/** An order that an erased user made later. */
export interface ReturnedOrder {
  /** The order. */
  readonly orderId: string;
  /** When the ledger learnt of it, UTC ISO 8601. */
  readonly knownAt: string;
}

/** Whether a value is certainly the person's, or merely chosen. */
export type Ownership = "own" | "chosen";

/** What is kept with a hash, by what the hash is of. */
export interface AliasOf {
  readonly user: ErasedUser;
  readonly click: Pick<ErasedUser, "erasedAt">;
  readonly order: ErasedOrder;
  /** An id that other bodies may hold anywhere. */
  readonly value: { readonly is: Ownership; readonly length: number };
  readonly person: ErasedPerson;
  readonly returned: ReturnedOrder;
}

export type AliasKind = keyof AliasOf;

/** Hash, kind and what is kept, as JSON. Of the kind `key` it is another ledger's key. */
export type AliasRow = readonly [Uint8Array, string, string];

/**
 * An id in the form in which it is compared: the service writes its ids in one
 * case, senders of webhooks in any, and with blanks around.
 */
export function comparedId(id: string): string {
  return id.trim().replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
}

export function isSameId(a: string | null, b: string | null): boolean {
  return a === b ||
    (a !== null && b !== null && comparedId(a) === comparedId(b));
}

function hideName(key: Uint8Array, kind: AliasKind, name: string): Uint8Array {
  return new Uint8Array(
    createHmac("sha256", key).update(`${kind}\0${comparedId(name)}`).digest(),
  );
}

/** Names are hidden with a key of their own: an export of who was erased holds it. */
function erasureKey(ledgerKey: Uint8Array): Uint8Array {
  const hash = createHash("sha256").update("rampkit/erasure/1\n");
  return new Uint8Array(hash.update(ledgerKey).digest());
}

export function aliasRow<Kind extends AliasKind>(
  key: Uint8Array,
  kind: Kind,
  [name, alias]: readonly [string, AliasOf[Kind]],
): AliasRow {
  return [hideName(key, kind, name), kind, JSON.stringify(alias)];
}

export function insertAlias<Kind extends AliasKind>(
  ledgerKey: Uint8Array,
  kind: Kind,
  named: readonly [string, AliasOf[Kind]],
): Statement {
  return statement(INSERT, ...aliasRow(erasureKey(ledgerKey), kind, named));
}

/** From an export: one that is older than what is known changes nothing. */
export function insertAliasRow(row: AliasRow): Statement {
  const sql = `${INSERT} AND ${madeAt("excluded")} >= ${madeAt("aliases")}`;
  return statement(sql, ...row);
}

const INSERT = `INSERT INTO aliases VALUES (?, ?, ?)
  ON CONFLICT (hash) DO UPDATE SET alias = excluded.alias
  WHERE kind <> 'returned' AND coalesce(alias ->> 'is', '') <> 'own'`;

const madeAt = (row: string) =>
  `(coalesce(${row}.alias ->> 'erasedAt', '') ||
    coalesce(${row}.alias ->> 'returnedAt', ''))`;

export async function readKeys(driver: Driver): Promise<Uint8Array[]> {
  const [own, others] = await readDeciding(driver, [
    statement("SELECT key FROM ledger"),
    statement("SELECT unhex(alias ->> 'key') FROM aliases WHERE kind = 'key'"),
  ]);
  return [
    erasureKey(bytesOf(own?.[0]?.[0])),
    ...(others ?? []).map(([key]) => bytesOf(key)),
  ];
}

export function keyRow(key: Uint8Array): AliasRow {
  const hash = new Uint8Array(createHash("sha256").update(key).digest());
  return [hash, "key", JSON.stringify({ key: hexOf(key) })];
}

const AT_ONCE = 500;

/** Looks up which of some names are known, by the name as it was given. */
export async function readAliases<Kind extends AliasKind>(
  driver: Driver,
  kind: Kind,
  names: Iterable<string>,
): Promise<Map<string, AliasOf[Kind] & { readonly hash: Uint8Array }>> {
  const found = new Map();
  const all = [...new Set(names)];
  const keys = all.length === 0 ? [] : await readKeys(driver);
  for (let from = 0; from < all.length; from += AT_ONCE) {
    const hidden = all.slice(from, from + AT_ONCE).flatMap((name) =>
      keys.map((key) => ({ name, hash: hexOf(hideName(key, kind, name)) }))
    );
    // Two names that differ in case alone have one hash.
    const byHash = Map.groupBy(hidden, ({ hash }) => hash);
    const [rows] = await readDeciding(driver, [statement(
      `SELECT hash, alias FROM aliases
        WHERE hash IN (SELECT unhex(value) FROM json_each(?))
        ORDER BY coalesce(alias ->> 'erasedAt', alias ->> 'is')`,
      listed(byHash.keys()),
    )]);
    // Of several ledgers, whose keys differ, the last erasure counts.
    for (const [stored, alias] of rows ?? []) {
      const hash = bytesOf(stored);
      for (const { name } of byHash.get(hexOf(hash)) ?? []) {
        found.set(name, { ...JSON.parse(String(alias)), hash });
      }
    }
  }
  return found;
}

export async function readErasedOrders(
  driver: Driver,
  orderIds: Iterable<string>,
): Promise<Map<string, ErasedOrder>> {
  const found = await readAliases(driver, "order", orderIds);
  return new Map([...found].filter(([id, { orderId }]) => id === orderId));
}

/** Every alias, as an export has them; the own key first, where there are any. */
export async function readAliasRows(
  driver: Driver,
): Promise<(readonly SqlValue[])[]> {
  const [[own = new Uint8Array()], [rows = []]] = await Promise.all([
    readKeys(driver),
    readDeciding(driver, [
      statement("SELECT hash, kind, alias FROM aliases ORDER BY kind, hash"),
    ]),
  ]);
  const key = keyRow(own);
  const isThere = rows.some(([, kind, alias]) =>
    kind === "key" && alias === key[2]
  );
  return rows.length === 0 || isThere ? [...rows] : [key, ...rows];
}
