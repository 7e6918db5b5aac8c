/** Fields that a webhook and a reading of the Data API can both state. */
export interface OrderFacts {
  /** Fiat currency, upper case. */
  readonly currency: string | null;
  /** Amount in `currency`, a decimal string as sent. */
  readonly currencyAmount: string | null;
  /** Asset code in upper case. */
  readonly commodity: string | null;
  /** Network; webhooks do not state it. */
  readonly network: string | null;
  /** Amount of the asset, a decimal string as sent. */
  readonly cryptoAmount: string | null;
  /** Address the asset goes to. */
  readonly address: string | null;
  /** Transaction hash. */
  readonly txId: string | null;
  /** User identifier. */
  readonly userId: string | null;
  /** Click id; the test click id is left out. */
  readonly clickId: string | null;
  /** Short identifier shown to people. */
  readonly externalOrderId: string | null;
  /** Payment error code or text. */
  readonly failReason: string | null;
}
