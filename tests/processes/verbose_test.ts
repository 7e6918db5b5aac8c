import assert from "node:assert/strict";
import { temporaryLedger } from "../kit/cli.ts";
import { PERMISSIONS } from "../kit/program.ts";
import { TextLineStream } from "../kit/text_line_stream.ts";
import { until } from "../kit/until.ts";

const root = new URL("../..", import.meta.url).pathname;
const SECRET = "the-secret-in-the-webhook-address";

/** More lines, of nearly 200 bytes, than a pipe holds, which is 64 KiB. */
const DELIVERIES = 480;
const ORDER = "01M7WYY537RGCZBMWCSRKH5NWA".repeat(3);

Deno.test("serve --verbose prints a line for each delivery, and answers while nobody reads them", async () => {
  await using ledger = await temporaryLedger();
  const child = new Deno.Command("deno", {
    args: [
      ...["run", ...PERMISSIONS, `${root}cli/main.ts`],
      ...["serve", "--no-poll", "--port", "0", "--verbose"],
    ],
    env: {
      RAMPKIT_DATABASE_URL: ledger.url,
      RAMPKIT_WEBHOOK_SECRET: SECRET,
    },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const log = child.stderr.pipeThrough(new TextDecoderStream())
    .pipeThrough(new TextLineStream());
  let url = "";
  const heard: string[] = [];
  const listening = Promise.withResolvers<void>();
  const logging = (async () => {
    for await (const line of log) {
      heard.push(line);
      if (!line.startsWith("{")) continue;
      const entry = JSON.parse(line);
      if (entry.event !== "listening") continue;
      ({ url } = entry);
      listening.resolve();
    }
    listening.reject(new Error(`serve ended early:\n${heard.join("\n")}`));
  })();
  listening.promise.catch(() => {});
  await listening.promise;
  const body = `{"type":"order_complete","click_id":"","order":` +
    `{"id":"${ORDER}","quote":"USD","quote_amount":"12.30"}}`;
  const post = async (secret: string) => {
    const answer = await fetch(`${url}/webhooks/${secret}`, {
      method: "POST",
      body,
      signal: AbortSignal.timeout(60_000),
    });
    await answer.body?.cancel();
    return answer.status;
  };
  assert.equal(await post("wrong"), 404);
  for (let count = 0; count < DELIVERIES; count += 20) {
    const answers = Array.from({ length: 20 }, () => post(SECRET));
    assert.ok((await Promise.all(answers)).every((status) => status === 204));
  }
  // Now somebody reads.
  const lines: string[] = [];
  const reading = (async () => {
    const out = child.stdout.pipeThrough(new TextDecoderStream())
      .pipeThrough(new TextLineStream());
    for await (const line of out) lines.push(line);
  })();
  await until(() => lines.length > DELIVERIES);
  child.kill("SIGTERM");
  const { code } = await child.status;
  await Promise.all([logging, reading]);
  assert.equal(code, 0, heard.join("\n"));
  assert.match(
    lines[0] ?? "",
    / in {3}refused .* 404 in \d+ ms {2}wrong_secret$/,
  );
  const taken = lines.filter((line) => / order_complete /.test(line));
  assert.match(
    taken[0] ?? "",
    new RegExp(
      String.raw`^\d\d:\d\d:\d\d\.\d{3}  in   order_complete +${ORDER} +` +
        String.raw`12\.30 USD +204 in \d+ ms$`,
    ),
  );
  assert.equal(taken.length, DELIVERIES);
  const text = [...lines, ...heard].join("\n");
  assert.ok(!text.includes(SECRET));
});
