import { isDecimal } from "../../core/decimal.ts";
import {
  type Verdict,
  type VerdictReason,
  VERDICTS,
} from "../../core/chain/verdict.ts";
import { compareTimes } from "./time.ts";
import { filledText, upper } from "./fact_text.ts";

/** What the partner's nodes showed of an order's transaction. */
export interface ChainReading {
  /** Effective time of the look, UTC ISO 8601. */
  readonly readAt: string;
  /** Digest of the event's body. */
  readonly digest: string;
  /** Network that was looked at. */
  readonly network: string;
  /** Asset that should have been paid, upper case; null when none was stated. */
  readonly asset: string | null;
  /** Middle part of the dotted asset; null when none was stated. */
  readonly type: string | null;
  /** The transaction; null once erased. */
  readonly txId: string | null;
  /**
   * Address that should have been paid; null once erased, and when none was
   * stated.
   */
  readonly address: string | null;
  /** Amount that should have been paid, a decimal string. */
  readonly amount: string | null;
  /**
   * SHA-256 of the input data of a call, in hex; null once erased, and when none
   * was stated.
   */
  readonly inputData: string | null;
  /** What the nodes showed. */
  readonly verdict: Verdict;
  /** Reason for the verdict; null when it needs none. */
  readonly reason: VerdictReason | null;
  /** What arrived, a decimal string. */
  readonly arrived: string | null;
  /** Tolerance of the amount that the partner had configured then. */
  readonly tolerance: string | null;
  /** Hash of the block; null when it is in none, and once erased. */
  readonly blockHash: string | null;
  /** Height of the block. */
  readonly blockHeight: number | null;
  /** Place of the payment in the transaction; null once erased. */
  readonly index: number | null;
  /** Blocks from its own to the newest then. */
  readonly confirmations: number | null;
  /** Whether it had the confirmations that the partner asks for. */
  readonly final: boolean;
  /** Names of the nodes that agreed on it. */
  readonly nodes: readonly string[];
  /** Whether the person it concerns was erased. */
  readonly erased: boolean;
}

/** Body of `chain_reading`, and what is kept of it in `order_redacted`. */
export interface ChainReadingFields {
  /** Network that was looked at. */
  readonly network: string;
  /** Asset that should have been paid. */
  readonly asset?: string;
  /** Middle part of the dotted asset. */
  readonly type?: string;
  /** The transaction. */
  readonly tx_id?: string;
  /** Address that should have been paid. */
  readonly address?: string;
  /** Amount that should have been paid, a decimal string. */
  readonly amount?: string;
  /** SHA-256 of the input data of a call, in hex. */
  readonly input_data?: string;
  /** What the nodes showed. */
  readonly verdict: Verdict;
  /** Reason for the verdict. */
  readonly reason?: VerdictReason;
  /** What arrived, a decimal string. */
  readonly arrived?: string;
  /** Tolerance of the amount that the partner had configured then. */
  readonly tolerance?: string;
  /** Hash of the block. */
  readonly block_hash?: string;
  /** Height of the block. */
  readonly block_height?: number;
  /** Place of the payment in the transaction. */
  readonly index?: number;
  /** Blocks from its own to the newest then. */
  readonly confirmations?: number;
  /** Whether it had the confirmations that the partner asks for. */
  readonly final: boolean;
  /** Names of the nodes that agreed on it. */
  readonly nodes: readonly string[];
  /** SHA-256 of their raw answers, in hex. */
  readonly answers?: string;
}

/** What an erasure keeps: the rest names a person, or leads to one. */
export const KEPT_OF_CHAIN_READING = [
  "network",
  "asset",
  "type",
  "amount",
  "verdict",
  "reason",
  "arrived",
  "tolerance",
  "block_height",
  "confirmations",
  "final",
  "nodes",
] as const satisfies readonly (keyof ChainReadingFields)[];

/**
 * Reads the fields of a chain reading, whose numbers are exact decimal strings.
 * Null where it has no verdict that is known.
 */
export function readChainFields(
  fields: Readonly<Record<string, unknown>>,
  { readAt, digest, erased }: Pick<
    ChainReading,
    "readAt" | "digest" | "erased"
  >,
): ChainReading | null {
  const verdict = VERDICTS.find((one) => one === fields.verdict);
  const network = filledText(fields.network);
  if (verdict === undefined || network === null) return null;
  return {
    readAt,
    digest,
    network,
    asset: upper(filledText(fields.asset)),
    type: filledText(fields.type),
    txId: filledText(fields.tx_id),
    address: filledText(fields.address),
    amount: decimal(fields.amount),
    inputData: filledText(fields.input_data),
    verdict,
    reason: filledText(fields.reason) as VerdictReason | null,
    arrived: decimal(fields.arrived),
    tolerance: decimal(fields.tolerance),
    blockHash: filledText(fields.block_hash),
    blockHeight: whole(fields.block_height),
    index: whole(fields.index),
    confirmations: whole(fields.confirmations),
    final: fields.final === true,
    nodes: Array.isArray(fields.nodes)
      ? fields.nodes.filter((node) => typeof node === "string")
      : [],
    erased,
  };
}

/** Whether `a` is the later of two looks. */
export function isLaterLook(a: ChainReading, b: ChainReading): boolean {
  return (compareTimes(a.readAt, b.readAt) ||
    (a.digest < b.digest ? -1 : a.digest > b.digest ? 1 : 0)) > 0;
}

function decimal(value: unknown): string | null {
  return typeof value === "string" && isDecimal(value) ? value : null;
}

function whole(value: unknown): number | null {
  return typeof value === "string" && /^\d{1,15}$/.test(value)
    ? Number(value)
    : null;
}
