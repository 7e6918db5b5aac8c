// A rule of the service, changed in its one file, changes everywhere: what a
// session, the client, the widget, the sandbox and the ledger say of an amount.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../kit/temporary_folder.ts";

const root = new URL("../../", import.meta.url);
const RULE = new URL("core/rules/session_limits.ts", root);

/** Says of an amount in dollars, for bitcoin, whether each part takes it. */
const PROGRAM = `
  import { openLedger } from "${root}ledger/mod.ts";
  import { checkSessionInput, OnrampClient } from "${root}client/mod.ts";
  import { createSandbox } from "${root}sandbox/mod.ts";
  import { draftOptions, sessionEndpoint } from "${root}widget/mod.ts";

  const asset = { commodity: "BTC", network: "bitcoin" };
  const session = { flow_type: "simple", ...asset, currency: "USD", currency_amount: Deno.args[0] };
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
      currency_amount: Number(Deno.args[0]),
    }, { "x-api-key": sandbox.apiKey }),
  );
  const isDrafted = () => {
    try {
      draftOptions({ partner_id: "01ABC", ...asset, currency_amount: Deno.args[0] }, {
        environment: "production",
      });
      return true;
    } catch {
      return false;
    }
  };
  const ledger = await openLedger({ url: ":memory:", environment: "production" });
  const expects = () =>
    ledger.expect({
      clickId: "click-1",
      currency: "USD",
      currencyAmount: Deno.args[0],
    }).then(() => true, () => false);
  console.log(JSON.stringify({
    expectation: await expects(),
    client: checkSessionInput(session, { assets: "production" }).faults.length === 0,
    sandbox: direct.status === 200,
    widget: isDrafted(),
    session: asked.status === 200,
  }));
`;

/** What the parts say of an amount where the text of the rule is `change`d. */
async function saidWith(
  amount: string,
  change: (rule: string) => string = (rule) => rule,
): Promise<unknown> {
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
      amount,
    ],
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout));
}

const all = (taken: boolean) => ({
  client: taken,
  sandbox: taken,
  widget: taken,
  session: taken,
});

Deno.test("The least amount of bitcoin, changed in its one file, changes client, sandbox, widget and session", async () => {
  const expectation = true;
  assert.deepEqual(await saidWith("30"), { expectation, ...all(true) });
  const raised = (rule: string) => {
    assert.match(rule, /return "30"/);
    return rule.replace('return "30"', 'return "31"').replace(
      '"30" |',
      "string |",
    );
  };
  assert.deepEqual(await saidWith("30", raised), {
    expectation,
    ...all(false),
  });
});

Deno.test("The decimals of an amount, changed in their one file, change client, sandbox, widget, session and what is expected", async () => {
  assert.deepEqual(await saidWith("30.5"), { expectation: true, ...all(true) });
  const whole = (rule: string) => {
    assert.match(rule, /FIAT_DECIMALS = 2/);
    return rule.replace("FIAT_DECIMALS = 2", "FIAT_DECIMALS = 0");
  };
  assert.deepEqual(await saidWith("30.5", whole), {
    expectation: false,
    ...all(false),
  });
});
