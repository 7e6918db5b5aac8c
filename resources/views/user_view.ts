import { describeRejectType } from "../../core/webhook_event/reject_type.ts";
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
import { anomaliesJson, anomalyLines, type Worded } from "./order_view.ts";
import { labelled, wrap } from "./text.ts";
import { printable } from "../../core/printable.ts";
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
  users: readonly UserState[],
  columns: number | null,
): string {
  return drawTable(
    [
      { title: "User", whole: true },
      { title: "Status", whole: true },
      { title: "Trust", whole: true, spare: 1 },
      { title: "Light KYC", spare: 3 },
      { title: "Full KYC", spare: 4 },
      { title: "Country", spare: 2 },
      { title: "Created (UTC)", whole: true, spare: 5 },
    ],
    users.map((user) => [
      user.userId,
      user.status,
      user.trust,
      user.verification.lkyc ?? "",
      user.verification.fkyc ?? "",
      user.country ?? user.phoneCountry ?? "",
      user.createdAt?.slice(0, 16).replace("T", " ") ?? "",
    ]),
    columns,
  );
}

/** What is known of a user beside the state; left out where it is not. */
export interface UserAside {
  /** How fresh it is. */
  readonly freshness?: Freshness;
  /** Orders of the user that wait because another order holds their purchase. */
  readonly paidTwice?: readonly string[];
}

/** One user in full, for people: lines of text that fit the terminal. */
export function userLines(
  user: UserState,
  columns: number | null,
  nowMs: number,
  { freshness, paidTwice = [] }: UserAside = {},
): string[] {
  const { verification, verificationTrust, limits } = user;
  const verdict = userVerdictOf(user);
  const rows: [string, string | null][] = [
    ["Next", userNext(verdict, user.anomalies)],
    ["Paid twice", paidTwice.join(", ")],
    ["Fresh", freshness ? describeFreshness(freshness, nowMs) : null],
    ["User", user.userId],
    ["Status", `${user.status} (${user.trust})`],
    ["Because", describeUserReason(user.reason)],
    ["Light KYC", sure(verification.lkyc, verificationTrust.lkyc)],
    ["Full KYC", sure(verification.fkyc, verificationTrust.fkyc)],
    ["Country", user.country],
    ["Phone", [user.phone, user.phoneCountry].filter(Boolean).join(" ")],
    ["Banned", user.banned === null ? null : user.banned ? "yes" : "no"],
    [
      "Crypto limit",
      limits === null ? null : `${limits.cryptoRemaining ?? "?"} USD left, ` +
        `${limits.cryptoSpending ?? "?"} USD spent`,
    ],
    [
      "NFT limit",
      limits === null
        ? null
        : `${limits.digitalGoodsRemaining ?? "?"} USD left, ` +
          `${limits.digitalGoodsSpending ?? "?"} USD spent`,
    ],
    [
      "Cards",
      user.cards.map((card) =>
        [card.brand, card.lastDigits && `ending ${card.lastDigits}`].filter(
          Boolean,
        ).join(" ")
      ).join(", "),
    ],
    [
      "Rejected",
      user.rejectReasons.map((code) => {
        const meaning = describeRejectType(code);
        return meaning === null ? code : `${code} (${meaning})`;
      }).join(", "),
    ],
    ["Created", user.createdAt],
  ];
  return [
    wrap(printable(describeUserVerdict(verdict)), columns, 0),
    "",
    ...labelled(rows, columns),
    ...anomalyLines(user.anomalies, columns),
  ];
}

function sure(state: string | null, trust: string): string | null {
  return state === null ? null : `${state} (${trust})`;
}
