import { isEmail, isPersonName, isPhone } from "./text_rules.ts";
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
