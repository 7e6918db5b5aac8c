import { isCalendarDate } from "../time/service_time.ts";
import type { BrokenRule } from "./broken_rule.ts";
import { alpha3Countries } from "./alpha3_countries.ts";
import { usStates } from "./countries.ts";

/** Fields of a user to create, in the order of the service's table. */
export const USER_FIELDS = [
  "has_accepted_terms_of_service",
  "phone",
  "email",
  "first_name",
  "middle_name",
  "last_name",
  "date_of_birth",
  "country_of_residence",
  "state_of_residence",
] as const;

/** A field of a user to create. */
export type UserField = typeof USER_FIELDS[number];

/** How a field of a user breaks its rule. */
export type UserRuleCode = "missing" | "not_text" | "malformed";

/**
 * Checks a user against the form that the service asks for.
 *
 * Source: service interface, "POST /api/external/users/create".
 *
 * @param fields The request; fields of other names are not looked at.
 * @returns Each field that is at fault, in the order of the table.
 */
export function brokenUserRules(
  fields: Readonly<Record<string, unknown>>,
): readonly BrokenRule<UserField, UserRuleCode>[] {
  const broken: BrokenRule<UserField, UserRuleCode>[] = [];
  for (const field of USER_FIELDS) {
    const code = brokenRule(field, fields[field], fields.country_of_residence);
    if (code !== null) broken.push({ field, code });
  }
  return broken;
}

function brokenRule(
  field: UserField,
  value: unknown,
  country: unknown,
): UserRuleCode | null {
  if (value === undefined) return isRequired(field, country) ? "missing" : null;
  if (field === "has_accepted_terms_of_service") {
    return typeof value === "boolean" ? null : "malformed";
  }
  if (typeof value !== "string") return "not_text";
  return hasForm(field, value, country) ? null : "malformed";
}

function isRequired(field: UserField, country: unknown): boolean {
  if (field === "state_of_residence") return country === "USA";
  return field !== "middle_name";
}

function hasForm(
  field: Exclude<UserField, "has_accepted_terms_of_service">,
  text: string,
  country: unknown,
): boolean {
  switch (field) {
    case "phone":
      return isPhone(text);
    case "email":
      return isEmail(text);
    case "date_of_birth":
      return isCalendarDate(text);
    case "country_of_residence":
      return alpha3Countries.has(text);
    case "state_of_residence":
      return country === "USA" ? usStates.has(text) : /^[A-Z]{2}$/.test(text);
    case "first_name":
    case "middle_name":
    case "last_name":
      return isPersonName(text);
  }
}

/** How browsers check an e-mail field, and a dot in the domain. */
const email =
  /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)+$/i;

/** Whether a text is a phone number in E.164: a plus sign and 7 to 15 digits. */
export function isPhone(text: string): boolean {
  return /^\+[1-9]\d{6,14}$/.test(text);
}

/** Whether a text has the form of an e-mail address. */
export function isEmail(text: string): boolean {
  return email.test(text);
}

/**
 * Whether a text is a first, middle or last name as the service takes it: 2 to
 * 30 characters of A-Z, a-z and 0-9, not all digits.
 */
export function isPersonName(text: string): boolean {
  return /^(?!\d+$)[A-Za-z0-9]{2,30}$/.test(text);
}

/**
 * Whether a text can be the widget's `full_name`: letters, and somewhere in
 * them two English letters with a space between, which is the SDK's pattern.
 */
export function isFullName(text: string): boolean {
  return text.length >= 3 && text.length <= 69 &&
    /^(?=.*[A-Za-z]\s[A-Za-z])[\p{L}\p{M}\s.'’-]+$/u.test(text);
}
