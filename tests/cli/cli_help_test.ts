import assert from "node:assert/strict";
import { main } from "../../cli/mod.ts";
import { cli } from "../kit/cli.ts";

/** Every command and subcommand, found by asking for help as a person would. */
async function commands(
  path: readonly string[] = [],
): Promise<{ readonly path: readonly string[]; readonly help: string }[]> {
  const { code, out } = await cli([...path, "--help"]);
  assert.equal(code, 0, path.join(" "));
  const section = /\nCommands:\n([\s\S]*?)\n(?:\n|$)/.exec(out)?.[1] ?? "";
  const names = [...section.matchAll(/^ {2}([a-z]+)/gm)]
    .map(([, name]) => name ?? "")
    .filter((name) => name !== "help");
  const below = [];
  for (const name of names) below.push(...await commands([...path, name]));
  return [{ path, help: out }, ...below];
}

Deno.test("every command that does something shows an example in its help", async () => {
  const all = await commands();
  const leaves = all.filter(({ help }) => !help.includes("\nCommands:\n"));
  assert.ok(leaves.length >= 25, `only ${leaves.length} commands were found`);
  for (const { path, help } of leaves) {
    assert.match(help, /\nExample:\n {2}.*\brampkit /, path.join(" "));
    assert.ok(
      help.includes(`rampkit ${path.join(" ")}`),
      `${path.join(" ")}: its example shows another command`,
    );
  }
});

Deno.test("every task that names a command names one that exists", async () => {
  const names = (await commands()).map(({ path }) => path.join(" "));
  const config = JSON.parse(
    await Deno.readTextFile(new URL("../../deno.json", import.meta.url)),
  );
  const tasks: { command: string }[] = Object.values(config.tasks);
  const started = tasks.flatMap(({ command }) =>
    [...command.matchAll(/cli\/main\.ts ([a-z]+)/g)].map(([, name]) => name)
  );
  // Of the tasks for users, `test`, `ok` and `rampkit` begin no single command.
  assert.deepEqual(
    [...Object.keys(config.tasks).slice(0, 13)].sort(),
    [...started, "ok", "rampkit", "test"].sort(),
  );
  for (const name of started) {
    assert.ok(names.includes(name ?? ""), `task ${name}`);
  }
  for (const { command } of tasks) {
    assert.doesNotMatch(command, / -A\b|--allow-all/);
  }
});

Deno.test("help fits 80 columns, but for examples that are copied whole", async () => {
  for (const { path, help } of await commands()) {
    const [text = ""] = help.split("\nExample:\n");
    for (const line of text.split("\n")) {
      assert.ok(line.length <= 80, `${path.join(" ")}: ${line}`);
    }
  }
});

Deno.test("schema says what each shape is where the terminal is narrow", async () => {
  let out = "";
  await main(["schema"], {
    out: (text) => out += text,
    err: () => {},
    env: () => undefined,
    columns: 80,
    colour: false,
    now: () => Date.now(),
    signal: new AbortController().signal,
  });
  assert.match(out, /^order-detail +An order, and how fresh it is$/m);
  for (const line of out.split("\n")) assert.ok(line.length <= 80, line);
});
