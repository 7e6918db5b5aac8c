import assert from "node:assert/strict";
import { readGuide, writeGuide } from "../guides/guide.ts";
import { pay, place, printedSale, shipped, start } from "../guides/shop.ts";
import { temporaryFolder } from "../kit/temporary_folder.ts";

const root = new URL("../..", import.meta.url).pathname;

Deno.test("the program of the README has at most 20 lines, and ships what was paid once, and nothing that was paid less", async () => {
  const guide = await readGuide("README.md");
  const [[name, program] = ["", ""]] = [...guide.files];
  assert.ok(program.trimEnd().split("\n").length <= 20);
  await using folder = await temporaryFolder();
  await writeGuide(guide, folder.path);
  await using at = await place(folder.path);
  const port = new URL(at.url).port;
  await Deno.writeTextFile(
    `${folder.path}/${name}`,
    program.replace("8787", port),
  );
  const options = ["--no-check", "--cached-only", `--config=${root}deno.json`];
  await using running = start(
    ["deno", "run", ...options, "-A", name],
    folder.path,
    at.env,
  );
  const sold = await printedSale(running);
  // Less was paid than the basket costs: that is for a person to look at.
  const cheap = await pay(at, sold, "1.00");
  const paid = await pay(at, sold);
  assert.notEqual(cheap, paid);
  assert.equal(await shipped(running, "basket-1"), 1);
  assert.equal(await running.end(), 0);
});
