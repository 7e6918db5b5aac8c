import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../tests/kit/temporary_folder.ts";
import { examplesOf } from "./run_tests.ts";

Deno.test("a run whose test waits for what never comes ends, fails, and names the test", async () => {
  await using folder = await temporaryFolder();
  const file = `${folder.path}/endless_test.ts`;
  await Deno.writeTextFile(
    file,
    `Deno.test("waits for ever", async () => {
      for (;;) await new Promise((resolve) => setTimeout(resolve, 10));
    });`,
  );
  const run = async (patience: number) => {
    const { code, stdout } = await new Deno.Command("deno", {
      args: [
        ...["run", "--allow-env", "--allow-read", "--allow-write"],
        ...["--allow-run=deno", "tools/run_tests.ts", file],
      ],
      cwd: fileURLToPath(new URL("..", import.meta.url)),
      env: { RAMPKIT_TEST_PATIENCE_MS: String(patience), NO_COLOR: "1" },
      stderr: "null",
    }).output();
    assert.notEqual(code, 0);
    return new TextDecoder().decode(stdout);
  };
  let said = await run(2_000);
  // On a busy machine the test has not begun by then: there is none to name.
  if (!/waits for ever/.test(said)) said = await run(60_000);
  assert.match(said, /waits for ever/);
  assert.match(said, /\n0 passed, 1 failed\n$/);
});

const FENCE = "```";

Deno.test("examplesOf() takes what runs from comments and pages, and nothing that is marked", () => {
  const text = `/**
 * Adds.
 *
 * ${FENCE}ts
 * if (add(1, 2) !== 3) {
 *   throw new Error();
 * }
 * ${FENCE}
 * ${FENCE}ts ignore
 * never();
 * ${FENCE}
 */
${FENCE}sh
no test
${FENCE}
${FENCE}js
page();
${FENCE}
`;
  assert.deepEqual(examplesOf(text), [
    { line: 5, code: "if (add(1, 2) !== 3) {\n  throw new Error();\n}" },
    { line: 17, code: "page();" },
  ]);
});
