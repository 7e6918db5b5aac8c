import type {
  ClaimedOrder,
  Comparison,
  ErasableOrder,
  ErasedUser,
  ErasureBlock,
  ErasureFinding,
  ReturnedOrder,
} from "../../ledger/types.ts";
import type { ErasedPerson, Erasure, ErasurePlan } from "../../ledger/mod.ts";
import type { EventKind } from "../../ledger/for_sync.ts";
import { counted, labelled } from "./text.ts";
import { printable } from "../../core/printable.ts";
import { type Column, drawTable } from "./table.ts";

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
