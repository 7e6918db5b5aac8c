import assert from "node:assert/strict";
import { TextLineStream } from "../kit/text_line_stream.ts";
import type { FreshProject, Ran } from "./fresh_project.ts";

/** Everything that the program may need, as in the README. */
const PERMISSIONS = [
  "--allow-env",
  "--allow-sys",
  "--allow-read",
  "--allow-write",
  "--allow-net=127.0.0.1,localhost",
  "--allow-run=deno",
];

const PROGRAM = "jsr:@rampkit/onramp@^0.1.0/rampkit";
const SECRET = "the-secret-in-the-webhook-address";

const PAGE = `
import { clickId, draftOptions } from "@rampkit/onramp/widget";
const draft = draftOptions({
  partner_id: "01ABC",
  click_id: clickId(),
  country_of_residence: "US",
  date_of_birth: "1990-04-03",
}, { environment: "sandbox" });
console.log(draft.date_of_birth);
`;

/** A part of the package, as a partner uses it. */
export interface Step {
  readonly name: string;
  run(project: FreshProject, flags: readonly string[]): Promise<void>;
}

/** Each of them leaves the project as it was, but for ledgers. */
export const STEPS: readonly Step[] = [
  { name: "a ledger on a file", run: openLedger },
  { name: "serve", run: serve },
  { name: "a command", run: listOrders },
  { name: "demo", run: demo },
  { name: "the widget in a bundle", run: bundleWidget },
  { name: "the program, installed globally", run: installGlobally },
];

async function openLedger(
  project: FreshProject,
  flags: readonly string[],
): Promise<void> {
  const program = new URL("../runtimes/five_lines.mjs", import.meta.url);
  await Deno.copyFile(program, `${project.folder}/main.mjs`);
  const order = said(
    await project.deno(["run", "-q", ...flags, ...PERMISSIONS, "main.mjs"]),
  );
  assert.equal(JSON.parse(order).trust, "confirmed");
}

async function serve(
  project: FreshProject,
  flags: readonly string[],
): Promise<void> {
  const child = new Deno.Command(project.program, {
    args: [
      ...["run", "-q", ...flags, ...PERMISSIONS, PROGRAM],
      ...["serve", "--no-poll", "--port", "0"],
    ],
    cwd: project.folder,
    env: {
      ...project.env,
      RAMPKIT_ENVIRONMENT: "sandbox",
      RAMPKIT_WEBHOOK_SECRET: SECRET,
    },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const log: string[] = [];
  const lines = child.stderr.pipeThrough(new TextDecoderStream())
    .pipeThrough(new TextLineStream());
  let status = 0;
  for await (const line of lines) {
    log.push(line);
    const url = /"event":"listening","url":"([^"]+)"/.exec(line)?.[1];
    if (url === undefined) continue;
    const response = await fetch(`${url}/webhooks/${SECRET}`, {
      method: "POST",
      body: '{"type":"order_complete","click_id":"c","order":{"id":"o1"}}',
    });
    status = response.status;
    child.kill("SIGTERM");
  }
  const { code } = await child.status;
  assert.deepEqual({ status, code }, { status: 204, code: 0 }, log.join("\n"));
}

async function listOrders(
  project: FreshProject,
  flags: readonly string[],
): Promise<void> {
  const orders = said(
    await project.deno(
      ["run", "-q", ...flags, ...PERMISSIONS, PROGRAM, "orders", "list"],
    ),
  );
  assert.match(orders, /o1/);
}

async function demo(
  project: FreshProject,
  flags: readonly string[],
): Promise<void> {
  const report = said(
    await project.deno([
      ...["run", "-q", ...flags, ...PERMISSIONS, PROGRAM],
      ...["demo", "--json", "--orders", "20", "--crash"],
    ]),
  );
  assert.equal(JSON.parse(report).differences, 0);
}

async function bundleWidget(
  project: FreshProject,
  flags: readonly string[],
): Promise<void> {
  await project.write("page.ts", PAGE);
  // `deno bundle` takes no other; it has the cache alone all the same.
  const frozen = flags.filter((flag) => flag === "--frozen");
  said(
    await project.deno([
      ...["bundle", "-q", ...frozen, "--platform", "browser"],
      ...["--output", "page.js", "page.ts"],
    ]),
  );
  const printed = said(await project.deno(["run", "-q", "page.js"]));
  assert.equal(printed, "04/03/1990\n");
}

async function installGlobally(
  project: FreshProject,
  flags: readonly string[],
): Promise<void> {
  if (flags.length === 0) {
    said(
      await project.deno([
        ...["install", "-q", "--global", "--root", project.folder],
        ...[...PERMISSIONS, PROGRAM],
      ]),
    );
  }
  const { code, stdout } = await new Deno.Command(
    `${project.folder}/bin/rampkit`,
    { args: ["orders", "list"], cwd: project.folder, env: project.env },
  ).output();
  assert.equal(code, 0);
  assert.match(new TextDecoder().decode(stdout), /o1/);
}

function said({ code, out, err }: Ran): string {
  assert.equal(code, 0, `${out}${err}`);
  return out;
}
