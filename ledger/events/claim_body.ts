import { fieldsWith } from "../../core/wire/order_fields.ts";
import type { OrderFacts } from "./order_facts.ts";

/** What a webhook states of an order's fields; null means not stated. */
export interface ClaimBody extends Omit<OrderFacts, "network"> {
  /** Digest of the body. */
  readonly digest: string;
  /** Address of a smart contract. */
  readonly scAddress: string | null;
  /** Input data of a smart-contract order. */
  readonly scInputData: string | null;
}

/** A field that a webhook states of an order. */
export type ClaimField = Exclude<keyof ClaimBody, "digest">;

/** The fields that a webhook states of an order, in the order of the table. */
export const CLAIM_FIELDS: readonly ClaimField[] = [
  ...fieldsWith("webhook"),
  "scAddress",
];
