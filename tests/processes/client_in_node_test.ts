import assert from "node:assert/strict";
import { serveSandbox } from "../../sandbox/mod.ts";
import { temporaryFolder } from "../kit/temporary_folder.ts";

const root = new URL("../..", import.meta.url).pathname;

/** What a partner's program under Node does with the bundled client. */
const PROGRAM = `
import { ConflictError, OnrampClient, ValidationError } from "./client.mjs";

const [url, apiKey] = process.argv.slice(2);
const client = new OnrampClient({
  environment: {
    name: "local", baseUrl: url, cardsBaseUrl: url, widgetOrigin: url,
    dashboardUrl: url, assets: "sandbox",
  },
  apiKey,
  requestsPerSecond: 1000,
});
const orders = client.orders.list(
  { end_date: new Date(Date.now() - 120_000).toISOString().slice(0, 19) + "Z" },
  { prove: true },
);
const found = [];
for await (const { order_id, crypto_amount } of orders) {
  found.push([order_id, crypto_amount]);
}
const person = {
  has_accepted_terms_of_service: true, phone: "+15555550100",
  email: "ada@example.com", first_name: "Ada", last_name: "Lovelace",
  date_of_birth: "1990-12-10", country_of_residence: "DEU",
};
const created = await client.users.create(person);
const conflict = await client.users.create(person).catch((error) => error);
const invalid = await client.cards.register({
  card_number: "1", exp_month: "13", exp_year: "27", user_id: "",
  billing_address: {
    country: "Germany", postal_code: "1", city: "B", street: "S",
  },
}).catch((error) => error);
const session = await client.sessions.create({ flow_type: "simple" });
console.log(JSON.stringify({
  found: found.sort(),
  complete: orders.completeness.complete,
  conflict: conflict instanceof ConflictError &&
    conflict.userId === created.user_id,
  faults: invalid instanceof ValidationError && invalid.faults.length >= 6,
  session: session.sessionId.length > 0,
}));
`;

Deno.test("the bundled client works under Node 22 against the sandbox", async () => {
  await using served = await serveSandbox({ port: 0 });
  const now = Date.now();
  served.sandbox.backfill({
    orders: 45,
    fromMs: now - 5 * 3_600_000,
    untilMs: now - 3_600_000,
  });
  await using folder = await temporaryFolder();
  await run("deno", [
    "bundle",
    "--quiet",
    "--output",
    `${folder.path}/client.mjs`,
    `${root}client/mod.ts`,
  ]);
  await Deno.writeTextFile(`${folder.path}/program.mjs`, PROGRAM);
  const said = JSON.parse(
    await run("npx", [
      "--yes",
      "node@22",
      `${folder.path}/program.mjs`,
      served.url,
      served.sandbox.apiKey,
    ]),
  );
  assert.deepEqual(said, {
    found: served.sandbox.truth()
      .map(({ orderId, cryptoAmount }) => [orderId, cryptoAmount]).sort(),
    complete: true,
    conflict: true,
    faults: true,
    session: true,
  });
});

async function run(program: string, args: string[]): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(program, { args })
    .output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout).trim().split("\n").at(-1) ?? "";
}
