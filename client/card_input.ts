import { alpha2Countries, canadianProvinces, usStates } from "./countries.ts";
import type { Fault } from "./errors/validation_error.ts";
import { Faults, fieldsOf } from "./_faults.ts";

/**
 * A card to register for a user who was created through the API. Needs the
 * partner's PCI DSS certification.
 *
 * Source: service interface, "POST /api/v1/partner/register (card register)".
 */
export interface CardInput {
  /** Card number, 12 to 19 characters. Never kept, shown or logged. */
  readonly card_number: string;
  /** Month of expiry, two digits. */
  readonly exp_month: string;
  /** Year of expiry, four digits. */
  readonly exp_year: string;
  /** The user, who must exist. */
  readonly user_id: string;
  /** Billing address of the card. */
  readonly billing_address: BillingAddress;
}

/** Billing address of a card. */
export interface BillingAddress {
  /** ISO alpha-2 country code. */
  readonly country: string;
  /** Two-letter code; required for USA and Canada only. */
  readonly state?: string;
  /** 2 to 10 letters, digits, spaces and hyphens. */
  readonly postal_code: string;
  /** 2 to 25 characters of A-Z, a-z, 0-9 and spaces; not all digits. */
  readonly city: string;
  /** 2 to 35 characters of A-Z, a-z, 0-9 and spaces; not all digits. */
  readonly street: string;
}

/** A card that was just registered. */
export interface RegisteredCard {
  /** Card identifier. */
  readonly card_id: string;
}

const known = [
  "card_number",
  "exp_month",
  "exp_year",
  "user_id",
  "billing_address",
];
const knownAddress = ["country", "state", "postal_code", "city", "street"];

/**
 * Checks a card against every rule of the service. No fault quotes a value.
 *
 * @param input The card.
 * @returns Every fault; empty when the card can be sent.
 * @throws {TypeError} When `input` is not an object.
 *
 * @example See every fault at once
 * ```ts
 * import { checkCardInput } from "@rampkit/onramp/client";
 * import assert from "node:assert/strict";
 *
 * const faults = checkCardInput({
 *   card_number: "4111",
 *   exp_month: "1",
 *   exp_year: "2030",
 *   user_id: "01HZX",
 *   billing_address: {
 *     country: "US",
 *     postal_code: "94105",
 *     city: "San Francisco",
 *     street: "1 Main St.",
 *   },
 * });
 * assert.deepEqual(faults.map((fault) => fault.field), [
 *   "card_number",
 *   "exp_month",
 *   "billing_address.state",
 *   "billing_address.street",
 * ]);
 * ```
 */
export function checkCardInput(input: CardInput): readonly Fault[] {
  const fields = fieldsOf(input);
  const faults = new Faults();
  // A card number put in the place of a name must not be quoted either.
  if (Object.keys(fields).some((field) => !known.includes(field))) {
    faults.add("card", `has other fields than ${known.join(", ")}`);
  }
  text(
    faults,
    "card_number",
    fields.card_number,
    "must be 12 to 19 characters",
    /^.{12,19}$/s,
  );
  text(
    faults,
    "exp_month",
    fields.exp_month,
    "must be two digits",
    /^[0-9]{2}$/,
  );
  text(
    faults,
    "exp_year",
    fields.exp_year,
    "must be four digits",
    /^[0-9]{4}$/,
  );
  text(faults, "user_id", fields.user_id, "must not be empty", /\S/);
  const { billing_address: address } = fields;
  if (typeof address !== "object" || address === null) {
    faults.add(
      "billing_address",
      address === undefined ? "is missing" : "must be an object",
    );
  } else {
    checkAddress(fieldsOf(address), faults);
  }
  return faults.list;
}

function checkAddress(fields: Record<string, unknown>, faults: Faults): void {
  if (Object.keys(fields).some((field) => !knownAddress.includes(field))) {
    faults.add(
      "billing_address",
      `has other fields than ${knownAddress.join(", ")}`,
    );
  }
  const { country } = fields;
  if (typeof country !== "string" || !alpha2Countries.has(country)) {
    faults.add(
      "billing_address.country",
      country === undefined
        ? "is missing"
        : `must be an ISO alpha-2 country code, such as "US"`,
    );
  }
  checkState(fields.state, country, faults);
  text(
    faults,
    "billing_address.postal_code",
    fields.postal_code,
    "must be 2 to 10 letters, digits, spaces and hyphens",
    /^(?=.*\S)[A-Za-z0-9 -]{2,10}$/,
  );
  text(
    faults,
    "billing_address.city",
    fields.city,
    "must be 2 to 25 characters of A-Z, a-z, 0-9 and spaces, and not all digits",
    /^(?=.*[A-Za-z])[A-Za-z0-9 ]{2,25}$/,
  );
  text(
    faults,
    "billing_address.street",
    fields.street,
    "must be 2 to 35 characters of A-Z, a-z, 0-9 and spaces, and not all digits",
    /^(?=.*[A-Za-z])[A-Za-z0-9 ]{2,35}$/,
  );
}

function checkState(state: unknown, country: unknown, faults: Faults): void {
  const field = "billing_address.state";
  const states = country === "US"
    ? usStates
    : country === "CA"
    ? canadianProvinces
    : null;
  if (state === undefined) {
    if (states !== null) {
      faults.add(field, "is missing; it is required for USA and Canada");
    }
  } else if (typeof state !== "string") {
    faults.add(field, "must be a text");
  } else if (states !== null && !states.has(state)) {
    faults.add(field, `must be a two-letter state code of ${country}`);
  } else if (states === null && !/^[A-Z]{2}$/.test(state)) {
    faults.add(field, "must be a two-letter code; leave it out elsewhere");
  }
}

function text(
  faults: Faults,
  field: string,
  value: unknown,
  rule: string,
  pattern: RegExp,
): void {
  if (value === undefined) faults.add(field, "is missing");
  else if (typeof value !== "string" || !pattern.test(value)) {
    faults.add(field, rule);
  }
}
