import type {
  EffectReason,
  EventContent,
  ExplainedEvent,
  ExplainedMove,
  FieldValue,
} from "../../ledger/for_resources.ts";
import type { Explanation } from "../../ledger/mod.ts";
import { defined } from "../../core/guards.ts";
import type { Freshness } from "../../sync/mod.ts";
import { describeAnomaly, describeMove } from "../wording/state.ts";
import {
  describeEffectReason,
  describeEventContent,
} from "../wording/explanation.ts";
import {
  type OrderJson,
  orderJson,
  orderLines,
  type Worded,
} from "./order_view.ts";
import { counted, wrap } from "./text.ts";
import { printable } from "../../core/text.ts";

const MARK = { changed: "+", noted: "=", unchanged: "=" } as const;

/** How an explanation is printed. */
export interface ExplanationOptions {
  /** Width of the terminal; null breaks nothing. */
  readonly columns: number | null;
  /** The time that ages count to, in milliseconds since the epoch. */
  readonly nowMs: number;
  /** Every field that changed, and where each one comes from. */
  readonly verbose: boolean;
}

/**
 * An explanation for people: the state, then every event with the move that it
 * made or why it made none.
 */
export function explanationLines(
  { state, freshness, events, leftOut, fields }: ExplanationJson,
  options: ExplanationOptions,
): string[] {
  const { columns, nowMs, verbose } = options;
  const fit = (text: string, hang: number) =>
    wrap(printable(text), columns, hang);
  const lines = [
    ...orderLines(
      state,
      columns,
      nowMs,
      freshness === null ? {} : { freshness },
    ),
    "",
    fit(
      `${counted(events.length, "event")}, oldest first, by when recorded ` +
        "(UTC); + changed the order, = did not:",
      0,
    ),
  ];
  for (const event of events) {
    const time = event.recordedAt.replace("T", " ").replace("Z", "");
    lines.push(
      "",
      fit(
        `${
          MARK[event.effect]
        } ${time}  #${event.position}  ${event.content.message}`,
        4,
      ),
      ...effectLines(event).map((text) => fit(`    ${text}`, 6)),
    );
    if (verbose) {
      const others = event.changes.filter(({ field }) => !isMove(field));
      lines.push(
        ...others.map((change) => fit(`    ${changeText(change)}`, 6)),
      );
    }
  }
  if (leftOut > 0) lines.push("", fit(leftOutText(leftOut), 0));
  return [...lines, ...(verbose ? sources(fields, fit) : [])];
}

/** Says that an explanation does not list every event. */
export function leftOutText(leftOut: number): string {
  const events = leftOut === 1 ? "event is" : "events are";
  return `${leftOut} more ${events} not listed: too many name this order. ` +
    "Webhooks change nothing that the service has shown.";
}

/** What an event did, in lines: its move, or that it made none, and why. */
function effectLines(
  { effect, move, changes, why }: ExplainedEventJson,
): string[] {
  if (effect !== "changed") return [`Changes nothing. ${why.message}`];
  const lines = move === null ? [] : [move.message];
  for (const { field, before, after } of changes) {
    const [group, kind] = field.split(".");
    if (field === "release" && before !== null) {
      lines.push(`release: ${before} -> ${after}`);
    } else if (group === "anomalies") {
      lines.push(
        after === null ? `no longer ${kind}: ${before}` : `${kind}: ${after}`,
      );
    }
  }
  if (lines.length === 0) {
    const fields = changes.map(({ field }) => field).join(", ");
    lines.push(`no move; adds to ${fields}`);
  }
  return [...lines, why.message];
}

/** Whether a change of the field is said in the move already. */
function isMove(field: string): boolean {
  return field === "status" || field === "trust" || field === "release" ||
    field.startsWith("anomalies.");
}

function changeText(
  { field, before, after }: ExplainedEventJson["changes"][number],
): string {
  return `${field}: ${before ?? "none"} -> ${after ?? "none"}`;
}

function sources(
  fields: Explanation["fields"],
  fit: (text: string, hang: number) => string,
): string[] {
  const bySource = Map.groupBy(
    fields,
    ({ source, position }) => `#${position} (${source})`,
  );
  return [
    "",
    "Where the fields come from:",
    ...[...bySource].map(([source, from]) =>
      fit(`  ${source}: ${from.map(({ field }) => field).join(", ")}`, 4)
    ),
  ];
}

/** Why the state of an order is what it is, event by event. */
export interface ExplanationJson
  extends Omit<Explanation, "state" | "context" | "events"> {
  /** The state. */
  readonly state: OrderJson;
  /** How fresh it is; null where it is as of an earlier time. */
  readonly freshness: Freshness | null;
  /** The events, oldest first. */
  readonly events: readonly ExplainedEventJson[];
}

/** An event of an order: what it says, what it did, and why. */
export interface ExplainedEventJson
  extends Omit<ExplainedEvent, "content" | "move" | "changes" | "why"> {
  /** The move that it made; null when it made none. */
  readonly move: (ExplainedMove & { readonly message: string }) | null;
  /** What it says. */
  readonly content: Worded<EventContent>;
  /** Fields that it changed. */
  readonly changes: readonly {
    readonly field: string;
    readonly before: string | null;
    readonly after: string | null;
  }[];
  /** Why it did what it did. */
  readonly why: Worded<EffectReason>;
}

/** An explanation as `--json` prints it. */
export function explanationJson(
  explanation: Explanation,
  nowMs: number,
  freshness: Freshness | null,
): ExplanationJson {
  const { context, ...explained } = explanation;
  const state = { ...explained.state, ...defined({ context }) };
  return {
    ...explained,
    state: orderJson(state, nowMs),
    freshness,
    events: explanation.events.map((event) => ({
      ...event,
      content: {
        ...event.content,
        message: describeEventContent(event.content),
      },
      move: event.move &&
        { ...event.move, message: describeMove(event.move) },
      changes: event.changes.map(({ field, before, after }) => ({
        field,
        before: describeValue(before),
        after: describeValue(after),
      })),
      why: { ...event.why, message: describeEffectReason(event.why) },
    })),
  };
}

/** A value of a field as text. */
function describeValue(value: FieldValue | null): string | null {
  return typeof value === "object" && value !== null
    ? describeAnomaly(value)
    : value;
}
