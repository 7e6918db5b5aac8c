import { USER_FIELDS } from "../../core/wire/fields.ts";
import { describeRejectType } from "../../core/webhook_event/webhook_event.ts";
import {
  type Anomaly,
  type ErasedPerson,
  type Erasure,
  type ErasurePlan,
  type UserState,
  type UserVerdict,
  userVerdictOf,
} from "../../ledger/mod.ts";
import type {
  ClaimedOrder,
  Comparison,
  ErasableOrder,
  ErasedUser,
  ErasureBlock,
  ErasureFinding,
  ReturnedOrder,
  UserReason,
} from "../../ledger/types.ts";
import type { Freshness } from "../../sync/mod.ts";
import {
  describeFreshness,
  describeUserReason,
  describeUserVerdict,
  userNext,
} from "../wording/state.ts";
import { anomaliesJson, detailLines, type Worded } from "./order_view.ts";
import {
  type Column,
  counted,
  drawTable,
  type Fact,
  labelled,
  minuteText,
} from "./text.ts";
import type { EventKind } from "../../ledger/for_sync.ts";
import { printable } from "../../core/text.ts";

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
interface UserAside {
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

/** What an erasure cannot reach, so that people have to do it. */
export const NOT_REACHED: readonly string[] = [
  "backups and exports that were made before",
  "what was sent to your subscriptions, forwarding targets and logs",
  "the service: ask it to erase the person first",
  "bodies that are not JSON and hold no id of the person",
];

/** What an erasure removed of a person, or would remove. */
export interface ErasureJson {
  /** The user. */
  readonly userId: string;
  /** Whether it was done; else it is what would be removed. */
  readonly erased: boolean;
  /** The name under which the orders stay; null while nothing is erased. */
  readonly pseudonym: string | null;
  /** Number of events about the person, by kind. */
  readonly events: readonly {
    readonly kind: EventKind;
    readonly count: number;
  }[];
  /**
   * Names of the fields that are removed, as the service writes them, sorted.
   */
  readonly fields: readonly string[];
  /** Orders that the service has shown as the person's, by id. */
  readonly orders: readonly ErasableOrder[];
  /** Orders that only webhooks attribute to the person, by id. */
  readonly claims: readonly ClaimedOrder[];
  /** Result of comparing all events with the person's ids; null without it. */
  readonly compared: Comparison | null;
  /** Whether the freed pages of the file were overwritten. */
  readonly cleaned: boolean;
}

/** An erasure, or what one would remove. */
type Told = ErasurePlan & Pick<Erasure, "pseudonym"> & {
  readonly erased: boolean;
  readonly cleaned: boolean;
};

/** An erasure as JSON. */
export function erasureJson(told: Told): ErasureJson {
  const { userId, erased, pseudonym, fields, orders, claims } = told;
  const { compared, cleaned } = told;
  const events = kindsOf(told);
  return {
    ...{ userId, erased, pseudonym, events, fields, orders, claims },
    ...{ compared, cleaned },
  };
}

function kindsOf({ events }: ErasurePlan): ErasureJson["events"] {
  return Object.entries(events).map(([kind, count]) => ({
    kind: kind as EventKind,
    count,
  }));
}

/** What an erasure removes, for people. */
export function planLines(
  plan: ErasurePlan,
  columns: number | null,
): string[] {
  const { userId, fields, orders, claims } = plan;
  return [
    ...labelled([
      ["User", userId],
      [
        "Events",
        kindsOf(plan).map(({ kind, count }) => `${count} ${kind}`).join(", ") ||
        "none",
      ],
      ["Fields", fields.join(", ") || "none"],
      ["By ids", plan.compared === null ? null : comparedText(plan.compared)],
      [
        "Orders",
        orders.length === 0 ? "none" : counted(orders.length, "order"),
      ],
    ], columns),
    ...(orders.length === 0 ? [] : [
      "",
      ...table(
        ["Order", "Status", "Trust", "Waits for"],
        orders.map(({ orderId, status, trust, blocks }) => [
          orderId,
          status,
          trust,
          blocks.map((block) => BLOCK_WORDS[block]).join(", "),
        ]),
        columns,
      ),
      "",
      "Orders stay, with status, times, amounts, fees and asset.",
    ]),
    ...(claims.length === 0 ? [] : [
      "",
      "Only webhooks name these orders as the person's. What they say of the " +
      "person is erased, and the orders stay as they are:",
      ...claims.map(({ orderId, isAsked }) =>
        `  ${printable(orderId)}: the service ${
          isAsked ? "does not show it" : "was not asked for it"
        }`
      ),
    ]),
  ];
}

/** Result of comparing every event with a person's ids. */
function comparedText({ blanked, listed }: Comparison): string {
  return `${counted(blanked, "further event")} ` +
    `${blanked === 1 ? "holds an id" : "hold ids"} of the person alone; ` +
    `${counted(listed, "event")} for you to look at`;
}

const BLOCK_WORDS: Readonly<Record<ErasureBlock, string>> = {
  under_way: "its final status",
  refund_due: "a refund",
};

/** A table as lines; identifiers are never cut. */
function table(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  columns: number | null,
): string[] {
  const head: Column[] = titles.map((title, at) => ({
    title,
    whole: at === 0,
  }));
  return drawTable(head, rows, columns).split("\n");
}

/** What an erasure did, for people. */
export function erasedLines(
  told: ErasureJson,
  columns: number | null,
): string[] {
  return [
    "",
    told.events.length > 0 || told.orders.length > 0
      ? "Erased. The evidence chain holds, and proves it: rampkit ledger verify"
      : "Erased before; nothing is left: rampkit users erased says since when",
    ...labelled([
      ["Orders name", told.pseudonym],
      ["By ids", told.compared === null ? null : comparedText(told.compared)],
      [
        "File",
        told.cleaned
          ? "written anew, its log emptied"
          : "on a server: see docs/operate.md, A person asks to be erased",
      ],
    ], columns),
    ...(told.compared === null || told.compared.listed === 0 ? [] : [
      "Look at what is listed: rampkit users erased",
    ]),
    "Not reached:",
    ...NOT_REACHED.map((one) => `  ${one}`),
  ];
}

/** Who was erased, and what is known of them since. */
export interface ErasedPeople {
  /** The user who was asked for. */
  readonly user: ErasedUser | null;
  /** Everybody. */
  readonly people: readonly ErasedPerson[];
  /** Orders that came later. */
  readonly returned: readonly ReturnedOrder[];
  /** Events that hold an id of an erased person and were not blanked. */
  readonly findings: readonly ErasureFinding[];
  /** Whether all events were compared with the ids of all who were erased. */
  readonly isCompared: boolean;
  /**
   * Files of deliveries that the ledger does not have: those that can go into
   * it, and damaged ones.
   */
  readonly spool: {
    readonly waiting: readonly string[];
    readonly damaged: readonly string[];
  };
}

const FINDING_WORDS: Readonly<Record<ErasureFinding["why"], string>> = {
  other_person: "it is about somebody else",
  chosen_click_id: "it holds a click id that a customer may have chosen",
  not_json: "it is not JSON",
};

/** Who was erased, for people. */
export function erasedPeopleLines(
  { user, people, returned, findings, spool }: ErasedPeople,
  columns: number | null,
): string[] {
  const asked = user === null ? [] : [
    `Erased at ${user.erasedAt}` +
    (user.returnedAt === null
      ? ""
      : `; a customer again since ${user.returnedAt}`),
    "",
  ];
  if (people.length === 0) return ["Nobody was erased"];
  const open = findings.filter(({ settled }) => settled === null);
  const files = [...spool.waiting, ...spool.damaged];
  return [
    ...asked,
    ...table(
      ["Erased at", "Name now", "Events", "Orders"],
      people.map(({ erasedAt, pseudonym, events, orders }) => [
        erasedAt,
        pseudonym,
        String(events),
        String(orders),
      ]),
      columns,
    ),
    ...(returned.length === 0 ? [] : [
      "",
      "Orders that erased users made later:",
      ...table(
        ["Order", "Known since"],
        returned.map(({ orderId, knownAt }) => [orderId, knownAt]),
        columns,
      ),
    ]),
    ...(open.length === 0 ? [] : [
      "",
      "Events that hold an id of somebody erased. Decide for each: rampkit " +
      "users erased --blank POSITION, or --keep POSITION:",
      ...table(
        ["Position", "Kind", "Event", "Because"],
        open.map(({ position, kind, eventId, why }) => [
          String(position),
          kind,
          eventId,
          FINDING_WORDS[why],
        ]),
        columns,
      ),
    ]),
    ...(files.length === 0 ? [] : [
      "",
      "Deliveries that the ledger does not have are in these files; serve " +
      "takes in what can be read:",
      ...files.map((file) => `  ${file}`),
    ]),
  ];
}
