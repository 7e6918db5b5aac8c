import { isDecimal } from "../../core/decimal.ts";
import {
  type Verdict,
  type VerdictReason,
  VERDICTS,
} from "../../core/chain/verdict.ts";
import { compareTimes } from "./time.ts";
import { filledText } from "./fact_text.ts";

/** What the partner's nodes showed of an order's transaction. */
export interface ChainReading {
  /** Effective time of the look, UTC ISO 8601. */
  readonly readAt: string;
  /** Digest of the event's body. */
  readonly digest: string;
  /** Network that was looked at. */
  readonly network: string;
  /** The transaction; null once erased. */
  readonly txId: string | null;
  /** Whom it is to have paid; null once erased, and where none was stated. */
  readonly address: string | null;
  /** How much it is to have paid, a decimal string. */
  readonly amount: string | null;
  /** What the nodes showed. */
  readonly verdict: Verdict;
  /** Why it is no better; null where it needs no reason. */
  readonly reason: VerdictReason | null;
  /** What arrived, a decimal string. */
  readonly arrived: string | null;
  /** By how much it may be off, as the partner stated it then. */
  readonly tolerance: string | null;
  /** Hash of the block; null in no block, and once erased. */
  readonly blockHash: string | null;
  /** Height of the block. */
  readonly blockHeight: number | null;
  /** Place of the payment in the transaction; null once erased. */
  readonly index: number | null;
  /** Blocks from its own to the newest then. */
  readonly confirmations: number | null;
  /** Whether it was as deep as the partner wanted it. */
  readonly final: boolean;
  /** Names of the nodes that said so. */
  readonly nodes: readonly string[];
  /** Whether whom it names was erased. */
  readonly erased: boolean;
}

/** Body of `chain_reading`, and what is kept of it in `order_redacted`. */
export interface ChainReadingFields {
  /** Network that was looked at. */
  readonly network: string;
  /** The transaction. */
  readonly tx_id?: string;
  /** Whom it is to have paid. */
  readonly address?: string;
  /** How much it is to have paid, a decimal string. */
  readonly amount?: string;
  /** What the nodes showed. */
  readonly verdict: Verdict;
  /** Why it is no better. */
  readonly reason?: VerdictReason;
  /** What arrived, a decimal string. */
  readonly arrived?: string;
  /** By how much it may be off, as the partner stated it then. */
  readonly tolerance?: string;
  /** Hash of the block. */
  readonly block_hash?: string;
  /** Height of the block. */
  readonly block_height?: number;
  /** Place of the payment in the transaction. */
  readonly index?: number;
  /** Blocks from its own to the newest then. */
  readonly confirmations?: number;
  /** Whether it was as deep as the partner wanted it. */
  readonly final: boolean;
  /** Names of the nodes that said so. */
  readonly nodes: readonly string[];
  /** SHA-256 of their raw answers, in hex. */
  readonly answers?: string;
}

/** What an erasure keeps: the rest names a person, or leads to one. */
export const KEPT_OF_CHAIN_READING = [
  "network",
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
 *
 * @returns Null where it has no verdict that is known.
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
    txId: filledText(fields.tx_id),
    address: filledText(fields.address),
    amount: decimal(fields.amount),
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
