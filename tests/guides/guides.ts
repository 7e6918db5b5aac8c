/**
 * The pages of `guides/`, each with the packed package installed from the
 * registry, run as it stands against the sandbox: `deno task test:guides`.
 *
 * @module
 */
import assert from "node:assert/strict";
import { installedPackage } from "../runtimes/installed_package.ts";
import { until } from "../kit/until.ts";
import { readGuide, writeGuide } from "./guide.ts";
import { postgres } from "./postgres.ts";
import { buy, pay, place, printedSale, shipped, start } from "./shop.ts";

const NPM = ["npm", "install", "--no-audit", "--no-fund", "--prefer-offline"];

/**
 * How each page says that its program is started. What npx starts is named
 * itself: a signal to npx would not reach it.
 */
const PAGES: Readonly<
  Record<
    string,
    {
      readonly build?: readonly string[];
      readonly start: readonly string[];
      /** What a machine that runs it has. */
      readonly has?: readonly string[];
    }
  >
> = {
  "guides/deno.md": { start: ["deno", "run", "-A", "app.ts"] },
  "guides/bun.md": { start: [".bin/bun", "app.mjs"], has: ["bun"] },
  "guides/hono.md": { start: ["node", "app.mjs"] },
  "guides/express.md": { start: ["node", "app.mjs"] },
  "guides/next.md": {
    build: ["npx", "next", "build"],
    start: [".bin/next", "start"],
  },
};

/** A command whose program may be one that is installed in the folder. */
function inside(
  folder: string,
  [program = "", ...args]: readonly string[],
): readonly string[] {
  const isInstalled = program.startsWith(".bin/");
  return [isInstalled ? `${folder}/node_modules/${program}` : program, ...args];
}

for (const [page, guided] of Object.entries(PAGES)) {
  const { build, start: command, has = [] } = guided;
  Deno.test(`${page} sells, takes the webhook, confirms and ships once`, async () => {
    const guide = await readGuide(page);
    await using installed = await installedPackage();
    const { folder } = installed;
    const packages = [...guide.packages, ...has];
    if (packages.length > 0) await installed.run([...NPM, ...packages]);
    await writeGuide(guide, folder);
    if (build) await installed.run(build);
    await using at = await place(folder);
    await using program = start(inside(folder, command), folder, at.env);
    await pay(at, await buy(at.url));
    assert.equal(await shipped(program, "basket-1"), 1);
  });
}

for (
  const command of [["deno", "run", "-A"], ["node"], [".bin/bun"]]
) {
  Deno.test(`the program of README sells and ships once with ${command.at(-1)}`, async () => {
    const guide = await readGuide("README.md");
    await using installed = await installedPackage();
    const { folder } = installed;
    if (command[0] === ".bin/bun") await installed.run([...NPM, "bun"]);
    await using at = await place(folder);
    const port = new URL(at.url).port;
    const [[name, text] = ["", ""]] = [...guide.files];
    await Deno.writeTextFile(`${folder}/${name}`, text.replace("8787", port));
    await using program = start(
      inside(folder, [...command, name]),
      folder,
      at.env,
    );
    const { sessionId, clickId } = await printedSale(program);
    await installed.run([
      ...["node", "node_modules/@rampkit/onramp/cli/main.js", "trigger"],
      ...["success", "--session", sessionId, "--click", clickId],
      ...["--sandbox", at.sandbox.url],
    ]);
    assert.equal(await shipped(program, "basket-1"), 1);
  });
}

Deno.test("guides/moving.md replays bodies of old, and ships nothing of them", async () => {
  const guide = await readGuide("guides/moving.md");
  await using installed = await installedPackage();
  const { folder, run } = installed;
  await writeGuide(guide, folder);
  const program = "node_modules/@rampkit/onramp/cli/main.js";
  const said = await run(["node", program, "webhook", "replay", "old.ndjson"]);
  assert.match(said, /2/);
  const listed = await run(["node", program, "orders", "list", "--json"]);
  const orders = listed.trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(orders.map(({ trust }) => trust), ["claimed", "claimed"]);
});

Deno.test("guides/postgres.md keeps its table in step, exactly once, through four kills", async () => {
  const guide = await readGuide("guides/postgres.md");
  await using installed = await installedPackage();
  const { folder } = installed;
  await installed.run([...NPM, ...guide.packages]);
  await writeGuide(guide, folder);
  await using database = await postgres();
  await using at = await place(folder);
  const env = { ...at.env, DATABASE_URL: database.url };
  const run = () => start(["node", "app.mjs"], folder, env);
  const references: string[] = [];
  let program = run();
  for (let round = 0; round < 5; round++) {
    for (let basket = 0; basket < 4; basket++) {
      const reference = `basket-${round}-${basket}`;
      references.push(reference);
      const query = `?reference=${reference}`;
      await pay(at, await buy(at.url, query));
    }
    if (round === 4) break;
    await program.kill();
    program = run();
  }
  await using last = program;
  const shipments = () =>
    database.query("SELECT reference FROM shipments ORDER BY reference");
  await until(async () => (await shipments()).length === references.length);
  await new Promise((resolve) => setTimeout(resolve, 3000));
  assert.deepEqual(
    await shipments(),
    references.toSorted(),
    last.lines.join("\n"),
  );
  const rows = await database.query(
    "SELECT DISTINCT status || ' ' || trust || ' ' || release FROM onramp_orders",
  );
  assert.deepEqual(rows, ["success confirmed yes"]);
});
