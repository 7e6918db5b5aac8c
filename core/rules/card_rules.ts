import { isRecord } from "../guards.ts";
import type { BrokenRule } from "./broken_rule.ts";
import { alpha2Countries, canadianProvinces, usStates } from "./countries.ts";

/** Fields of a card to register. */
export const CARD_FIELDS = [
  "card_number",
  "exp_month",
  "exp_year",
  "user_id",
  "billing_address",
] as const;

/** Fields of a card's billing address. */
export const ADDRESS_FIELDS = [
  "country",
  "state",
  "postal_code",
  "city",
  "street",
] as const;

/** A field of a card to register. */
export type CardField =
  | typeof CARD_FIELDS[number]
  | `billing_address.${typeof ADDRESS_FIELDS[number]}`;

/** How a field of a card breaks its rule. */
export type CardRuleCode = "missing" | "malformed";

type Broken = BrokenRule<CardField, CardRuleCode>;

const forms: Readonly<Record<string, RegExp>> = {
  card_number: /^.{12,19}$/s,
  exp_month: /^(?:0[1-9]|1[0-2])$/,
  exp_year: /^[0-9]{4}$/,
  user_id: /\S/,
  postal_code: /^(?=.*\S)[A-Za-z0-9 -]{2,10}$/,
  city: /^(?=.*[A-Za-z])[A-Za-z0-9 ]{2,25}$/,
  street: /^(?=.*[A-Za-z])[A-Za-z0-9 ]{2,35}$/,
};

/**
 * Checks a card against the form that the service asks for.
 *
 * Source: service interface, "POST /api/v1/partner/register (card register)".
 *
 * @param fields The request; fields of other names are not looked at.
 * @returns Each field that is at fault, in the order of the table.
 */
export function brokenCardRules(
  fields: Readonly<Record<string, unknown>>,
): readonly Broken[] {
  return CARD_FIELDS.flatMap((field): readonly Broken[] => {
    const value = fields[field];
    if (field === "billing_address" && isRecord(value)) {
      return brokenAddressRules(value);
    }
    const code = brokenForm(value, forms[field]);
    return code === null ? [] : [{ field, code }];
  });
}

function brokenAddressRules(
  address: Readonly<Record<string, unknown>>,
): readonly Broken[] {
  return ADDRESS_FIELDS.flatMap((name): readonly Broken[] => {
    const value = address[name];
    const code = name === "country"
      ? brokenCountry(value)
      : name === "state"
      ? brokenState(value, address.country)
      : brokenForm(value, forms[name]);
    return code === null ? [] : [{ field: `billing_address.${name}`, code }];
  });
}

function brokenForm(value: unknown, form?: RegExp): CardRuleCode | null {
  if (value === undefined) return "missing";
  return typeof value === "string" && form?.test(value) ? null : "malformed";
}

function brokenCountry(value: unknown): CardRuleCode | null {
  if (value === undefined) return "missing";
  return typeof value === "string" && alpha2Countries.has(value)
    ? null
    : "malformed";
}

function brokenState(value: unknown, country: unknown): CardRuleCode | null {
  const states = statesOf(country);
  if (value === undefined) return states === null ? null : "missing";
  if (typeof value !== "string") return "malformed";
  const isState = states?.has(value) ?? /^[A-Z]{2}$/.test(value);
  return isState ? null : "malformed";
}

/** The states of a country whose cards need one. */
function statesOf(country: unknown): ReadonlySet<string> | null {
  if (country === "US") return usStates;
  return country === "CA" ? canadianProvinces : null;
}
