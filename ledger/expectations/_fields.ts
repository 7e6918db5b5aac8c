import {
  compareDecimals,
  countDecimals,
  isDecimal,
} from "../../core/decimal.ts";
import {
  FIAT_CURRENCIES,
  FIAT_DECIMALS,
} from "../../core/rules/session_limits.ts";
import { isWalletAddress } from "../../core/rules/wallet_address.ts";
import { printable } from "../../core/printable.ts";
import { readQueryTime } from "../../core/time/service_time.ts";
import {
  isIdentifier,
  isLongText,
  LONGEST_IDENTIFIER,
} from "../../core/wire/identifier.ts";
import { MOST_VALID_FOR_MS } from "../events/expectation.ts";
import { linking } from "../events/fact_text.ts";
import type { ExpectationIssue } from "./expectation_error.ts";

/** The longest amount, in characters. */
const LONGEST_AMOUNT = 100;
/** A time further ahead of our clock than this is refused as wrong. */
const AHEAD_MS = 5 * 60_000;

/** How a field is read: its value as it is stored, or what is wrong. */
type Check = (value: unknown, now: number) => Read;
type Read = { readonly stored: string | number } | { readonly wrong: string };

const identifier: Check = (value) =>
  isIdentifier(value) ? { stored: value } : {
    wrong: `is ${kindOf(value)}; use 1 to ${LONGEST_IDENTIFIER} bytes in UTF-8`,
  };

const clickId: Check = (value, now) =>
  value === "" || linking(String(value)) !== null ? identifier(value, now) : {
    wrong: 'is "test_click_id", which the service uses for test events; ' +
      "use one of your own for each purchase",
  };

const amount: Check = (value) => {
  const text = Number.isSafeInteger(value) ? String(value) : value;
  if (
    typeof text !== "string" || text.length > LONGEST_AMOUNT || !isDecimal(text)
  ) {
    return {
      wrong: `is ${shown(value)}; use a decimal in quotes, such as "25.50"`,
    };
  }
  return compareDecimals(text, "0") > 0
    ? { stored: text }
    : { wrong: `is ${shown(value)}; use an amount above zero` };
};

const fiatAmount: Check = (value, now) => {
  const read = amount(value, now);
  if ("wrong" in read || countDecimals(String(read.stored)) <= FIAT_DECIMALS) {
    return read;
  }
  return {
    wrong: `is ${shown(value)}; use at most ${FIAT_DECIMALS} decimals, which ` +
      "is all that can be paid",
  };
};

const currency: Check = (value) =>
  typeof value === "string" && FIAT_CURRENCIES.includes(value.toUpperCase())
    ? { stored: value }
    : { wrong: `is ${shown(value)}; use ${FIAT_CURRENCIES.join(" or ")}` };

/** The service made the session, so it may know a currency that we do not. */
export function readCurrencyOfSession(value: unknown, now: number): Read {
  return typeof value === "string" && /^[A-Za-z]{3}$/.test(value)
    ? { stored: value }
    : currency(value, now);
}

const time: Check = (value, now) => {
  const timeMs = typeof value === "string" ? readQueryTime(value) : null;
  if (timeMs === null) {
    return {
      wrong: `is ${shown(value)}; use a time such as 2026-11-20T09:00:00Z`,
    };
  }
  return timeMs <= now + AHEAD_MS
    ? { stored: new Date(timeMs).toISOString() }
    : { wrong: `is ${shown(value)}, which is in the future` };
};

const duration: Check = (value) =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 &&
    value <= MOST_VALID_FOR_MS
    ? { stored: value }
    : {
      wrong: `is ${shown(value)}; use whole milliseconds from 1 to ` +
        `${MOST_VALID_FOR_MS}`,
    };

/** Fields that say what an order is compared with. */
export const TERMS = {
  currency,
  currency_amount: fiatAmount,
  commodity: identifier,
  network: identifier,
  commodity_amount: amount,
  user_id: identifier,
  wallet_address: identifier,
} as const satisfies Readonly<Record<string, Check>>;

/** Fields that every expectation has. */
export const SHARED = {
  click_id: clickId,
  reference: identifier,
  valid_for_ms: duration,
  asked_at: time,
} as const satisfies Readonly<Record<string, Check>>;

/** Fields of a session alone. */
export const OF_SESSION = {
  session_id: identifier,
  request_id: identifier,
  flow_type: identifier,
} as const satisfies Readonly<Record<string, Check>>;

/** Reads fields one by one, and collects what is wrong with them. */
export class FieldReader {
  /** Every field that is at fault. */
  readonly issues: ExpectationIssue[] = [];
  readonly #now: number;

  constructor(now: number) {
    this.#now = now;
  }

  /** Reads the fields that are there, in the order in which they came. */
  read(
    given: Readonly<Record<string, unknown>>,
    checks: Readonly<Record<string, Check>>,
    { nameOf = (name) => name, path = "" }: {
      readonly nameOf?: (given: string) => string;
      readonly path?: string;
    } = {},
  ): Record<string, string | number> {
    const stored: Record<string, string | number> = {};
    for (const [field, value] of Object.entries(given)) {
      const name = nameOf(field);
      if (value === undefined || value === null) continue;
      const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
      if (check === undefined) continue;
      const read = check(value, this.#now);
      if ("stored" in read) stored[name] = read.stored;
      else this.issues.push({ field: path + field, message: read.wrong });
    }
    return stored;
  }

  /**
   * Notes that an address cannot be one of its network: no order would ever match
   * it.
   */
  checkWallet(
    { network, wallet_address: address }: Readonly<
      Record<string, string | number>
    >,
    field: string,
  ): void {
    if (typeof network !== "string" || typeof address !== "string") return;
    if (isWalletAddress(network, address) !== false) return;
    const message = `is no address of ${printable(network)}; correct it`;
    this.issues.push({ field, message });
  }

  /** Notes that a field is missing. */
  missing(field: string, hint: string): void {
    this.issues.push({ field, message: `is missing; ${hint}` });
  }
}

/** The kind of a value that may be personal. */
function kindOf(value: unknown): string {
  if (value === "") return "empty";
  if (typeof value !== "string") return `of type ${typeof value}`;
  return isLongText(value)
    ? `${new TextEncoder().encode(value).length} bytes long`
    : "no well-formed text";
}

function shown(value: unknown): string {
  const text = printable(JSON.stringify(value) ?? String(value));
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
