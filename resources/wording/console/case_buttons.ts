import type { CaseAction } from "../../../ledger/mod.ts";

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
