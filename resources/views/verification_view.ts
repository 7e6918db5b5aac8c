import type {
  ChainVerification,
  StatesVerification,
} from "../../ledger/mod.ts";
import type {
  DamageReason,
  RowDifference,
} from "../../ledger/for_resources.ts";
import { describeDamage } from "../wording/damage_reason.ts";
import { counted } from "./text.ts";
import type { Worded } from "./order_view.ts";

/** Whether the ledger is as its evidence chain says, and where it is not. */
export interface VerificationJson extends ChainVerification {
  readonly reason: Worded<DamageReason> | null;
}

/** The same, and whether every stored state follows from the events. */
export interface StatesVerificationJson extends VerificationJson {
  /** What comparing the states found. */
  readonly states: StatesVerification;
}

/** A verification as `--json` prints it: the reason with its sentence. */
export function verificationJson(found: ChainVerification): VerificationJson {
  const { reason } = found;
  return {
    ...found,
    reason: reason === null
      ? null
      : { ...reason, message: describeDamage(reason) },
  };
}

/** What a verification found, in lines for people. */
export function verificationLines(
  found: ChainVerification,
  remote: boolean,
): string[] {
  if (found.reason !== null) {
    return [
      `Broken at position ${found.firstBrokenPosition}: ` +
      describeDamage(found.reason),
      "Change nothing; docs/reference/health.md says what to do",
    ];
  }
  return [
    `Whole: ${counted(found.events, "event")}` + parts(found),
    ...found.resets.map(({ at, events, hash }) =>
      `A restore gave up the anchored head at ${at}: ` +
      (hash === null ? "it could not be read" : `${events}:${hash}`)
    ),
    ...anchorLines(found, remote),
    "Keep this somewhere else; --expect compares a later ledger with it:",
    `  ${found.chained}:${found.hash}`,
  ];
}

function parts({ erased, unchained }: ChainVerification): string {
  const said = [
    ...(erased > 0 ? [`the body of ${erased} was erased`] : []),
    ...(unchained > 0 ? [`${unchained} wait for the chain`] : []),
  ];
  return said.length === 0 ? "" : `; ${said.join(", ")}`;
}

/** Says what the ledger was compared with, and what that cannot show. */
function anchorLines(
  { anchors, anchoredHead }: ChainVerification,
  remote: boolean,
): string[] {
  if (anchors.includes("expect")) return [];
  if (anchoredHead !== null) {
    return [
      `It continues from the head of ${
        counted(anchoredHead.events, "event")
      } ` +
      `that was kept beside it at ${anchoredHead.anchoredAt}; whoever can write one ` +
      "of the two can write the other",
    ];
  }
  return [
    "Not seen without --expect: a tail that was cut off together with its " +
    "links, or a chain that was computed again",
    remote
      ? "No head is kept beside a ledger on a server"
      : "No head is kept beside this file; serve, poll and others keep one",
  ];
}

/** How stored states compare with a fold from nothing, in lines for people. */
export function statesLines(
  found: StatesVerification,
  erased: number,
): string[] {
  const { orders = 0, users = 0 } = found.rows;
  const compared = `${counted(orders, "order")} and ${counted(users, "user")}`;
  if (found.ok) return [`States follow from the events: ${compared}`];
  const more = found.different - found.differences.length;
  return [
    `States do not follow from the events: of ${compared}, ` +
    `${counted(found.different, "row")} differ`,
    ...found.differences.flatMap(differenceLines),
    ...(more > 0 ? [`  and ${more} more`] : []),
    ...(erased > 0
      ? [
        "Where a body was erased, `ledger refold` makes states follow from " +
        "what is left",
      ]
      : []),
  ];
}

function differenceLines(
  { key, kind, columns }: RowDifference,
): string[] {
  const row = `  ${key.join(" ")}`;
  if (kind === "missing") return [`${row}: the row is missing`];
  if (kind === "unfounded") return [`${row}: no event leads to it`];
  return [
    row,
    ...columns.map(({ field, before, after }) =>
      before === null && after === null
        ? `    ${field} differs`
        : `    ${field}: stored ${shown(before)}, follows ${shown(after)}`
    ),
  ];
}

function shown(value: string | null): string {
  return JSON.stringify(value);
}
