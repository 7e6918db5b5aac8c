// One rule of the service, changed in its one file, changes everywhere: what a
// session, the client, the widget and the sandbox say of the least amount.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../kit/temporary_folder.ts";

const root = new URL("../../", import.meta.url);
const RULE = new URL("core/rules/session_limits.ts", root);

/** Says of 30 dollars of bitcoin whether each part takes them. */
const PROGRAM = `
  import { checkSessionInput, OnrampClient } from "${root}client/mod.ts";
  import { createSandbox } from "${root}sandbox/mod.ts";
  import { draftOptions, sessionEndpoint } from "${root}widget/mod.ts";

  const asset = { commodity: "BTC", network: "bitcoin" };
  const session = { flow_type: "simple", ...asset, currency: "USD", currency_amount: "30" };
  const sandbox = createSandbox({ assets: "production" });
  const client = new OnrampClient({
    environment: "production",
    apiKey: sandbox.apiKey,
    fetch: (input, init) => sandbox.fetch(new Request(input, init)),
  });
  const page = sessionEndpoint({
    authorise: () => "ann",
    plan: () => ({ session }),
    createSession: (input) => client.sessions.create(input),
    recordSession: () => Promise.resolve(),
    report: () => {},
  });
  const post = (url, body, headers) =>
    new Request(url, { method: "POST", headers, body: JSON.stringify(body) });
  const asked = await page(post("https://shop.example/session", {}, {
    "content-type": "application/json",
    origin: "https://shop.example",
  }));
  const direct = await sandbox.fetch(
    post("http://sandbox/api/external/hpp/create-session", {
      ...session,
      currency_amount: 30,
    }, { "x-api-key": sandbox.apiKey }),
  );
  const isDrafted = () => {
    try {
      draftOptions({ partner_id: "01ABC", ...asset, currency_amount: "30" }, {
        environment: "production",
      });
      return true;
    } catch {
      return false;
    }
  };
  console.log(JSON.stringify({
    client: checkSessionInput(session, { assets: "production" }).faults.length === 0,
    sandbox: direct.status === 200,
    widget: isDrafted(),
    session: asked.status === 200,
  }));
`;

/** What the parts say where the text of the rule is `change`d. */
async function saidWith(change: (rule: string) => string): Promise<unknown> {
  await using folder = await temporaryFolder();
  const copy = `${folder.path}/rule.ts`;
  const rule = await Deno.readTextFile(RULE);
  await Deno.writeTextFile(
    copy,
    change(rule).replaceAll(
      /from "(\.[^"]+)"/g,
      (_, path) => `from "${new URL(path, RULE)}"`,
    ),
  );
  const config = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", root)),
  );
  await Deno.writeTextFile(
    `${folder.path}/deno.json`,
    JSON.stringify({
      imports: { ...config.imports, [RULE.href]: `file://${copy}` },
    }),
  );
  await Deno.writeTextFile(`${folder.path}/program.ts`, PROGRAM);
  const lock = fileURLToPath(new URL("deno.lock", root));
  const { code, stdout, stderr } = await new Deno.Command("deno", {
    args: [
      ...["run", "--no-check", "--cached-only", "--allow-env", "--allow-read"],
      ...["--config", `${folder.path}/deno.json`, "--lock", lock, "--frozen"],
      `${folder.path}/program.ts`,
    ],
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout));
}

Deno.test("The least amount of bitcoin, changed in its one file, changes client, sandbox, widget and session", async () => {
  const all = (taken: boolean) => ({
    client: taken,
    sandbox: taken,
    widget: taken,
    session: taken,
  });
  assert.deepEqual(await saidWith((rule) => rule), all(true));
  const raised = (rule: string) => {
    assert.match(rule, /return "30"/);
    return rule.replace('return "30"', 'return "31"').replace(
      '"30" |',
      "string |",
    );
  };
  assert.deepEqual(await saidWith(raised), all(false));
});
