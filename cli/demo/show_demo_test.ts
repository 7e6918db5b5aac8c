import assert from "node:assert/strict";
import { startedAs } from "../commands/demo.ts";

Deno.test("startedAs() names the program as it was started", () => {
  const modules = "node_modules/@rampkit/onramp/cli/commands/demo.js";
  for (
    const [module, npmCommand, name] of [
      [
        "file:///home/a/cli/commands/demo.ts",
        "exec",
        "npx -y deno@2.9.6 task rampkit",
      ],
      [`file:///home/a/shop/${modules}`, undefined, "rampkit"],
      [`file:///home/a/shop/${modules}`, "run-script", "rampkit"],
      [`file:///home/a/shop/${modules}`, "exec", "npx rampkit"],
      [`file:///home/a/.npm/_npx/0f/${modules}`, "exec", "npx @rampkit/onramp"],
      ["https://registry.example/demo.ts", undefined, "rampkit"],
    ] as const
  ) assert.equal(startedAs(module, npmCommand), name, module);
});
