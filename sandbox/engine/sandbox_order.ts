import type { OrderStatus } from "../../core/wire/order.ts";

/** An order as the sandbox has it. */
export interface SandboxOrder {
  /** Unique identifier, a ULID. */
  readonly orderId: string;
  /** Short identifier for people, six characters. */
  readonly externalOrderId: string;
  /** Click id of the widget session; may be empty. */
  readonly clickId: string;
  /** Widget session; null for NFT Checkout. */
  readonly sessionId: string | null;
  /** Who buys. */
  readonly userId: string;
  /** Card used. */
  readonly cardId: string;
  /** Card brand, upper case. */
  readonly cardBrand: string;
  /** Fiat currency, upper case. */
  readonly currency: string;
  /** Amount in `currency`, a decimal string. */
  readonly currencyAmount: string;
  /** Asset code as the asset table writes it. */
  readonly commodity: string;
  /** Network of the asset. */
  readonly network: string;
  /** Middle part of the dotted asset: `simple`, or `sc`. */
  readonly cryptoType: "simple" | "sc";
  /** Amount of the asset, a decimal string. */
  readonly cryptoAmount: string;
  /** Address the asset goes to. */
  readonly address: string;
  /** Address of the smart contract; NFT Checkout only. */
  readonly scAddress: string | null;
  /** Input data of the call; NFT Checkout only. */
  readonly scInputData: string | null;
  /** Fees as decimal strings; null when the answer leaves them out. */
  readonly fees: SandboxFees | null;
  /** Acquirer; null when the answer leaves it out. */
  readonly processedThrough: string | null;
  /** Authentication method of the payment. */
  readonly paymentType: string;
  /** Additional data of the service: any JSON value. */
  readonly additionalData: unknown;
  /** Status; a test may set one that is not documented. */
  readonly status: OrderStatus | (string & Record<never, never>);
  /** Payment error code, or empty. */
  readonly failReason: string;
  /** Text of a failure as webhooks state it, or empty. */
  readonly errorText: string;
  /** Transaction hash, or empty. */
  readonly txId: string;
  /** Whether the transfer was announced. */
  readonly transferStarted: boolean;
  /** Creation, in milliseconds since the epoch. */
  readonly createdAtMs: number;
  /** Last change, in milliseconds since the epoch. */
  readonly changedAtMs: number;
  /** Every status it had and since when, oldest first. */
  readonly history: readonly SandboxStep[];
}

/** Fees of an order; amounts in USD, percents as shares. */
export interface SandboxFees {
  /** The partner's fee in USD. */
  readonly partnerFee: string;
  /** The partner's fee as a share. */
  readonly partnerFeePercent: string;
  /** The service's fee in USD. */
  readonly serviceFee: string;
  /** The service's fee as a share. */
  readonly serviceFeePercent: string;
}

/** One entry of an order's history. */
export interface SandboxStep {
  /** Status taken. */
  readonly status: string;
  /** When, in milliseconds since the epoch. */
  readonly atMs: number;
}

/** The asset of an order in dotted form, lower case. */
export function dottedAsset(
  { commodity, cryptoType, network }: Pick<
    SandboxOrder,
    "commodity" | "cryptoType" | "network"
  >,
): string {
  return `${commodity}.${cryptoType}.${network}`.toLowerCase();
}
