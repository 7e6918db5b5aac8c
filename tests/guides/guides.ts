/**
 * The pages of `docs/guides/` and the program of README, as they stand, with the
 * packed package installed from the registry: `deno task test:guides`. One page
 * alone: `deno task test:guides --filter hono`.
 *
 * @module
 */
import assert from "node:assert/strict";
import {
  sqldAvailable,
  startSqld,
} from "../../ledger/testing/sqld_test_server.ts";
import { until } from "../kit/until.ts";
import { isBrowserMissing } from "../kit/browser.ts";
import { asBuyer } from "./buyer.ts";
import { type Guide, readGuide } from "./guide.ts";
import { postgres } from "./postgres.ts";
import { type Project, projects } from "./project.ts";
import {
  answers,
  buy,
  freePort,
  pastOrders,
  pay,
  place,
  printedSale,
  type Program,
  shipped,
  startReceiver,
} from "./shop.ts";

const root = new URL("../..", import.meta.url).pathname;
const noBrowser = await isBrowserMissing();
const partner = await projects();
Deno.test.afterAll(async () => await partner[Symbol.asyncDispose]());

/** Waits until a program says on its own what a customer paid short. */
async function tellsOfShortPayment(
  program: Program,
  basket: string,
): Promise<void> {
  const line = `waits for a person: paid 1.00 of 49.90 USD, ${basket}`;
  await program.until(
    () => program.lines.some((said) => said.includes(line)),
    "it tells of what was paid short",
  );
}

/** The command of a page that begins so. */
function command({ commands }: Guide, beginning: string): string {
  const found = commands.find((line) => line.startsWith(beginning));
  assert.ok(found, `The page has no command ${beginning}`);
  return found;
}

for (const name of ["deno", "bun", "hono", "express", "next"]) {
  Deno.test(`guides/${name}.md sells, takes the webhook, confirms and ships once`, async () => {
    const guide = await readGuide(`docs/guides/${name}.md`);
    await using project = await partner.withGuide(guide);
    for (const line of guide.commands.slice(0, -1)) await project.run(line);
    await using at = await place(project.folder);
    const serving = guide.commands.at(-1) ?? "";
    await using program = project.start(serving, at.env);
    await pay(at, await buy(program, at.url));
    assert.equal(await shipped(program, "basket-1"), 1);
  });
}

for (const runtime of ["node", "deno run -A", "bun"]) {
  Deno.test(`README sells, takes the webhook, confirms and ships once: ${runtime} app.mjs`, async () => {
    const guide = await readGuide("README.md");
    const own = freePort();
    const files = new Map([...guide.files].map(([name, text]) => [
      name,
      text.replace("8787", String(own)),
    ]));
    await using project = await partner.withGuide({ ...guide, files });
    const secret = command(guide, "export RAMPKIT_WEBHOOK_SECRET=");
    const env = {
      RAMPKIT_WEBHOOK_SECRET: await project.run(
        `${secret}; echo $RAMPKIT_WEBHOOK_SECRET`,
      ).then((said) => said.trim()),
    };
    const to = `http://127.0.0.1:${own}/webhooks/${env.RAMPKIT_WEBHOOK_SECRET}`;
    await using sandbox = project.start(
      `${command(guide, "npx rampkit sandbox")} --port 0 --webhook-url ${to}`,
      env,
    );
    // The lines that it prints are pasted as they are.
    const pasted = () =>
      sandbox.lines.filter((line) => line.trim().startsWith("export "));
    await sandbox.until(() => pasted().length === 2, "two lines to paste");
    await Deno.writeTextFile(
      `${project.folder}/paste.sh`,
      `${pasted().join("\n")}\nexec ${runtime} app.mjs\n`,
    );
    await using program = project.start("bash paste.sh", env);
    const { sessionId, clickId } = await printedSale(program);
    const url = /RAMPKIT_BASE_URL=(\S+)/.exec(pasted().join("\n"))?.[1];
    const trigger =
      `npx rampkit trigger success --session ${sessionId} --click ${clickId} ` +
      `--sandbox ${url}`;
    await project.run(trigger);
    assert.equal(await shipped(program, "basket-1"), 1);
    await project.run(`${trigger} --amount 1.00`);
    await tellsOfShortPayment(program, "basket-1. What to do: Compare");
    assert.equal(await shipped(program, "basket-1"), 1);
  });
}

