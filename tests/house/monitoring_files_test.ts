import assert from "node:assert/strict";
import {
  ALARM_CODES,
  CONDITIONS,
  SUBJECTS,
} from "../../resources/health/conditions.ts";
import { isInstalled } from "../kit/is_installed.ts";

const file = new URL("../../docs/deploy/prometheus_rules.yml", import.meta.url);
const rules = await Deno.readTextFile(file);

/** The rule of an alarm, with the words of its condition. */
function ruleOf(code: typeof ALARM_CODES[number]): string {
  const { level, means, next, subject, alarmAfterMs = 60_000 } =
    CONDITIONS[code];
  const name = code.replace(/(?:^|_)(\w)/g, (_, one) => one.toUpperCase());
  const condition = `rampkit_condition{code="${code}"}`;
  // Each machine has its own, or all of a ledger have one.
  const expr = SUBJECTS[subject].isLocal === true
    ? `${condition} == 1`
    : `max by (job) (${condition}) == 1`;
  return [
    `      - alert: Rampkit${name}`,
    `        expr: ${JSON.stringify(expr)}`,
    `        for: ${alarmAfterMs / 60_000}m`,
    "        labels:",
    `          severity: ${level === "problem" ? "critical" : "warning"}`,
    "        annotations:",
    `          summary: ${JSON.stringify(means)}`,
    `          description: ${
      JSON.stringify(next ?? "rampkit doctor says what to do")
    }`,
  ].join("\n");
}

Deno.test("there is one rule of Prometheus for each alarm, with its words, and one for a serve that is silent", () => {
  const found = rules.trimEnd().split(/\n(?= {6}- alert: )/).slice(1);
  const silent = found.pop() ?? "";
  assert.deepEqual(found, ALARM_CODES.map(ruleOf));
  assert.match(silent, /RampkitSilent\n +expr: "absent\(rampkit_condition\)"/);
});

Deno.test({
  name: "promtool takes the rules, where it is installed",
  ignore: !await isInstalled("promtool"),
  fn: async () => {
    const { code, stdout, stderr } = await new Deno.Command("promtool", {
      args: ["check", "rules", file.pathname],
    }).output();
    const said = new TextDecoder().decode(stdout) +
      new TextDecoder().decode(stderr);
    assert.equal(code, 0, said);
    assert.match(said, new RegExp(`${ALARM_CODES.length + 1} rules found`));
  },
});
