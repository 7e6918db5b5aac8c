import type { CaseAction, LedgerTypes, OrderCase } from "../../ledger/mod.ts";

/** The words for a state of a case. */
interface CaseWords {
  /** The state in a few words. */
  readonly title: string;
  /** The next step for staff; null where the order's outcome says it. */
  readonly next: string | null;
  /** What the customer may be told; null where the order's outcome says it. */
  readonly customer: string | null;
}

/** What each state of a case means. */
export const CASE: Readonly<Record<LedgerTypes.CaseState, CaseWords>> = {
  open: { title: "waits for a person", next: null, customer: null },
  asked: {
    title: "the service was asked",
    next:
      "Wait for the service's answer, or ask again; then record the result.",
    customer:
      "We have asked our payment partner about your order and will write to " +
      "you as soon as we have the answer.",
  },
  refunded: {
    title: "refunded",
    next: "Nothing: a person has refunded it.",
    customer: "We have returned the money for your order to you.",
  },
  delivered: {
    title: "delivered by hand",
    next: "Nothing: a person has delivered it.",
    customer: "Your order has been delivered.",
  },
  written_off: {
    title: "written off",
    next: "Nothing: a person has written it off.",
    customer:
      "We have looked into your order and closed it. If you have a question, " +
      "please write to us.",
  },
  not_ours: {
    title: "not ours",
    next: "Nothing: a person found that it is not one of your orders.",
    customer:
      "We cannot find this order among ours. If you have paid, please send us " +
      "the confirmation that you received.",
  },
};

const DONE: Readonly<Record<LedgerTypes.CaseNote["done"], string>> = {
  noted: "noted",
  asked: "asked the service",
  refunded: "refunded it",
  delivered: "delivered it",
  written_off: "wrote it off",
  not_ours: "found that it is not ours",
  reopened: "opened it again",
};

/** What a person did about an order, or a note on it, in one sentence. */
export function describeCaseEntry(
  { done, by, text, reference, since }: LedgerTypes.CaseNote,
): string {
  return `${by} ${DONE[done]}` +
    (reference === null ? "" : ` (${reference})`) +
    (since === null ? "" : `, at ${since}`) +
    (text === null ? "" : `: ${text}`);
}

/** State of a case, in a few words. */
export function describeCase(
  { state, at, since, reference }: OrderCase,
): string {
  const when = since ?? at;
  const how = state === "open" && when !== null
    ? "open again"
    : CASE[state].title;
  return how + (reference === null ? "" : `, reference ${reference}`) +
    (when === null ? "" : `, since ${when}`);
}

/** What the buttons of a case say. */
export const CASE_BUTTONS: Readonly<Record<CaseAction["change"], string>> = {
  noted: "Note",
  asked: "I asked the service",
  refunded: "I refunded it",
  delivered: "I delivered it",
  written_off: "Write it off",
  not_ours: "It is not ours",
  reopened: "Open it again",
};
