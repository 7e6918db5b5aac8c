/** A row's documents: the fold, and beside it what was told, as JSON. */
import { CLAIM_FIELDS, type ClaimBody } from "../events/order_facts.ts";
import { unread } from "../events/order_reading.ts";
import {
  type Claim,
  initialOrderFold,
  latestReading,
  type OrderFold,
} from "../orders/order_fold.ts";
import type { OrderReleases } from "../releases/release_log.ts";
import { initialUserFold, type UserFold } from "../users/user_fold.ts";

/** What was told of an order or a user. A refold keeps it. */
export interface Told {
  /** How often each code of the log was entered. */
  readonly times: Readonly<Record<string, number>>;
  /** The last status told of each machine whose entries recur. */
  readonly last: Readonly<Record<string, string>>;
  readonly release?: OrderReleases;
  /** Status and entry of the last release, if it waits for a person. */
  readonly withheld?: readonly [status: string, entry: number];
}

export const NOTHING_TOLD: Told = { times: {}, last: {} };

/** A row of `orders` or `users`, as far as it is folded on. */
export interface Row<Fold> {
  readonly no: number;
  readonly fold: Fold;
  readonly told: Told;
  /** 0 news; 1 of before the ledger went live; 2 such a one, and listed. */
  readonly historic: number;
}

export function packOrder(fold: OrderFold): string {
  const packed = filled(fold, ["orderId", "latest"]);
  for (const name of READINGS) {
    const reading = fold[name];
    if (reading !== null) packed[name] = pack(READING, reading);
  }
  let before: ClaimBody | null = null;
  packed.claims = fold.claims.map(({ status, lastAt, bodies }) => [
    status,
    lastAt,
    ...bodies.map((body) => {
      const short = pack(CLAIM, body, fold.latest, before);
      before = body;
      return short;
    }),
  ]);
  return JSON.stringify(packed);
}

export function unpackOrder(orderId: string, document: string): OrderFold {
  const packed = JSON.parse(document) as Loose;
  const fold: Loose = { ...initialOrderFold(orderId), ...packed };
  for (const name of READINGS) {
    const reading = packed[name] as readonly unknown[] | undefined;
    if (reading !== undefined) fold[name] = unpack(READING, reading);
  }
  const latest = latestReading(fold as unknown as OrderFold);
  fold.latest = latest;
  let before: ClaimBody | null = null;
  fold.claims = (packed.claims as PackedClaim[]).map(
    ([status, lastAt, ...bodies]): Claim => ({
      status,
      lastAt,
      bodies: bodies.map((short) =>
        before = unpack(CLAIM, short, latest, before)
      ),
    }),
  );
  return fold as unknown as OrderFold;
}

export function packUser(fold: UserFold): string {
  return JSON.stringify(filled(fold, ["userId"]));
}

export function unpackUser(userId: string, document: string): UserFold {
  return { ...initialUserFold(userId), ...JSON.parse(document) };
}

type Loose = Record<string, unknown>;
type PackedClaim = readonly [Claim["status"], string, ...unknown[][]];

/** Readings of a fold; the latest is one of them. */
const READINGS = ["plausible", "ahead", "statusless", "redacted"] as const;

const READING = unread;
const CLAIM = Object.fromEntries(
  ["digest", ...CLAIM_FIELDS].map((name) => [name, null]),
) as unknown as ClaimBody;

/**
 * Writes a record by the places of its fields: names are half of its bytes. A number says
 * which record has the same: 0 an empty one, 1 the latest reading, 2 the claim before it.
 */
function pack(empty: object, record: object, ...others: (object | null)[]) {
  const known = [empty, ...others] as (Loose | null)[];
  const values = Object.keys(empty).map((name) => {
    const value = (record as Loose)[name];
    const same = known.findIndex((one) => one && isSame(value, one[name]));
    return same < 0 ? value : same;
  });
  while (values.at(-1) === 0) values.pop();
  return values;
}

function unpack<Record extends object>(
  empty: Record,
  packed: readonly unknown[],
  ...others: (object | null)[]
): Record {
  const known = [empty, ...others] as (Loose | null)[];
  const record = { ...empty } as Loose;
  for (const [at, name] of Object.keys(empty).entries()) {
    const value = at in packed ? packed[at] : 0;
    record[name] = typeof value === "number" ? known[value]?.[name] : value;
  }
  return record as Record;
}

function isSame(value: unknown, other: unknown): boolean {
  return value === other ||
    (Array.isArray(value) && value.length === 0 && Array.isArray(other));
}

/** The fields that say something. */
function filled(record: object, without: readonly string[]): Loose {
  return Object.fromEntries(
    Object.entries(record).filter(([name, value]) =>
      !without.includes(name) && value !== null && value !== undefined &&
      value !== false && !(Array.isArray(value) && value.length === 0)
    ),
  );
}
