import type { Explanation } from "../ledger/mod.ts";
import { orderLines } from "./order_view.ts";
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
        `${MARK[event.outcome]} ${time}  #${event.position}  ${event.says}`,
        4,
      ),
      fit(`    ${event.why}`, 4),
    );
    for (const { field, before, after } of event.changes) {
      lines.push(
        fit(`    ${field}: ${before ?? "none"} -> ${after ?? "none"}`, 6),
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
