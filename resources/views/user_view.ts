import { USER_FIELDS } from "../../core/wire/user_fields.ts";
import { describeRejectType } from "../../core/webhook_event/webhook_event.ts";
import {
  type Anomaly,
  type UserState,
  type UserVerdict,
  userVerdictOf,
} from "../../ledger/mod.ts";
import type { UserReason } from "../../ledger/types.ts";
import type { Freshness } from "../../sync/mod.ts";
import { describeFreshness } from "../wording/freshness.ts";
import { describeUserReason } from "../wording/state_reasons.ts";
import { describeUserVerdict, userNext } from "../wording/user_verdict.ts";
import { anomaliesJson, detailLines, type Worded } from "./order_view.ts";
import { type Fact, minuteText } from "./text.ts";
import { drawTable } from "./table.ts";

/** The state of a user, and the sentences made of its codes. */
export interface UserJson
  extends Omit<UserState, "reason" | "rejectReasons" | "anomalies"> {
  /** The one thing to know first. */
  readonly verdict: Worded<UserVerdict>;
  /** The next step for staff. */
  readonly advice: string;
  /** The reason for the trust, as a code with its data. */
  readonly reason: Worded<UserReason>;
  /** Every `reject_type` that webhooks sent, sorted. */
  readonly rejectReasons: readonly {
    readonly code: string;
    /** Null where the code is not documented. */
    readonly message: string | null;
  }[];
  /** What is odd about the latest reading, sorted by kind, then field. */
  readonly anomalies: readonly Worded<Anomaly>[];
}

/** A user as `--json` prints it: the state in words, without activity. */
export function userJson(
  user: UserState & { readonly activity?: unknown },
): UserJson {
  const { activity: _, ...state } = user;
  const verdict = userVerdictOf(state);
  return {
    ...state,
    verdict: { ...verdict, message: describeUserVerdict(verdict) },
    advice: userNext(verdict, state.anomalies),
    reason: { ...state.reason, message: describeUserReason(state.reason) },
    rejectReasons: state.rejectReasons.map((code) => ({
      code,
      message: describeRejectType(code),
    })),
    anomalies: anomaliesJson(state.anomalies),
  };
}

/** Users as a table, one a line. */
export function userTable(
  users: readonly UserJson[],
  columns: number | null,
): string {
  return drawTable(
    [
      { title: "User", whole: true },
      { title: "Status", whole: true },
      { title: "Trust", whole: true, spare: 1 },
      { title: USER_FIELDS.lkyc.label, spare: 3 },
      { title: USER_FIELDS.fkyc.label, spare: 4 },
      { title: USER_FIELDS.country.label, spare: 2 },
      { title: "Created (UTC)", whole: true, spare: 5 },
    ],
    users.map((user) => [
      user.userId,
      user.status,
      user.trust,
      user.verification.lkyc ?? "",
      user.verification.fkyc ?? "",
      user.country ?? user.phoneCountry ?? "",
      minuteText(user.createdAt),
    ]),
    columns,
  );
}

/** What is known of a user besides the state; absent when unknown. */
export interface UserAside {
  /** How fresh it is. */
  readonly freshness?: Freshness;
  /** Orders of the user that wait because another order holds their purchase. */
  readonly paidTwice?: readonly string[];
}

/** A fact of a user for people. */
export interface UserFact extends Fact {
  /** Which part of a page it belongs to. */
  readonly part: "may" | "who";
}

/**
 * The facts of a user for people, in their order: what the user may do, then who
 * it is. Lines and pages show them.
 */
export function userFacts(
  user: UserJson,
  nowMs: number,
  { freshness, paidTwice = [] }: UserAside = {},
): readonly UserFact[] {
  const { verification, verificationTrust: trust, limits } = user;
  const may = (label: string, text: string | null): UserFact => ({
    ...{ label, text, part: "may" },
  });
  const who = (label: string, text: string | null): UserFact => ({
    ...{ label, text, part: "who" },
  });
  const { lkyc, fkyc, banned, country, phone, createdAt } = USER_FIELDS;
  return [
    { ...may("Next", user.advice), form: "advice" },
    { ...may("Paid twice", paidTwice.join(", ")), form: "orders" },
    may("Fresh", freshness ? describeFreshness(freshness, nowMs) : null),
    may("User", user.userId),
    may("Status", `${user.status} (${user.trust})`),
    may("Because", user.reason.message),
    may(lkyc.label, sure(verification.lkyc, trust.lkyc)),
    may(fkyc.label, sure(verification.fkyc, trust.fkyc)),
    may(
      "Rejected",
      user.rejectReasons.map(({ code, message }) =>
        message === null ? code : `${code} (${message})`
      ).join(", "),
    ),
    may(
      banned.label,
      user.banned === null ? null : user.banned ? "yes" : "no",
    ),
    may(
      "Crypto limit",
      limits &&
        spent(limits.cryptoRemaining, limits.cryptoSpending),
    ),
    may(
      "NFT limit",
      limits &&
        spent(limits.digitalGoodsRemaining, limits.digitalGoodsSpending),
    ),
    who(country.label, user.country ?? user.phoneCountry),
    who(phone.label, user.phone),
    who(
      "Cards",
      user.cards.map(({ brand, lastDigits }) =>
        [brand, lastDigits && `ending ${lastDigits}`].filter(Boolean).join(" ")
      ).join(", "),
    ),
    { ...who(createdAt.label, user.createdAt), form: "time" },
  ];
}

/** One user in full, for people: lines of text that fit the terminal. */
export function userLines(
  user: UserJson,
  columns: number | null,
  nowMs: number,
  aside: UserAside = {},
): string[] {
  return detailLines(
    user.verdict.message,
    userFacts(user, nowMs, aside),
    user.anomalies,
    columns,
  );
}

function spent(left: string | null, spent: string | null): string {
  return `${left ?? "?"} USD left, ${spent ?? "?"} USD spent`;
}

function sure(state: string | null, trust: string): string | null {
  return state === null ? null : `${state} (${trust})`;
}
