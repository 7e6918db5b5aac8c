import type {
  ErasableOrder,
  ErasedPerson,
  ErasedUser,
  Erasure,
  ErasureBlock,
  ErasurePlan,
  ReturnedOrder,
} from "../../../ledger/mod.ts";
import type { EventKind } from "../../../ledger/internals.ts";
import { counted } from "../../views/counted.ts";
import { labelled } from "../../views/labelled.ts";
import { type Column, drawTable } from "../../views/table.ts";

/** What an erasure cannot reach; people have to see to it. */
export const NOT_REACHED: readonly string[] = [
  "backups and exports that were made before",
  "what was sent to subscriptions, forwarding targets and logs of yours",
  "the service: ask it to erase the person first",
  "bodies that are no JSON, and so name nobody",
];

/** `users erase --json`. */
export interface ErasureJson {
  readonly userId: string;
  readonly erased: boolean;
  readonly pseudonym: string | null;
  readonly events: readonly {
    readonly kind: EventKind;
    readonly count: number;
  }[];
  readonly fields: readonly string[];
  readonly orders: readonly ErasableOrder[];
  readonly cleaned: boolean;
}

/** An erasure, or what one would take. */
type Told = Erasure & { readonly erased: boolean; readonly cleaned: boolean };

/** An erasure as JSON. */
export function erasureJson(told: Told): ErasureJson {
  const { userId, erased, pseudonym, fields, orders, cleaned } = told;
  const events = kindsOf(told);
  return { userId, erased, pseudonym, events, fields, orders, cleaned };
}

function kindsOf({ events }: ErasurePlan): ErasureJson["events"] {
  return Object.entries(events).map(([kind, count]) => ({
    kind: kind as EventKind,
    count,
  }));
}

/** What an erasure takes, for people. */
export function planLines(
  plan: ErasurePlan,
  columns: number | null,
): string[] {
  const { userId, fields, orders } = plan;
  return [
    ...labelled([
      ["User", userId],
      [
        "Events",
        kindsOf(plan).map(({ kind, count }) => `${count} ${kind}`).join(", ") ||
        "none",
      ],
      ["Fields", fields.join(", ") || "none"],
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
  ];
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
  told: Told,
  before: ErasedUser | null,
  columns: number | null,
): string[] {
  return [
    "",
    before === null
      ? "Erased. The evidence chain holds, and proves it: rampkit ledger verify"
      : `Erased at ${before.erasedAt}; nothing is left.`,
    ...labelled([
      ["Orders name", told.pseudonym],
      [
        "File",
        told.cleaned
          ? "written anew, its log emptied"
          : "on a server: see RUNBOOK, A person asks to be erased",
      ],
    ], columns),
    "Not reached:",
    ...NOT_REACHED.map((one) => `  ${one}`),
  ];
}

/** Who was erased. */
export interface ErasedPeople {
  /** The user who was asked for. */
  readonly user: ErasedUser | null;
  /** Everybody. */
  readonly people: readonly ErasedPerson[];
  /** Orders that came later. */
  readonly returned: readonly ReturnedOrder[];
}

/** `users erased --json`. */
export function erasedPeopleJson(found: ErasedPeople): ErasedPeople {
  return found;
}

/** Who was erased, for people. */
export function erasedPeopleLines(
  { user, people, returned }: ErasedPeople,
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
  ];
}
