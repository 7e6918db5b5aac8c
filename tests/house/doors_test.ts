import assert from "node:assert/strict";
import { modulesOf } from "../kit/architecture.ts";
import { importsOf } from "../kit/imports.ts";
import { isTestFile, moduleOf, sourceFiles } from "../kit/source_files.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");
const modules = modulesOf(await Deno.readTextFile(`${root}/ARCHITECTURE.md`));
const names = modules.map(({ name }) => name);
const withDoors = new Set(
  modules.filter(({ hasDoors }) => hasDoors).map(({ name }) => name),
);

/** A door of a module: the public ones, and the inner ones by their users. */
const DOOR = /^\w+\/(?:mod|types|for_(\w+))\.ts$/;

Deno.test("no import from another module reaches past a door", async () => {
  const wrong: string[] = [];
  for (const { file, target, imported } of await importsOf(root)) {
    const to = moduleOf(target);
    if (!imported || moduleOf(file) === to || !withDoors.has(to)) continue;
    const kit = isTestFile(file) && target.startsWith(`${to}/testing/`);
    if (!kit && !DOOR.test(target)) wrong.push(`${file} imports ${target}`);
  }
  assert.deepEqual(wrong, []);
});

Deno.test("an inner door is used by the module that it is named for, and by those below", async () => {
  const users = new Map<string, string[]>();
  const wrong: string[] = [];
  for (const { file, target, imported } of await importsOf(root)) {
    const [, user] = DOOR.exec(target) ?? [];
    if (user === undefined || !imported || isTestFile(file)) continue;
    users.set(target, [...users.get(target) ?? [], moduleOf(file)]);
    const first = names.indexOf(user);
    if (names.indexOf(moduleOf(file)) < first) {
      wrong.push(`${file} imports ${target}`);
    }
  }
  assert.deepEqual(wrong, []);
  for (const file of await sourceFiles(root)) {
    const [, user] = DOOR.exec(file) ?? [];
    if (user === undefined) continue;
    assert.ok(users.has(file), `nobody uses ${file}`);
    assert.ok(
      !names.includes(user) || users.get(file)?.includes(user),
      `${user} does not use ${file}`,
    );
  }
});

Deno.test("an inner door carries only what somebody uses", async () => {
  const used = new Set<string>();
  const carried: string[] = [];
  for (const file of await sourceFiles(root)) {
    const text = await Deno.readTextFile(`${root}/${file}`);
    const lists = text.matchAll(
      /^(import|export) (?:type )?\{([^}]*)\}\s+from "([^"]+)";/gm,
    );
    for (const [, how, list = "", from = ""] of lists) {
      const door = how === "export"
        ? file
        : new URL(from, `file:///${file}`).pathname.slice(1);
      if (DOOR.exec(door)?.[1] === undefined) continue;
      for (const entry of list.split(",")) {
        const name = entry.trim().replace(/^type /, "").split(" as ")[0] ?? "";
        if (name === "") continue;
        if (how === "import") used.add(`${door}: ${name}`);
        else carried.push(`${door}: ${name}`);
      }
    }
  }
  assert.ok(carried.length > 100);
  assert.deepEqual(carried.filter((name) => !used.has(name)), []);
});

Deno.test("the package exports no inner door", async () => {
  const config = JSON.parse(await Deno.readTextFile(`${root}/deno.json`));
  const paths = Object.values<string>(config.exports);
  assert.deepEqual(paths.filter((path) => path.includes("for_")), []);
});
