import assert from "node:assert/strict";
import config from "../../deno.json" with { type: "json" };
import { pages } from "../../tools/pack.ts";
import { cli } from "../kit/cli.ts";
import { VARIABLES } from "../../core/settings/settings.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

/** Tasks that are no commands of the program. */
const TASKS = Object.entries(config.tasks).flatMap(([name, { command }]) =>
  command.endsWith(`cli/main.ts ${name}`) ? [] : [name]
);

/** What a document tells its reader to run, without comments. */
function commandLines(text: string): string[] {
  const fences = [...text.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)]
    .flatMap(([, body = ""]) => body.split("\n"));
  const spans = [
    ...text.replace(/^ *```[\s\S]*?^ *```/gm, "").matchAll(/`([^`]+)`/g),
  ]
    .map(([, span = ""]) => span.replace(/\s+/g, " "));
  return [...fences, ...spans].flatMap((line) => {
    const [command = ""] = line.split(" #");
    const found =
      /(?:^|[ (])(?:rampkit|(?:npx -y )?deno(?:@\S+)? task(?: -q)?) ([a-z].*)/
        .exec(command);
    return found?.[1] === undefined ? [] : [found[1].trim()];
  });
}

Deno.test("every command and flag that the documents name exists", async () => {
  const help = new Map<string, string>();
  const helpOf = async (path: string[]) => {
    const name = path.join(" ");
    const known = help.get(name);
    if (known !== undefined) return known;
    const { code, out } = await cli([...path, "--help"]);
    assert.equal(code, 0, name);
    help.set(name, out);
    return out;
  };
  const top = await helpOf([]);
  const wrong: string[] = [];
  let looked = 0;
  for (const document of await pages(root)) {
    if (!document.endsWith(".md")) continue;
    const text = await Deno.readTextFile(`${root}/${document}`);
    for (const line of commandLines(text)) {
      const [first = "", second = ""] = line.split(/[\s,)]+/);
      if (TASKS.includes(first)) continue;
      looked++;
      if (!new RegExp(`^ {2}${first}\\b`, "m").test(top)) {
        wrong.push(`${document}: ${line}`);
        continue;
      }
      const outer = await helpOf([first]);
      const inner = new RegExp(`^ {2}${second}\\b`, "m");
      const isGroup = outer.includes("\nCommands:\n");
      if (isGroup && second !== "" && !inner.test(outer)) {
        wrong.push(`${document}: ${line}`);
        continue;
      }
      const flags = isGroup && second !== ""
        ? await helpOf([first, second])
        : outer;
      for (const [flag] of line.matchAll(/(?<=\s)--[a-z-]+/g)) {
        if (!flags.includes(flag)) wrong.push(`${document}: ${line}: ${flag}`);
      }
    }
  }
  assert.ok(looked > 25, `only ${looked} commands were found`);
  assert.deepEqual(wrong, []);
});

Deno.test("reference and help name every variable, and no other", async () => {
  const names = (text: string) =>
    [...new Set(text.match(/RAMPKIT_[A-Z_]+/g) ?? [])].sort();
  const page = await Deno.readTextFile(
    new URL("../../docs/reference/settings.md", import.meta.url),
  );
  const all = Object.values(VARIABLES).sort();
  assert.deepEqual(names(page), all);
  assert.deepEqual(names((await cli(["--help"])).out), all);
});
