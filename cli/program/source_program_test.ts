import assert from "node:assert/strict";
import { UsageError } from "../../core/settings/errors.ts";
import { requireSource } from "./source_program.ts";

Deno.test("requireSource() says how to get what the published package lacks", async () => {
  for (
    const base of [
      "https://packages.example/rampkit/0.1.0/cli/commands/sim.ts",
      "file:///nowhere/rampkit/cli/commands/sim.ts",
    ]
  ) {
    await assert.rejects(
      requireSource({
        name: "the simulator",
        command: "sim",
        file: new URL("../../tests/sim/main.ts", base),
      }),
      (error) =>
        error instanceof UsageError &&
        /^Cannot run sim here: .*source.* clone .*: npx -y deno@2\.9\.6 task sim$/
          .test(error.message),
    );
  }
});

Deno.test("requireSource() finds what is there", async () => {
  await requireSource({
    name: "the simulator",
    command: "sim",
    file: new URL("../../tests/sim/main.ts", import.meta.url),
  });
});
