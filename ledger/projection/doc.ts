/** A row's documents: the fold, and beside it what was told, as JSON. */
import { CLAIM_FIELDS, type ClaimBody } from "../events/order_facts.ts";
import { type OrderReading, unread } from "../events/order_reading.ts";
import type { Claim } from "../orders/claims.ts";
import { initialOrderFold, type OrderFold } from "../orders/order_fold.ts";
import { latestReading } from "../orders/readings.ts";
import type { OrderReleases } from "../releases/release_log.ts";
import { initialUserFold, type UserFold } from "../users/user_fold.ts";

/** What was told of an order or a user. A refold keeps it. */
export interface Told {
  /** How often each code of the log was entered. */
  readonly times: Readonly<Record<string, number>>;
  /** The last status told of each machine whose entries recur. */
  readonly last: Readonly<Record<string, string>>;
  /** What the release log says of an order. */
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

/** Makes the document of an order. */
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
      const short = pack(CLAIM, shortened(body, [fold.latest, before]));
      before = body;
      return short;
    }),
  ]);
  return JSON.stringify(packed);
}

/** Reads what {@linkcode packOrder} made. */
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
      bodies: bodies.map((short) => {
        const body: Loose = unpack(CLAIM, short);
        for (const field of CLAIM_FIELDS) {
          if (body[field] === 1) body[field] = latest?.[field as Shared];
          if (body[field] === 2) body[field] = before?.[field];
        }
        return before = body as unknown as ClaimBody;
      }),
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
/** Fields that claims and readings share. */
type Shared = Exclude<keyof ClaimBody, "scAddress"> & keyof OrderReading;

/** Readings of a fold; the latest is one of them. */
const READINGS = ["plausible", "ahead", "statusless", "redacted"] as const;

/** Records by the places of their fields: names are half of their bytes. */
interface Places {
  readonly names: readonly string[];
  /** Values of fields that are left out. */
  readonly empty: Loose;
}

const READING = places(unread);
const CLAIM = places(
  Object.fromEntries(["digest", ...CLAIM_FIELDS].map((name) => [name, null])),
);

function places(empty: object): Places {
  return { names: Object.keys(empty), empty: empty as Loose };
}

/** Zero stands for what is left out, at the end nothing. */
function pack({ names, empty }: Places, record: object): unknown[] {
  const fields = record as Loose;
  const values = names.map((name) =>
    isSame(fields[name], empty[name]) ? 0 : fields[name]
  );
  while (values.at(-1) === 0) values.pop();
  return values;
}

function unpack({ names, empty }: Places, packed: readonly unknown[]): Loose {
  const record = { ...empty };
  packed.forEach((value, at) => {
    if (value !== 0) record[names[at] as string] = value;
  });
  return record;
}

function isSame(value: unknown, empty: unknown): boolean {
  return value === empty || (Array.isArray(value) && value.length === 0);
}

/** 1 where a claim says what the reading says, 2 what the claim before it says. */
function shortened(
  body: ClaimBody,
  [read, before]: readonly (object | null)[],
): object {
  const short: Loose = { ...body };
  for (const field of CLAIM_FIELDS) {
    if (body[field] === null) continue;
    if (body[field] === (read as Loose | null)?.[field]) short[field] = 1;
    else if (body[field] === (before as Loose | null)?.[field]) {
      short[field] = 2;
    }
  }
  return short;
}

/** The fields that say something. */
function filled(record: object, without: readonly string[]): Loose {
  return Object.fromEntries(
    Object.entries(record).filter(([name, value]) =>
      !without.includes(name) && !isEmpty(value)
    ),
  );
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === false ||
    (Array.isArray(value) && value.length === 0);
}
