import assert from "node:assert/strict";
import { found } from "../../resources/health/finding.ts";
import {
  type Problem,
  problemOf,
  problemOver,
} from "../alarms/alarm_message.ts";
import { problemPort } from "./problem.ts";

/** What is told, a line each. */
function port() {
  const told: Problem[] = [];
  const lines = () => told.map(({ code, level }) => `${level} ${code}`);
  return { ...problemPort((problem) => void told.push(problem)), told, lines };
}

Deno.test("problemPort() tells what a part of the program logs, and which of several it is about", () => {
  const { log, told } = port();
  log("error", "handler_failing", {
    since: "2026-01-01T00:00:00Z",
    name: "mail",
    key: "order:a:release.yes",
    message: "mail: no printer",
    advice: "Mend it",
  });
  log("info", "chain_head", { position: 1 });
  assert.deepEqual(told, [{
    subject: null,
    code: "handler_failing",
    about: "mail",
    level: "problem",
    since: "2026-01-01T00:00:00Z",
    message:
      "A handler fails: its calls are retried at growing intervals: mail: no printer",
    next: "Mend it",
    facts: { key: "order:a:release.yes" },
  }]);
});

Deno.test("problemPort() tells of a look once, and that it is over only after it", () => {
  const { onProblem, told, lines } = port();
  const suspected = found("delivery_suspected", { since: "2026-01-01T00:00Z" });
  onProblem(problemOver(suspected));
  onProblem(problemOf(suspected));
  onProblem(problemOf(suspected));
  onProblem(problemOver(suspected));
  assert.deepEqual(lines(), [
    `${suspected.level} delivery_suspected`,
    "fine delivery_suspected",
  ]);
  assert.equal(told[0]?.subject, "delivery");
  assert.match(told[1]?.message ?? "", /^Over: /);
  assert.equal(told[1]?.next, null);
});

Deno.test("problemPort() does not tell of a look what a part has told before, until that is over", () => {
  const { log, onProblem, lines } = port();
  log("error", "delivery_suspected");
  onProblem(problemOf(found("delivery_suspected")));
  log("info", "delivery_recovered");
  onProblem(problemOf(found("delivery_suspected")));
  assert.deepEqual(lines(), [
    "problem delivery_suspected",
    "fine delivery_recovered",
    `${found("delivery_suspected").level} delivery_suspected`,
  ]);
});
