import { OnrampError, type OnrampErrorFacts } from "./onramp_error.ts";
import type { CardErrorCode } from "./error_codes.ts";

/** The service refused to register a card. Never tried again by itself. */
export class CardError extends OnrampError {
  /** Name of the class. */
  override readonly name = "CardError";
  /** Why; `card_refused` where the reason is not documented. */
  override readonly code: CardErrorCode;
  /** Never: repeating a card registration is not safe. */
  override readonly retryable = false;

  /** Takes what to say, the facts of the call, and the reason. */
  constructor(
    message: string,
    facts: OnrampErrorFacts & { readonly code: CardErrorCode },
  ) {
    super(message, facts);
    this.code = facts.code;
  }
}