for (const runtime of ["node", "deno run -A"]) {
  Deno.test({
    name: `README sells on a page, and tests its handler: ${runtime} shop.mjs`,
    ignore: noBrowser,
    fn: async () => {
      const guide = await readGuide("README.md");
      const own = freePort();
      const files = new Map([...guide.files].map(([name, text]) => [
        name,
        text.replace("8787", String(own)),
      ]));
      await using project = await partner.withGuide({ ...guide, files });
      await project.run(command(guide, "npm install @wert-io"));
      await project.run(command(guide, "npx esbuild"));
      await project.run(command(guide, "node --test"));
      await using at = await place(project.folder, undefined, own);
      const serving = command(guide, "node shop.mjs");
      await using program = project.start(
        serving.replace("node", runtime),
        at.env,
      );
      await answers(program, at.url);
      await asBuyer(at.url, ({ pay }) => pay());
      assert.equal(await shipped(program, ""), 1);
      await asBuyer(at.url, ({ pay }) => pay("1.00"));
      await tellsOfShortPayment(program, "");
      assert.equal(await shipped(program, ""), 1);
    },
  });
}

Deno.test({
  name:
    "guides/page.md sells on a page, ships once, and tells of a short payment",
  ignore: noBrowser,
  fn: async () => {
    const guide = await readGuide("docs/guides/page.md");
    await using project = await partner.withGuide(guide);
    for (const line of guide.commands.slice(0, -1)) await project.run(line);
    await using at = await place(project.folder);
    const serving = guide.commands.at(-1) ?? "";
    await using program = project.start(serving, at.env);
    await answers(program, at.url);
    await asBuyer(at.url, async ({ pay, reads }) => {
      await pay();
      await reads("Thank you");
    });
    assert.equal(await shipped(program, "basket-"), 1);
    await asBuyer(at.url, ({ pay }) => pay("1.00"));
    await tellsOfShortPayment(program, "basket-");
    assert.equal(await shipped(program, "basket-"), 1);
  },
});

Deno.test("guides/testing.md tests a handler with four runners, and chaos finds one that ships twice", async () => {
  const guide = await readGuide("docs/guides/testing.md");
  await using project = await partner.withGuide(guide);
  for (const line of guide.commands) await project.run(line);
  const path = `${project.folder}/handlers.mjs`;
  const handlers = await Deno.readTextFile(path);
  const careless = handlers.replace(" || shipments.includes(reference)", "");
  assert.notEqual(careless, handlers);
  await Deno.writeTextFile(path, careless);
  const page = await Deno.readTextFile(`${root}docs/guides/testing.md`);
  const [, broken = ""] = /```text\n([^]*?)```/.exec(page) ?? [];
  const said = await project.run("node --test shop.test.mjs || true");
  for (const line of broken.trim().split("\n")) {
    assert.ok(said.includes(line.trim()), `${line}\n${said}`);
  }
});

Deno.test("guides/python.md sells, and releases once by a signed webhook", async () => {
  const guide = await readGuide("docs/guides/python.md");
  const [api, hooksPort] = [String(freePort()), String(freePort())];
  const files = new Map([...guide.files].map(([name, text]) => [
    name,
    text.replace("8789", api),
  ]));
  await using project = await partner.withGuide({ ...guide, files });
  const said = await project.run([
    command(guide, "export RAMPKIT_WEBHOOK_SECRET="),
    command(guide, "export RAMPKIT_FORWARD_SECRET="),
    command(guide, "export API_TOKEN="),
    command(guide, "export RAMPKIT_API_TOKENS="),
    "env",
  ].join("; "));
  const made = Object.fromEntries(
    [...said.matchAll(/^((?:RAMPKIT_|API_)\w+)=(.+)$/gm)].map((
      [, name = "", value = ""],
    ) => [name, value]),
  );
  await using at = await place(project.folder, made.RAMPKIT_WEBHOOK_SECRET);
  const env = { ...at.env, ...made };
  const serving = command(guide, "npx rampkit serve")
    .replace("8789", api).replace("3000", hooksPort);
  await using serve = project.start(
    `${serving} --port ${at.env.PORT}`,
    env,
  );
  await using receiver = project.start(command(guide, "python3 hooks.py"), {
    ...env,
    PORT: hooksPort,
  });
  await serve.until(
    () => serve.lines.some((line) => line.includes(`:${api}`)),
    "serve answers its API",
  );
  await using sell = project.start(command(guide, "python3 sell.py"), env);
  await pay(at, await printedSale(sell));
  const releases = () =>
    receiver.lines.filter((line) => line.startsWith("Release basket-1 "));
  await serve.until(() => releases().length > 0, "hooks.py releases");
  await new Promise((resolve) => setTimeout(resolve, 3000));
  assert.equal(releases().length, 1, receiver.lines.join("\n"));
});

