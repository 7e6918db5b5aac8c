import type { NotSeenReason } from "../../../sync/for_conform.ts";

/** Why a row could not be checked, and what would show it. */
export const NOT_SEEN_WORDS: Readonly<Record<NotSeenReason, string>> = {
  few_orders: "too few orders, or orders too alike",
  few_users: "too few users, or users too alike",
  no_such_order: "no order that shows it",
  no_such_user: "no user that shows it",
  earlier_form: "the list has no cursor",
  no_ledger: "no ledger here: run it where `serve` keeps one",
  nothing_recorded: "the ledger has nothing that shows it yet",
  not_asked_for_sessions: "--create-session shows it",
  not_asked_for_wrong_key: "--wrong-key shows it",
  not_asked_for_test: "--wait-for-test shows it",
  no_test_came: "the Test button's event did not come",
  other_environment: "only the other environment shows it",
  only_in_widget: "only a session that is opened in the widget shows it",
  only_by_failing: "only an endpoint that fails shows it",
  only_by_person: "only creating users or cards shows it, which is never done",
  no_answer: "no answer came",
  not_in_transcript: "the transcript does not have it",
};
