import * as z from "zod/mini";
import { isRecord } from "../core/guards.ts";
import {
  ADDRESS_FIELDS,
  brokenCardRules,
  CARD_FIELDS,
} from "../core/rules/request_rules.ts";
import { type Api, promised } from "./transport.ts";
import type { CallOptions } from "./call_options.ts";
import type { Fault } from "./errors.ts";
import { fieldsOf, refuseFaults } from "./faults.ts";

/** Cards. */
export interface CardsApi {
  /**
   * Registers a card for a user created through the API. Enabled per partner.
   * Sent once: repeating it is not known to be safe.
   *
   * @throws {ValidationError} When the input breaks a rule; lists every fault.
   * @throws {CardError} When the service refuses the card.
   * @throws {OnrampError} When the call fails.
   */
  register(input: CardInput, options?: CallOptions): Promise<RegisteredCard>;
}

const registeredCardSchema = z.looseObject({
  card_id: z.string().check(z.minLength(1)),
});

/** Makes the cards part of a client. */
export function cardsApi(api: Api): CardsApi {
  return {
    async register(input, { signal } = {}) {
      const action = "Cannot register the card";
      refuseFaults(action, checkCardInput(input));
      const answer = await api.ask({
        operation: "cards.register",
        action,
        url: `${api.environment.cardsBaseUrl}/api/v1/partner/register`,
        body: JSON.stringify(input),
        repeatable: false,
        secret: input.card_number,
        signal,
      });
      const { card_id } = promised(registeredCardSchema, answer, action);
      return { card_id };
    },
  };
}

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

/**
 * Checks a card against every rule of the service. No fault quotes a value.
 *
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
  const { billing_address: address } = fields;
  return [
    ...others("card", fields, CARD_FIELDS),
    ...others(
      "billing_address",
      isRecord(address) ? address : {},
      ADDRESS_FIELDS,
    ),
    ...brokenCardRules(fields),
  ];
}

/** Does not quote the names: one of them may be the card number. */
function others(
  field: string,
  fields: object,
  known: readonly string[],
): readonly Fault[] {
  return Object.keys(fields).every((name) => known.includes(name))
    ? []
    : [{ field, rule: `has other fields than ${known.join(", ")}` }];
}
