import {
  type ChainReading,
  type ChainReadingFields,
  inputDigest,
  isAbout,
  isLaterLook,
  type OrderFold,
  type OrderReading,
  readOrderFold,
  readSharing,
  record,
  statedTransactionForm,
} from "../ledger/for_witness.ts";
import type { Ledger } from "../ledger/mod.ts";
import type { ChainWitness, Look, TransferQuestion } from "./transfer.ts";

/** Why an order cannot be looked at. */
export type NothingToLookAt =
  | "unknown_order"
  | "not_shown"
  | "no_transaction"
  | "erased";

/** Result of a look at an order. */
export interface OrderLook {
  /** The order. */
  readonly orderId: string;
  /** Why nobody was asked; null where the nodes were. */
  readonly nothing: NothingToLookAt | null;
  /** What the nodes showed; null where nobody was asked. */
  readonly look: Look | null;
  /** Whether it was new, and so was recorded. */
  readonly recorded: boolean;
}

/** What {@linkcode lookAtOrder} works with. */
export interface LookAtOrderOptions {
  /** Asks the nodes. */
  readonly witness: ChainWitness;
  /** Clock, milliseconds since 1970. @default {Date.now} */
  readonly now?: () => number;
  /** Aborts it; then nothing is recorded. @default {never} */
  readonly signal?: AbortSignal;
  /** Makes the salt of what is recorded. @default {that of the runtime} */
  readonly randomBytes?: (length: number) => Uint8Array;
}

function secureBytes(length: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(length));
}

/**
 * Looks at the transaction that the service shows of an order, and records what
 * says something new.
 *
 * @param ledger The ledger; it has to be projected afterwards.
 * @param orderId The order.
 * @param options Who asks the nodes.
 * @throws {LedgerError} When the ledger fails.
 *
 * @example An order that nobody knows
 * ```ts
 * import { openLedger } from "@rampkit/onramp/ledger";
 * import {
 *   createChainWitness,
 *   lookAtOrder,
 *   readChains,
 * } from "@rampkit/onramp/witness";
 * import assert from "node:assert/strict";
 *
 * await using ledger = await openLedger({
 *   url: ":memory:",
 *   environment: "sandbox",
 * });
 * const witness = createChainWitness({ chains: readChains({}) });
 * const { nothing } = await lookAtOrder(ledger, "01JNOBODY", { witness });
 * assert.equal(nothing, "unknown_order");
 * ```
 */
export async function lookAtOrder(
  ledger: Ledger,
  orderId: string,
  { witness, now = Date.now, signal, randomBytes = secureBytes }:
    LookAtOrderOptions,
): Promise<OrderLook> {
  const nobody = (nothing: NothingToLookAt): OrderLook => ({
    orderId,
    nothing,
    look: null,
    recorded: false,
  });
  const fold = await readOrderFold(ledger.driver, orderId);
  if (fold === null) return nobody("unknown_order");
  const shown = fold.latest;
  if (shown === null) return nobody("not_shown");
  if (shown.erasedTx !== null) return nobody("erased");
  const { txId, network } = shown;
  if (txId === null || network === null || !namesTransaction(shown)) {
    return nobody("no_transaction");
  }
  const last = lastLook(fold);
  const question: TransferQuestion = {
    network,
    asset: shown.commodity ?? "",
    txId: txId.trim(),
    address: shown.address?.trim() || null,
    amount: shown.cryptoAmount || null,
    smartContract: smartContractOf(shown),
    // Without an amount nobody can say which payment is whose.
    others: (await readSharing(ledger.driver, orderId, shown))
      .map(({ cryptoAmount }) => cryptoAmount ?? "unknown"),
    before: last === null || last.blockHash === null ||
        last.blockHeight === null
      ? null
      : { blockHash: last.blockHash, blockHeight: last.blockHeight },
  };
  const askedAt = new Date(now()).toISOString();
  const look = await witness.look(question, signal);
  signal?.throwIfAborted();
  const fields = fieldsOf(question, shown, look);
  const recorded = last === null || saysSomethingNew(last, fields);
  if (recorded) {
    await ledger.append([
      record("chain_reading", { order_id: orderId, ...fields }, {
        readAt: askedAt,
        recordedAt: new Date(now()).toISOString(),
        salt: randomBytes(16),
      }),
    ]);
  }
  return { orderId, nothing: null, look, recorded };
}

/** The last look at what the service shows now; null before the first. */
export function lastLook({ looks, latest }: OrderFold): ChainReading | null {
  if (latest === null) return null;
  return looks.filter((look) => isAbout(look, latest))
    .sort((a, b) => isLaterLook(a, b) ? -1 : 1)[0] ?? null;
}

/** Whether the service shows what can be a transaction of the network. */
export function namesTransaction(shown: OrderReading): boolean {
  return statedTransactionForm(shown) === "named";
}

function smartContractOf(
  { cryptoType, address, scInputData }: OrderReading,
): NonNullable<TransferQuestion["smartContract"]> | null {
  return cryptoType === "sc" && address
    ? { address: address.trim(), inputData: scInputData || null }
    : null;
}

function fieldsOf(
  { network, asset, txId, address, amount }: TransferQuestion,
  { cryptoType, scInputData }: OrderReading,
  look: Look,
): ChainReadingFields {
  const { verdict, reason, arrived, confirmations, final, block } = look;
  const { index, nodes, answers, tolerance } = look.evidence;
  const stated = {
    asset: asset || null,
    type: cryptoType || null,
    input_data: inputDigest(scInputData) || null,
    tx_id: txId,
    address,
    amount,
    reason,
    arrived,
    tolerance,
    block_hash: block?.blockHash ?? null,
    block_height: block?.blockHeight ?? null,
    index,
    confirmations,
    answers,
  };
  return {
    network,
    verdict,
    final,
    nodes,
    ...Object.fromEntries(
      Object.entries(stated).filter(([, value]) => value !== null),
    ),
  };
}

/** More confirmations alone are nothing new; that they are enough is. */
function saysSomethingNew(
  last: ChainReading,
  now: ChainReadingFields,
): boolean {
  return last.verdict !== now.verdict || last.final !== now.final ||
    last.reason !== (now.reason ?? null) ||
    last.arrived !== (now.arrived ?? null) ||
    last.tolerance !== (now.tolerance ?? null) ||
    last.blockHash !== (now.block_hash ?? null) ||
    last.index !== (now.index ?? null);
}
