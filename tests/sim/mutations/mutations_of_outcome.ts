import { mistaking, type TableChange } from "./broken_table.ts";
import type { Mutation } from "./mutation.ts";

/**
 * Facts that the table of outcomes asks, taken for others; of the chain in
 * `mutations_of_chain.ts`.
 */
export const OUTCOME_MUTATIONS: readonly Mutation[] = (
  [
    [
      "take a status that nobody knows for pending",
      40,
      mistaking("shown", {
        unlisted: "pending",
      }),
    ],
    [
      "take a row without a status for a new order",
      80,
      mistaking("shown", {
        unreadable: "created",
      }),
    ],
    [
      "take an order that the service denies for unread",
      40,
      mistaking("shown", {
        denied: "none",
      }),
    ],
    [
      "take a cancelled order for a failed one",
      40,
      mistaking("shown", {
        cancelled: "failed",
      }),
    ],
    [
      "take a failed order for a cancelled one",
      40,
      mistaking("shown", {
        failed: "cancelled",
      }),
    ],
    [
      "take a pending order for a success",
      20,
      mistaking("shown", {
        pending: "success",
      }),
    ],
    [
      "go on with an order that is no longer shown",
      40,
      mistaking("gone", {
        yes: "no",
      }),
    ],
    [
      "forget that an order was a success before",
      40,
      mistaking("before", {
        success: "none",
      }),
    ],
    [
      "forget that an order had ended otherwise before",
      40,
      mistaking("before", {
        other: "none",
      }),
    ],
    [
      "take a payment that came late for none",
      40,
      mistaking("code", {
        late: "none",
      }),
    ],
    [
      "take another amount for none",
      40,
      mistaking("code", {
        amount: "none",
      }),
    ],
    [
      "take the customer's own cancellation for none",
      40,
      mistaking("code", {
        user: "none",
      }),
    ],
    [
      "take a payment that expired for none",
      40,
      mistaking("code", {
        expired: "none",
      }),
    ],
    [
      "take a declined payment for another error",
      40,
      mistaking("code", {
        declined: "other",
      }),
    ],
    [
      "take an error that nobody knows for none",
      60,
      mistaking("code", {
        other: "none",
      }),
    ],
    ["miss no transaction", 40, mistaking("tx", { empty: "unstated" })],
    ["overlook a transaction", 40, mistaking("tx", { named: "unstated" })],
    [
      "compare with nothing that was recorded",
      20,
      mistaking("match", {
        matched: "nothing",
      }),
    ],
    [
      "take what differs for what was recorded",
      40,
      mistaking("match", {
        differs: "matched",
      }),
    ],
    [
      "take one of several for the right one",
      80,
      mistaking("match", {
        several: "matched",
      }),
    ],
    [
      "take a plan without an amount for a match",
      40,
      mistaking("match", {
        incomplete: "matched",
      }),
    ],
    [
      "take nothing recorded for a match",
      20,
      mistaking("match", {
        nothing: "matched",
      }),
    ],
    [
      "hear no webhook that says more than the service",
      40,
      mistaking("claim", {
        counts: "none",
        rejected: "none",
      }),
    ],
    [
      "wait for what the service has denied",
      40,
      mistaking("claim", {
        rejected: "counts",
      }),
    ],
    [
      "let a paid order wait for ever",
      40,
      mistaking("overdue", {
        yes: "no",
      }),
    ],
    [
      "call no payment the second one",
      40,
      mistaking("twice", {
        yes: "no",
      }),
    ],
  ] satisfies [string, number, TableChange][]
).map(([name, within, table]) => ({ name, within, ports: {}, table }));