Deno.test("guides/postgres.md keeps its table in step, exactly once, through four kills", async () => {
  const guide = await readGuide("docs/guides/postgres.md");
  await using project = await partner.withGuide(guide);
  await project.run(command(guide, "npm install"));
  await using database = await postgres();
  await using at = await place(project.folder);
  const env = { ...at.env, DATABASE_URL: database.url };
  const run = () => project.start(command(guide, "node app.mjs"), env);
  const references: string[] = [];
  let program = run();
  for (let round = 0; round < 5; round++) {
    for (let basket = 0; basket < 4; basket++) {
      const reference = `basket-${round}-${basket}`;
      references.push(reference);
      await pay(at, await buy(program, at.url, `?reference=${reference}`));
    }
    if (round === 4) break;
    await program.kill();
    program = run();
  }
  await using last = program;
  const shipments = () =>
    database.query("SELECT reference FROM shipments ORDER BY reference");
  await last.until(
    async () => (await shipments()).length === references.length,
    "all are shipped",
  );
  await new Promise((resolve) => setTimeout(resolve, 3000));
  assert.deepEqual(await shipments(), references.toSorted());
  const rows = await database.query(
    "SELECT DISTINCT status || ' ' || trust || ' ' || release FROM onramp_orders",
  );
  assert.deepEqual(rows, ["success confirmed yes"], last.lines.join("\n"));
});

Deno.test("guides/moving.md replays claims, has them confirmed, and exports every order", async () => {
  const guide = await readGuide("docs/guides/moving.md");
  await using project = await partner.withGuide(guide);
  await using at = await place(project.folder);
  const file = `${project.folder}/old.ndjson`;
  let old = await Deno.readTextFile(file);
  const past = pastOrders(at);
  ["success", "failed"].forEach((ending, index) => {
    const found = past.find(({ status }) => status === ending);
    assert.ok(found, ending);
    old = old.replace(`01M0000000000000000000OLD${index + 1}`, found.orderId);
  });
  await Deno.writeTextFile(file, old);
  for (const line of guide.commands) await project.run(line, at.env);
  const listed = await ordersOf(project, at.env);
  const csv = await Deno.readTextFile(`${project.folder}/orders.csv`);
  for (const { orderId, status } of past) {
    assert.equal(listed[orderId], `${status} confirmed`);
    assert.ok(csv.includes(orderId), orderId);
  }
});

Deno.test("guides/going_live.md reads the past, ships nothing of it, and ships what is sold next", async () => {
  const guide = await readGuide("docs/guides/going_live.md");
  const program = await readGuide("docs/guides/hono.md");
  await using project = await partner.withGuide(program);
  await project.run(command(program, "npm install"));
  await using at = await place(project.folder);
  const before = pastOrders(at);
  const run = command(program, "node");
  await using running = project.start(run, at.env);
  const sold = await buy(running, at.url);
  for (const line of guide.commands) await project.run(line, at.env);
  await pay(at, sold);
  assert.equal(await shipped(running, "basket-1"), 1);
  const ships = running.lines.filter((line) => line.startsWith("Ship "));
  assert.deepEqual(ships, ["Ship basket-1"]);
  const listed = await ordersOf(project, at.env);
  for (const { orderId, status } of before) {
    assert.equal(listed[orderId], `${status} confirmed`);
  }
});

