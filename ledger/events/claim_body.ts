/** What a webhook says of an order's fields; null is unsaid. */
export interface ClaimBody {
  /** Digest of the body. */
  readonly digest: string;
  /** Fiat currency, upper case. */
  readonly currency: string | null;
  /** Amount in `currency`, a decimal string. */
  readonly currencyAmount: string | null;
  /** Asset code, upper case. */
  readonly commodity: string | null;
  /** Amount of the asset, a decimal string. */
  readonly cryptoAmount: string | null;
  /** Address the asset goes to. */
  readonly address: string | null;
  /** Transaction hash. */
  readonly txId: string | null;
  /** User identifier. */
  readonly userId: string | null;
  /** Click id. */
  readonly clickId: string | null;
  /** Short identifier shown to people. */
  readonly externalOrderId: string | null;
  /** `error_code` of a failed order. */
  readonly failReason: string | null;
  /** Address of a smart contract. */
  readonly scAddress: string | null;
  /** Input data of a smart-contract order. */
  readonly scInputData: string | null;
}
