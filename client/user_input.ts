import { alpha3Countries, usStates } from "./countries.ts";
import type { Fault } from "./errors/validation_error.ts";
import { Faults, fieldsOf } from "./_faults.ts";

/**
 * A user to create, whose light verification starts at once.
 *
 * Names are in English letters; `toEnglishName()` writes them so on request.
 *
 * Source: service interface, "POST /api/external/users/create".
 */
export interface UserInput {
  /** The user accepted the terms of service. */
  readonly has_accepted_terms_of_service: boolean;
  /** International format: a plus sign, then digits. */
  readonly phone: string;
  /** E-mail address. */
  readonly email: string;
  /** 2 to 30 characters of A-Z, a-z, 0-9; not all digits. */
  readonly first_name: string;
  /** Same rule as `first_name`. */
  readonly middle_name?: string;
  /** Same rule as `first_name`. */
  readonly last_name: string;
  /** `YYYY-MM-DD`. */
  readonly date_of_birth: string;
  /** ISO alpha-3 country code. */
  readonly country_of_residence: string;
  /** Two-letter US state code; required for USA, optional elsewhere. */
  readonly state_of_residence?: string;
}

/** A user that was just created. */
export interface CreatedUser {
  /** User identifier. */
  readonly user_id: string;
  /** Creation time, as sent. */
  readonly created_at: string;
}

const known = [
  "has_accepted_terms_of_service",
  "phone",
  "email",
  "first_name",
  "middle_name",
  "last_name",
  "date_of_birth",
  "country_of_residence",
  "state_of_residence",
];

const required = known.filter((field) =>
  field !== "middle_name" && field !== "state_of_residence"
);

/** How browsers check an e-mail field, plus a dot in the domain. */
const email =
  /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)+$/i;

/**
 * Checks a user against every rule of the service. No fault quotes a value,
 * because all of them are personal.
 *
 * @param input The user.
 * @returns Every fault; empty when the user can be sent.
 * @throws {TypeError} When `input` is not an object.
 *
 * @example See every fault at once
 * ```ts
 * import { checkUserInput } from "@rampkit/onramp/client";
 * import assert from "node:assert/strict";
 *
 * const faults = checkUserInput({
 *   has_accepted_terms_of_service: true,
 *   phone: "15551234567",
 *   email: "ann@example.com",
 *   first_name: "Ann",
 *   last_name: "O'Neill",
 *   date_of_birth: "1990-02-28",
 *   country_of_residence: "USA",
 * });
 * assert.deepEqual(faults.map((fault) => fault.field), [
 *   "phone",
 *   "last_name",
 *   "state_of_residence",
 * ]);
 * ```
 */
export function checkUserInput(input: UserInput): readonly Fault[] {
  const fields = fieldsOf(input);
  const faults = new Faults();
  faults.unknownFields(fields, known);
  for (const field of known) {
    const value = fields[field];
    if (value === undefined) {
      if (required.includes(field)) faults.add(field, "is missing");
      else if (
        field === "state_of_residence" && fields.country_of_residence === "USA"
      ) faults.add(field, "is missing; it is required for USA");
      continue;
    }
    const rule = ruleOf(field, value, fields.country_of_residence);
    if (rule !== null) faults.add(field, rule);
  }
  return faults.list;
}

function ruleOf(
  field: string,
  value: unknown,
  country: unknown,
): string | null {
  if (field === "has_accepted_terms_of_service") {
    return typeof value === "boolean" ? null : "must be true or false";
  }
  if (typeof value !== "string") return "must be a text";
  switch (field) {
    case "phone":
      return /^\+[1-9][0-9]{1,14}$/.test(value)
        ? null
        : "must be in international format: a plus sign, then at most 15 digits";
    case "email":
      return email.test(value) ? null : "must be an e-mail address";
    case "date_of_birth":
      return isDate(value)
        ? null
        : "must be a date of the calendar as YYYY-MM-DD";
    case "country_of_residence":
      return alpha3Countries.has(value)
        ? null
        : `must be an ISO alpha-3 country code, such as "USA"`;
    case "state_of_residence":
      return stateRule(value, country);
    default:
      return nameRule(value);
  }
}

function stateRule(value: string, country: unknown): string | null {
  if (country === "USA" ? usStates.has(value) : /^[A-Z]{2}$/.test(value)) {
    return null;
  }
  return `must be a two-letter state code of the USA, such as "CA"`;
}

function nameRule(value: string): string | null {
  if (/^[A-Za-z0-9]{2,30}$/.test(value) && !/^[0-9]+$/.test(value)) {
    return null;
  }
  return "must be 2 to 30 characters of A-Z, a-z and 0-9, and not all " +
    "digits; toEnglishName() writes a name so";
}

function isDate(value: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(value)) return false;
  const time = Date.parse(`${value}T00:00:00Z`);
  return !Number.isNaN(time) &&
    new Date(time).toISOString().startsWith(value);
}