Deno.test({
  name:
    "guides/more_than_one_machine.md moves a ledger, delivers what is new once, and goes on when a machine dies",
  ignore: !sqldAvailable,
  fn: async () => {
    const guide = await readGuide("docs/guides/more_than_one_machine.md");
    await using project = await partner.withGuide(guide);
    const { folder } = project;
    await using at = await place(folder);
    await using receiver = startReceiver();
    const one = {
      ...at.env,
      RAMPKIT_FORWARD_TO: `${receiver.url} order.release.*`,
      RAMPKIT_FORWARD_SECRET: `whsec_${btoa("thirty-two bytes that sign all")}`,
    };
    const sell = (reference: string, env: Readonly<Record<string, string>>) =>
      project.run(
        `npx rampkit session create --reference ${reference} ` +
          "--flow-type simple --currency USD --currency-amount 49.90 --json",
        env,
      ).then((said) => JSON.parse(said));
    const released = (count: number) =>
      until(() => receiver.references.length >= count, `${count} released`);

    // The old machine: one order is released, one is sold and not yet paid.
    const port = at.env.PORT;
    const old = project.start(`npx rampkit serve --port ${port}`, one);
    await old.until(
      () => old.lines.some((line) => line.includes('"listening"')),
      "the old machine listens",
    );
    const [first, second] = [
      await sell("basket-1", one),
      await sell("basket-2", one),
    ];
    await pay(at, first);
    await released(1);

    const directory = `${folder}/sqld`;
    await Deno.mkdir(directory);
    await using server = await startSqld({ directory });
    await old.end();
    for (const line of guide.commands) {
      if (!line.includes("--move")) continue;
      await project.run(
        line.replace("https://ledger.example", server.url),
        one,
      );
    }
    // It is paid while nobody listens.
    await pay(at, second);

    const remote = (spool: string) => ({
      ...one,
      RAMPKIT_DATABASE_URL: server.url,
      RAMPKIT_SPOOL_DIR: `${folder}/${spool}`,
    });
    const [a, b] = [remote("spool-a"), remote("spool-b")];
    const serving = command(guide, "npx rampkit serve");
    const started = project.start(`${serving} --port ${port}`, a);
    await started.until(
      () => started.lines.some((line) => line.includes('"listening"')),
      "the first machine listens",
    );
    await using other = project.start("npx rampkit serve --port 0", b);
    await released(2);
    // The machine that takes webhooks and does all else dies.
    const third = await sell("basket-3", b);
    await started.kill();
    await pay(at, third);
    await released(3).catch((error) => {
      throw new Error(other.lines.join("\n"), { cause: error });
    });
    await new Promise((resolve) => setTimeout(resolve, 3000));
    assert.deepEqual(receiver.references, ["basket-1", "basket-2", "basket-3"]);
  },
});

Deno.test("guides/upgrade.md keeps what a ledger says, with a backup of before, and in a new ledger", async () => {
  const guide = await readGuide("docs/guides/upgrade.md");
  await using project = await partner.withGuide(guide);
  await using at = await place(project.folder);
  const events = new URL("../fixtures/export.ndjson", import.meta.url).pathname;
  await project.run(`npx rampkit ledger import ${events}`, at.env);
  const expected = await ordersOf(project, at.env);
  const serving = command(guide, "npx rampkit serve");
  for (const line of guide.commands) {
    if (line === serving) {
      const port = at.env.PORT;
      await using serve = project.start(
        `${serving} --no-poll --port ${port}`,
        at.env,
      );
      await serve.until(
        async () => {
          const answer = await fetch(`${at.url}/readyz`).catch(() => null);
          return (await answer?.json())?.lag === 0;
        },
        "it has folded",
      );
    } else if (line.includes("--dry-run")) {
      await project.run(`${line} || [ $? -eq 3 ]`, at.env);
    } else {
      await project.run(line, at.env);
    }
  }
  assert.equal(Object.keys(expected).length, 5);
  assert.deepEqual(await ordersOf(project, at.env), expected);
  const after = { ...at.env, RAMPKIT_DATABASE_URL: "file:after.db" };
  assert.deepEqual(await ordersOf(project, after), expected);
});

/** Status and trust of each order, by its id. */
async function ordersOf(
  project: Project,
  env: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const said = await project.run("npx rampkit orders list --json", env);
  return Object.fromEntries(
    said.trim().split("\n").map((line) => JSON.parse(line)).map((
      { orderId, status, trust },
    ) => [orderId, `${status} ${trust}`]),
  );
}
