import { type Api, refuseFaults } from "../http/api.ts";
import type { CallOptions } from "../http/call_options.ts";
import {
  type CardInput,
  checkCardInput,
  type RegisteredCard,
} from "./card_input.ts";
import { promised } from "../http/caller.ts";
import { registeredCardSchema } from "./schemas.ts";

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

const action = "Cannot register the card";

/** Makes the cards part of a client. */
export function cardsApi(api: Api): CardsApi {
  return {
    async register(input, options = {}): Promise<RegisteredCard> {
      refuseFaults(action, checkCardInput(input));
      const answer = await api.ask({
        operation: "cards.register",
        action,
        method: "POST",
        url: `${api.environment.cardsBaseUrl}/api/v1/partner/register`,
        body: JSON.stringify(input),
        repeatable: false,
        secrets: [input.card_number],
        signal: options.signal,
      });
      const { card_id } = promised(
        registeredCardSchema,
        answer,
        action,
      );
      return { card_id };
    },
  };
}
