import { emptyRecord } from "../../../core/guards.ts";
import {
  CLAIM_FIELDS,
  type ClaimBody,
  type ClaimField,
} from "../../events/claim_body.ts";
import type { OrderReading } from "../../events/order_reading.ts";
import type { Claim } from "../../orders/claims.ts";
import { asSaid, type Said } from "./_said.ts";

/** A claim, by place: its status, its time, and its bodies. */
export type PackedClaim = readonly [
  Claim["status"],
  string,
  readonly PackedBody[],
];

/** A claim body, by place: the digest, and a value for each of `places`. */
type PackedBody = readonly [
  string,
  ...(string | null | typeof asRead | typeof asBefore | typeof asSaid)[],
];

/** Stands for what the latest reading says. */
const asRead = 0;
/** Stands for what the body before says. */
const asBefore = 1;

/**
 * Fields of a claim body, in the order of their places, with the field of a
 * reading that says the same.
 */
const places = CLAIM_FIELDS.map((field) =>
  [field, field === "scAddress" ? null : field] as const
);

const noBody: Readonly<Record<ClaimField, string | null>> = emptyRecord(
  CLAIM_FIELDS,
);

/**
 * Packs claims. Most of a body says again what the reading, the body before or
 * the state says, which is written as a digit, so that a fold is half as large.
 */
export function packClaims(
  claims: readonly Claim[],
  reading: OrderReading | null,
  said: Said,
): readonly PackedClaim[] {
  let before: ClaimBody | undefined;
  const pack = (body: ClaimBody): PackedBody => {
    const packed: [string, ...PackedBody[1][]] = [body.digest];
    for (const [field, read] of places) {
      const value = body[field];
      packed.push(
        value === null
          ? null
          : read !== null && value === reading?.[read]
          ? asRead
          : value === before?.[field]
          ? asBefore
          : value === said[field]
          ? asSaid
          : value,
      );
    }
    before = body;
    return packed;
  };
  return claims.map(({ status, lastAt, bodies }) => [
    status,
    lastAt,
    bodies.map(pack),
  ]);
}

/** Unpacks what {@linkcode packClaims} wrote beside the same. */
export function unpackClaims(
  packed: readonly PackedClaim[],
  reading: OrderReading | null,
  said: Said,
): Claim[] {
  let before: ClaimBody | undefined;
  const unpack = (values: PackedBody): ClaimBody => {
    const body = { ...noBody, digest: values[0] };
    for (let place = 0; place < places.length; place++) {
      const [field, read] = places[place] as typeof places[number];
      const value = values[place + 1] ?? null;
      body[field] = value === asRead
        ? reading?.[read ?? "digest"] ?? null
        : value === asBefore
        ? before?.[field] ?? null
        : value === asSaid
        ? said[field] as string
        : value;
    }
    return before = body;
  };
  return packed.map(([status, lastAt, bodies]) => ({
    status,
    lastAt,
    bodies: bodies.map(unpack),
  }));
}
