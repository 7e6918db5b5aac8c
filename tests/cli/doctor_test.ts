import assert from "node:assert/strict";
import { openLedger } from "../../ledger/mod.ts";
import { orderWebhook } from "../../ledger/testing/projection_test_kit.ts";
import { paint } from "../../cli/program/io.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";

/** Where nobody listens. */
const DEAD = "http://127.0.0.1:1";

Deno.test("rampkit doctor asks the public address, whether there is a ledger or not", async () => {
  await using live = await temporaryLedger();
  const args = ["doctor", "--database-url", live.url, "--public-url", DEAD];
  const without = await cli(args);
  assert.equal(without.code, 1);
  assert.match(without.out, /WARN +Ledger +There is none yet/);
  assert.match(
    without.out,
    /FAIL +Endpoint +Its public address does not answer: http:\/\/127.0.0.1:1,/,
  );
  await (await openLedger({
    url: live.url,
    environment: "sandbox",
    worker: false,
  })).close();
  const withOne = await cli(args);
  assert.match(
    withOne.out,
    /FAIL +Endpoint +Its public address does not answer: http:\/\/127.0.0.1:1,/,
  );
});

Deno.test("rampkit doctor does not say that no webhook came where one is stored", async () => {
  await using live = await temporaryLedger();
  {
    await using ledger = await openLedger({
      url: live.url,
      environment: "sandbox",
      worker: false,
    });
    // Of the Test button: it also works while delivery is switched off.
    await ledger.append([orderWebhook("W1", 1, { type: "test", orderId: "" })]);
    await ledger.project();
  }
  const { out } = await cli(["doctor", "--database-url", live.url]);
  assert.match(out, /Freshness +Last webhook: .* ago/);
  assert.doesNotMatch(out, /No webhook was ever received/);
  assert.match(
    out.replaceAll(/\s+/g, " "),
    /No webhook of an order or user that the service has shown was received yet/,
  );
});

Deno.test("rampkit doctor tells a ledger that is missing from one that cannot be opened, or is damaged", async () => {
  await using live = await temporaryLedger();
  const found = async (url: string) => {
    const { code, out } = await cli([
      ...["doctor", "--json", "--database-url", url],
    ]);
    assert.equal(code, 1);
    return JSON.parse(out).checks.map((one: { code: string }) => one.code);
  };
  const nowhere = `file:${live.folder}/nowhere/ledger.db`;
  assert.ok((await found(nowhere)).includes("ledger_not_opened"));
  const noLedger = `file:${live.folder}/text`;
  await Deno.writeTextFile(`${live.folder}/text`, "No ledger\n".repeat(1000));
  assert.ok((await found(noLedger)).includes("ledger_not_opened"));
  assert.ok((await found(live.url)).includes("ledger_missing"));
  await (await openLedger({
    url: live.url,
    environment: "sandbox",
    worker: false,
  })).close();
  using file = await Deno.open(`${live.folder}/ledger.db`, { write: true });
  const { size } = await file.stat();
  await file.seek(size - 4096, Deno.SeekMode.Start);
  await file.write(new Uint8Array(4096).fill(0xff));
  assert.ok((await found(live.url)).includes("pages_damaged"));
});

Deno.test("rampkit doctor colours the sign of each finding, and nothing else, where the terminal has colours", async () => {
  await using live = await temporaryLedger();
  const args = ["doctor", "--database-url", live.url, "--public-url", DEAD];
  const plain = await cli(args);
  const coloured = await cli(args, {}, undefined, undefined, true);
  for (
    const shown of [
      `${paint("red", "FAIL")}  Endpoint `,
      `${paint("yellow", "WARN")}  Ledger `,
      `${paint("green", "ok  ")}  Spool `,
    ]
  ) assert.ok(coloured.out.includes(shown), coloured.out);
  // How much room there is changes meanwhile.
  const words = (text: string) =>
    // deno-lint-ignore no-control-regex
    text.replaceAll(/\u001b\[\d+m/g, "").replaceAll(/\d+ MiB/g, "MiB");
  assert.equal(words(coloured.out), words(plain.out));
});

Deno.test("rampkit doctor warns of production whose service is this machine, and of no other", async () => {
  await using live = await temporaryLedger();
  const doctor = async (environment: string, baseUrl: string) =>
    (await cli(["doctor", "--database-url", live.url], {
      RAMPKIT_ENVIRONMENT: environment,
      RAMPKIT_BASE_URL: baseUrl,
    })).out;
  const warning = /WARN +Service +Production is read from .*127\.0\.0\.1:1/;
  assert.match(await doctor("production", DEAD), warning);
  assert.doesNotMatch(await doctor("sandbox", DEAD), warning);
  assert.doesNotMatch(
    await doctor("production", "https://api.example"),
    /Production is read/,
  );
});
