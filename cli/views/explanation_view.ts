import type {
  EventContent,
  ExplainedEvent,
  ExplainedMove,
  FieldValue,
  OutcomeReason,
} from "../../ledger/internals.ts";
import type { Explanation } from "../../ledger/mod.ts";
import { describeAnomaly } from "../wording/anomaly.ts";
import { describeEventContent } from "../wording/event_content.ts";
import { describeMove } from "../wording/order_move.ts";
import { describeOutcomeReason } from "../wording/outcome_reason.ts";
import {
  type OrderJson,
  orderJson,
  orderLines,
  type Worded,
} from "./order_view.ts";
import { printable } from "./printable.ts";
import { wrap } from "./wrap.ts";

const MARK = { changed: "+", refused: "!", unchanged: "=" } as const;

/**
 * An explanation for people: the state, then every event with what it changed
 * or why it changed nothing, then where each field comes from.
 */
export function explanationLines(
  explanation: Explanation,
  columns: number | null,
): string[] {
  const fit = (text: string, hang: number) =>
    wrap(printable(text), columns, hang);
  const lines = [
    ...orderLines(explanation.state, columns),
    "",
    fit(
      `${explanation.events.length} events, oldest first, by when they were ` +
        "recorded (UTC); + changed the state, = said nothing new, ! was refused:",
      0,
    ),
  ];
  for (const event of explanation.events) {
    const time = event.recordedAt.replace("T", " ").replace("Z", "");
    lines.push(
      "",
      fit(
        `${MARK[event.outcome]} ${time}  #${event.position}  ${
          describeEventContent(event.says)
        }`,
        4,
      ),
      fit(`    ${describeOutcomeReason(event.why)}`, 4),
    );
    if (event.move !== null) {
      lines.push(fit(`    Move: ${describeMove(event.move)}`, 6));
    }
    for (const { field, before, after } of event.changes) {
      lines.push(
        fit(
          `    ${field}: ${describeValue(before) ?? "none"} -> ${
            describeValue(after) ?? "none"
          }`,
          6,
        ),
      );
    }
  }
  lines.push("", "Where the fields come from:");
  const fields = Map.groupBy(
    explanation.fields,
    ({ source, position }) => `#${position} (${source})`,
  );
  for (const [source, from] of fields) {
    const names = from.map(({ field }) => field).join(", ");
    lines.push(fit(`  ${source}: ${names}`, 4));
  }
  return lines;
}

/** The stable `--json` shape of an explanation, documented in COMMANDS.md. */
export interface ExplanationJson extends Omit<Explanation, "events"> {
  readonly state: OrderJson;
  readonly events: readonly ExplainedEventJson[];
}

/** An event of an explanation, in words. */
export interface ExplainedEventJson
  extends Omit<ExplainedEvent, "says" | "move" | "changes" | "why"> {
  readonly move: (ExplainedMove & { readonly message: string }) | null;
  readonly says: Worded<EventContent>;
  readonly changes: readonly {
    readonly field: string;
    readonly before: string | null;
    readonly after: string | null;
  }[];
  readonly why: Worded<OutcomeReason>;
}

/** An explanation as `--json` prints it. */
export function explanationJson(explanation: Explanation): ExplanationJson {
  return {
    ...explanation,
    state: orderJson(explanation.state),
    events: explanation.events.map((event) => ({
      ...event,
      says: { ...event.says, message: describeEventContent(event.says) },
      move: event.move &&
        { ...event.move, message: describeMove(event.move) },
      changes: event.changes.map(({ field, before, after }) => ({
        field,
        before: describeValue(before),
        after: describeValue(after),
      })),
      why: { ...event.why, message: describeOutcomeReason(event.why) },
    })),
  };
}

/** A value of a field as text. */
function describeValue(value: FieldValue | null): string | null {
  return typeof value === "object" && value !== null
    ? describeAnomaly(value)
    : value;
}
