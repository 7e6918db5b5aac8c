import assert from "node:assert/strict";

const root = new URL("../..", import.meta.url).pathname;

/** Completion answers on standard output itself, so it runs as a program. */
async function complete(...args: string[]): Promise<string> {
  const { code, stdout } = await new Deno.Command("deno", {
    args: [
      "run",
      "--no-prompt",
      "--allow-env",
      "--allow-read",
      "--allow-sys",
      `${root}cli/main.ts`,
      "complete",
      ...args,
    ],
  }).output();
  assert.equal(code, 0);
  return new TextDecoder().decode(stdout);
}

Deno.test("rampkit complete prints a script for each shell", async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    assert.match(await complete(shell), /rampkit/);
  }
});

Deno.test("rampkit complete answers what a shell asks: commands, flags and their values", async () => {
  assert.match(await complete("--", "orders", ""), /^explain\t/m);
  assert.match(await complete("--", "orders", "list", "--tr"), /^--trust\t/m);
  assert.match(
    await complete("--", "orders", "list", "--trust", ""),
    /^confirmed\t/m,
  );
});
