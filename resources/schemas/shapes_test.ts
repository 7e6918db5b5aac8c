import assert from "node:assert/strict";
import { jsonCommands } from "../../tests/kit/commands.ts";
import { SHAPES } from "./shapes.ts";

Deno.test("every command with --json has a schema, and every schema names commands that there are", () => {
  const commands = jsonCommands();
  const named = Object.values(SHAPES).flatMap(({ commands }) => commands)
    .map((command) => command.replace(/ (?:--|[A-Z]{2}).*$/, ""));
  // They print JSON without the flag.
  const withoutFlag = ["orders export", "webhook parse", "ledger export"];
  assert.deepEqual(
    [...new Set(named)].sort(),
    [...commands, ...withoutFlag].sort(),
  );
});

Deno.test("every shape says what it is", () => {
  for (const [name, { description }] of Object.entries(SHAPES)) {
    assert.match(description, /^[A-Z]/i, name);
    assert.match(name, /^[a-z]+(-[a-z]+)*$/);
    assert.ok(!description.endsWith("."), name);
  }
});
