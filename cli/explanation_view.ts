import type { Explanation } from "../ledger/mod.ts";
import { orderLines } from "./order_view.ts";
import { printable } from "./printable.ts";

const MARK = { changed: "+", refused: "!", unchanged: "=" } as const;

/**
 * An explanation for people: the state, then every event with what it changed
 * or why it changed nothing, then where each field comes from.
 */
export function explanationLines(explanation: Explanation): string[] {
  const lines = [
    ...orderLines(explanation.state),
    "",
    `${explanation.events.length} events, oldest first ` +
    "(+ changed the state, = said nothing new, ! was refused):",
  ];
  for (const event of explanation.events) {
    lines.push(
      "",
      `${MARK[event.outcome]} ${
        event.recordedAt.replace("T", " ").replace("Z", "")
      }  #${event.position}  ${printable(event.says)}`,
      `    ${printable(event.why)}`,
    );
    for (const { field, before, after } of event.changes) {
      lines.push(
        `    ${field}: ${printable(before ?? "none")} -> ${
          printable(after ?? "none")
        }`,
      );
    }
  }
  lines.push("", "Where the fields come from:");
  const fields = Map.groupBy(
    explanation.fields,
    ({ source, position }) => `#${position} (${source})`,
  );
  for (const [source, from] of fields) {
    lines.push(`  ${source}: ${from.map(({ field }) => field).join(", ")}`);
  }
  return lines;
}
