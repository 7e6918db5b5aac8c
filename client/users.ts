import anyAscii from "any-ascii";
import { brokenUserRules, USER_FIELDS } from "../core/rules/request_rules.ts";
import type { Fault } from "./errors.ts";
import { fieldsOf, unknownFields, without } from "./faults.ts";

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

/**
 * Checks a user against every rule of the service. No fault quotes a value,
 * because all of them are personal.
 *
 * @param input The user.
 * @param extra Fields, or values of fields, that this version does not know; no
 * rule is applied to what they name.
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
export function checkUserInput(
  input: UserInput,
  extra: Readonly<Record<string, unknown>> = {},
): readonly Fault[] {
  const fields = fieldsOf(input);
  return without(extra, [
    ...unknownFields(fields, USER_FIELDS),
    ...brokenUserRules({ ...fields, ...extra }),
  ]);
}

/**
 * Writes a name in the letters the service accepts: A-Z, a-z and 0-9, without
 * spaces, accents, hyphens or apostrophes. Nothing in this package calls it
 * automatically, because people should see how their name will be written.
 *
 * @param name A name in any script.
 * @returns The name in English letters; possibly empty, and not cut to length.
 *
 * @example Standardise before creating a user
 * ```ts
 * import { toEnglishName } from "@rampkit/onramp/client";
 * import assert from "node:assert/strict";
 *
 * assert.equal(toEnglishName("Łukasz"), "Lukasz");
 * assert.equal(toEnglishName("O’Brien-Müller"), "OBrienMuller");
 * assert.equal(toEnglishName("Дмитрий"), "Dmitriy");
 * ```
 */
export function toEnglishName(name: string): string {
  return anyAscii(name.normalize("NFC")).replace(/[^A-Za-z0-9]/g, "");
}
