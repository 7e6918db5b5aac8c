import {
  ALARM_CODES,
  type ConditionCode,
  CONDITIONS,
} from "../../resources/health/conditions.ts";
import { SUBJECTS } from "../../resources/health/subjects.ts";

/** How long a condition stands before Prometheus tells of it. */
const FOR = "1m";

/** A text of YAML, whatever is in it. */
const quoted = (text: string) => JSON.stringify(text);

/** `delivery_suspected` as alert names are written: `RampkitDeliverySuspected`. */
export function alertName(code: ConditionCode): string {
  return "Rampkit" +
    code.split("_").map((word) =>
      word.slice(0, 1).toUpperCase() + word.slice(1)
    ).join("");
}

/**
 * Rules of Prometheus: one for each alarm, with its words and its next step, and
 * one for a `serve` that answers nothing.
 *
 * @returns YAML.
 */
export function prometheusRules(): string {
  const rules = ALARM_CODES.map((code) => {
    const { level, means, next, subject } = CONDITIONS[code];
    return rule({
      name: alertName(code),
      // Each machine has its own, or all of a ledger have one.
      expr: SUBJECTS[subject].isLocal === true
        ? `rampkit_condition{code="${code}"} == 1`
        : `max by (job) (rampkit_condition{code="${code}"}) == 1`,
      severity: level === "problem" ? "critical" : "warning",
      summary: means,
      description: next ?? "rampkit doctor says what to do",
    });
  });
  const silent = rule({
    name: "RampkitSilent",
    expr: "absent(rampkit_condition)",
    severity: "critical",
    summary: "No serve answers at /metrics",
    description: "Start `serve`, and see its last line if it does not start",
  });
  return [
    "# Printed from resources/health/conditions.ts: one rule for each alarm.",
    "groups:",
    "  - name: rampkit",
    "    rules:",
    ...rules,
    silent,
    "",
  ].join("\n");
}

function rule(
  { name, expr, severity, summary, description }: {
    readonly name: string;
    readonly expr: string;
    readonly severity: string;
    readonly summary: string;
    readonly description: string;
  },
): string {
  return [
    `      - alert: ${name}`,
    `        expr: ${quoted(expr)}`,
    `        for: ${FOR}`,
    "        labels:",
    `          severity: ${severity}`,
    "        annotations:",
    `          summary: ${quoted(summary)}`,
    `          description: ${quoted(description)}`,
  ].join("\n");
}
