import { emptyRecord } from "../../../core/guards.ts";
import {
  CLAIM_FIELDS,
  type ClaimBody,
  type ClaimField,
} from "../../events/order_facts.ts";
import type { OrderReading } from "../../events/order_reading.ts";
import type { Claim } from "../../orders/claims.ts";
import type { Said } from "./_said.ts";

/** A claim, by place: its status, its time, and its bodies. */
export type PackedClaim = readonly [
  Claim["status"],
  string,
  readonly PackedBody[],
];

/**
 * A claim body: the digest, where the value of each of `places` stands as one
 * letter a place, and the values that stand nowhere else.
 */
type PackedBody = readonly [string, string, ...string[]];

/** Nothing, as in all places after the last letter. */
const NONE = "n";
/** What the latest reading says. */
const AS_READ = "r";
/** What the body before says. */
const AS_BEFORE = "b";
/** What the state says. */
const AS_SAID = "s";
/** The next of the values. */
const VALUE = "v";

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
 * the state says, which is written as a letter, so that a fold is half as large.
 */
export function packClaims(
  claims: readonly Claim[],
  reading: OrderReading | null,
  said: Said,
): readonly PackedClaim[] {
  let before: ClaimBody | undefined;
  const pack = (body: ClaimBody): PackedBody => {
    const packed: [string, string, ...string[]] = [body.digest, ""];
    let letters = "";
    let filled = 0;
    for (const [field, read] of places) {
      const value = body[field];
      if (value === null) {
        letters += NONE;
        continue;
      }
      if (read !== null && value === reading?.[read]) letters += AS_READ;
      else if (value === before?.[field]) letters += AS_BEFORE;
      else if (value === said[field]) letters += AS_SAID;
      else {
        letters += VALUE;
        packed.push(value);
      }
      filled = letters.length;
    }
    before = body;
    packed[1] = letters.slice(0, filled);
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
  const unpack = (packed: PackedBody): ClaimBody => {
    const [digest, letters] = packed;
    const body = { ...noBody, digest };
    let next = 2;
    for (let place = 0; place < letters.length; place++) {
      const [field, read] = places[place] as typeof places[number];
      switch (letters[place]) {
        case AS_READ:
          body[field] = reading?.[read ?? "digest"] ?? null;
          break;
        case AS_BEFORE:
          body[field] = before?.[field] ?? null;
          break;
        case AS_SAID:
          body[field] = said[field] as string;
          break;
        case VALUE:
          body[field] = packed[next++] ?? null;
      }
    }
    return before = body;
  };
  return packed.map(([status, lastAt, bodies]) => ({
    status,
    lastAt,
    bodies: bodies.map(unpack),
  }));
}
