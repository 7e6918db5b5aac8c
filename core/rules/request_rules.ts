import { isRecord } from "../guards.ts";
import { isCalendarDate } from "../time/service_time.ts";
import {
  alpha2Countries,
  alpha3Countries,
  canadianProvinces,
  usStates,
} from "./countries.ts";
import { isEmail, isPersonName, isPhone } from "./text_rules.ts";

/** A field that breaks its rule. */
export interface BrokenRule {
  /** The field, in the service's spelling, dotted where nested. */
  readonly field: string;
  /** What is wrong and what to do, as the end of a sentence. No value in it. */
  readonly rule: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** All that is said of a field of a request. */
interface FieldRule {
  readonly fits: (value: unknown, others: Fields) => boolean;
  /** What it must be. */
  readonly rule: string;
  /** Where it may not be left out. @default {everywhere} */
  readonly neededIn?: (others: Fields) => boolean;
  /** What is said then. @default {"is missing"} */
  readonly missing?: string;
}

type Rules = Readonly<Record<string, FieldRule>>;

const like = (form: RegExp) => text((value) => form.test(value));
const text = (fits: (value: string) => boolean) => (value: unknown) =>
  typeof value === "string" && fits(value);
const listed = (list: ReadonlySet<string>) => text((value) => list.has(value));

/** States of the countries that need one; elsewhere any two letters. */
const stateOf =
  (lists: Readonly<Record<string, ReadonlySet<string>>>, country: string) =>
  (value: unknown, others: Fields): boolean =>
    typeof value === "string" &&
    (lists[String(others[country])]?.has(value) ?? /^[A-Z]{2}$/.test(value));

const CARD_STATES = { US: usStates, CA: canadianProvinces };
const USER_STATES = { USA: usStates };

/** Source: service interface, "POST /api/v1/partner/register (card register)". */
const CARD: Rules = {
  card_number: {
    fits: like(/^.{12,19}$/s),
    rule: "must be 12 to 19 characters",
  },
  exp_month: {
    fits: like(/^(?:0[1-9]|1[0-2])$/),
    rule: "must be two digits, 01 to 12",
  },
  exp_year: { fits: like(/^[0-9]{4}$/), rule: "must be four digits" },
  user_id: { fits: like(/\S/), rule: "must not be empty" },
  billing_address: { fits: isRecord, rule: "must be an object" },
};

const ADDRESS: Rules = {
  country: {
    fits: listed(alpha2Countries),
    rule: `must be an ISO alpha-2 country code, such as "US"`,
  },
  state: {
    fits: stateOf(CARD_STATES, "country"),
    rule: "must be a two-letter state code of its country; leave it out " +
      "elsewhere than in the USA and Canada",
    neededIn: ({ country }) => Object.hasOwn(CARD_STATES, String(country)),
    missing: "is missing; it is required for USA and Canada",
  },
  postal_code: {
    fits: like(/^(?=.*\S)[A-Za-z0-9 -]{2,10}$/),
    rule: "must be 2 to 10 letters, digits, spaces and hyphens",
  },
  city: {
    fits: like(/^(?=.*[A-Za-z])[A-Za-z0-9 ]{2,25}$/),
    rule: "must be 2 to 25 characters of A-Z, a-z, 0-9 and spaces, and not " +
      "all digits",
  },
  street: {
    fits: like(/^(?=.*[A-Za-z])[A-Za-z0-9 ]{2,35}$/),
    rule: "must be 2 to 35 characters of A-Z, a-z, 0-9 and spaces, and not " +
      "all digits",
  },
};

const name = {
  fits: text(isPersonName),
  rule: "must be 2 to 30 characters of A-Z, a-z and 0-9, and not all digits; " +
    "toEnglishName() writes a name so",
};

/** Source: service interface, "POST /api/external/users/create". */
const USER: Rules = {
  has_accepted_terms_of_service: {
    fits: (value) => typeof value === "boolean",
    rule: "must be true or false",
  },
  phone: {
    fits: text(isPhone),
    rule: "must be in international format: a plus sign, then 7 to 15 digits",
  },
  email: { fits: text(isEmail), rule: "must be an e-mail address" },
  first_name: name,
  middle_name: { ...name, neededIn: () => false },
  last_name: name,
  date_of_birth: {
    fits: text(isCalendarDate),
    rule: "must be a date of the calendar as YYYY-MM-DD",
  },
  country_of_residence: {
    fits: listed(alpha3Countries),
    rule: `must be an ISO alpha-3 country code, such as "USA"`,
  },
  state_of_residence: {
    fits: stateOf(USER_STATES, "country_of_residence"),
    rule: `must be a two-letter state code of the USA, such as "CA"`,
    neededIn: (others) => others.country_of_residence === "USA",
    missing: "is missing; it is required for USA",
  },
};

/** Fields of a card to register. */
export const CARD_FIELDS: readonly string[] = Object.keys(CARD);
/** Fields of its billing address. */
export const ADDRESS_FIELDS: readonly string[] = Object.keys(ADDRESS);
/** Fields of a user to create. */
export const USER_FIELDS: readonly string[] = Object.keys(USER);

/**
 * Checks a card; each field that is at fault, in the order of the table. Fields
 * of other names are not looked at.
 */
export function brokenCardRules(
  fields: Fields,
): readonly BrokenRule[] {
  const { billing_address: address } = fields;
  return [
    ...broken(CARD, fields),
    ...(isRecord(address) ? broken(ADDRESS, address) : []).map((
      { field, rule },
    ) => ({ field: `billing_address.${field}`, rule })),
  ];
}

/** Checks a user, as {@linkcode brokenCardRules} does a card. */
export function brokenUserRules(
  fields: Fields,
): readonly BrokenRule[] {
  return broken(USER, fields);
}

function broken(rules: Rules, fields: Fields): readonly BrokenRule[] {
  const found: BrokenRule[] = [];
  for (const [field, one] of Object.entries(rules)) {
    const { fits, rule, neededIn, missing = "is missing" } = one;
    const value = fields[field];
    if (value !== undefined) {
      if (!fits(value, fields)) found.push({ field, rule });
    } else if (neededIn?.(fields) ?? true) {
      found.push({ field, rule: missing });
    }
  }
  return found;
}

/**
 * How the service refuses to register a card: status, number where it gives one,
 * description, and the field at fault where it is one.
 *
 * Source: service interface, "Errors", "Card register".
 */
export const CARD_REFUSALS = {
  invalid_card_number: [400, null, "Invalid card", "card_number"],
  invalid_exp_month: [400, null, "Invalid exp month", "exp_month"],
  invalid_exp_year: [400, null, "Invalid year", "exp_year"],
  card_expired: [400, null, "Card expired", null],
  invalid_billing_address: [
    400,
    121,
    "invalid billing address information",
    "billing_address",
  ],
  too_many_cards: [
    400,
    109,
    "attempt to register more cards than allowed",
    null,
  ],
  card_already_registered: [400, 113, "card already registered", "card_number"],
  user_not_found: [400, 309, "user not found", "user_id"],
  user_banned: [400, 310, "user banned", "user_id"],
  restricted_action: [403, 1022, "restricted action", null],
  partner_not_allowed: [403, 1023, "partner not allowed", null],
  unauthorized: [403, 9002, "invalid partner key", null],
  partner_blocked: [403, 1006, "partner is blocked", null],
} as const;

/** The name of one of them. */
export type CardRefusal = keyof typeof CARD_REFUSALS;
