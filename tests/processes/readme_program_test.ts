import assert from "node:assert/strict";
import { serveSandbox } from "../../sandbox/mod.ts";
import { TextLineStream } from "../kit/text_line_stream.ts";
import { until } from "../kit/until.ts";
import { temporaryFolder } from "../kit/temporary_folder.ts";

const root = new URL("../..", import.meta.url).pathname;
const SECRET = "the-secret-in-the-webhook-address";

/** The program under "A whole program", as it stands there. */
async function wholeProgram(): Promise<string> {
  const text = await Deno.readTextFile(`${root}README.md`);
  const [, section = ""] = text.split("\n## A whole program\n");
  return /```ts ignore\n([\s\S]*?)```/.exec(section)?.[1] ?? "";
}

/** A running program: its lines, and what ends it. */
function start(args: readonly string[], cwd: string, env: {
  readonly [name: string]: string;
}) {
  const child = new Deno.Command("deno", {
    args: [...args],
    cwd,
    env,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const heard: string[] = [];
  let ended = false;
  const read = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) => {
    const lines = stream.pipeThrough(new TextDecoderStream())
      .pipeThrough(new TextLineStream());
    for await (const line of lines) heard.push(line);
    ended = true;
  };
  const reading = Promise.all([read(child.stdout), read(child.stderr)]);
  return {
    /** Waits for a line, and gives what of it matches. */
    says: async (pattern: RegExp): Promise<string> => {
      const found = () =>
        heard.map((line) => pattern.exec(line)?.[1]).find(Boolean);
      await until(() => found() !== undefined || ended);
      return found() ?? assert.fail(`It ended:\n${heard.join("\n")}`);
    },
    /** Keys of the releases that it told of. */
    released: () =>
      heard.flatMap((line) => /^Release .* for (\S+)$/.exec(line)?.[1] ?? []),
    /** Ends it by a signal, and gives its exit code. */
    stop: async (): Promise<number> => {
      child.kill("SIGTERM");
      const { code } = await child.status;
      ended = true;
      return code;
    },
    [Symbol.asyncDispose]: async () => {
      if (!ended) child.kill("SIGKILL");
      await child.status;
      await reading;
    },
  };
}

Deno.test("the whole program of the README has at most 32 lines, takes a webhook, confirms its order and releases the goods once, and none of a basket that is paid less than it costs", async () => {
  const program = await wholeProgram();
  const lines = program.trimEnd().split("\n");
  assert.ok(lines.length > 15 && lines.length <= 32, `${lines.length} lines`);
  await using served = await serveSandbox({ port: 0 });
  await using folder = await temporaryFolder();
  const serve = "Deno.serve({ port: 8787 }, ";
  assert.ok(program.includes(serve));
  const free = "Deno.serve({ port: 0, hostname: '127.0.0.1', " +
    "onListen: ({ port }) => console.log('http://127.0.0.1:' + port) }, ";
  await Deno.writeTextFile(
    `${folder.path}/app.ts`,
    program.replace(serve, free),
  );
  await using running = start(
    [
      "run",
      "--no-check",
      "--cached-only",
      `--config=${root}deno.json`,
      "-A",
      "app.ts",
    ],
    folder.path,
    {
      RAMPKIT_API_KEY: served.sandbox.apiKey,
      RAMPKIT_BASE_URL: served.url,
      RAMPKIT_WEBHOOK_SECRET: SECRET,
      NO_COLOR: "1",
    },
  );
  const url = await running.says(/(http:\/\/127\.0\.0\.1:\d+)/);
  /** Pays for a basket, after clicking so many times. */
  const buy = async (basket: string, amount: string, clicks: number) => {
    let opened = { sessionId: "", clickId: "" };
    for (let click = 0; click < clicks; click++) {
      const asked = await fetch(`${url}/sessions/${basket}`, {
        method: "POST",
      });
      opened = await asked.json();
    }
    const { orderId } = served.sandbox.createOrder({
      sessionId: opened.sessionId,
      clickId: opened.clickId,
      currencyAmount: amount,
    });
    for (const step of ["pay", "authorise", "complete"] as const) {
      served.sandbox.advance(orderId, step);
    }
    const answer = await fetch(`${url}/webhooks/${SECRET}`, {
      method: "POST",
      body: JSON.stringify({ type: "order_complete", order: { id: orderId } }),
    });
    await answer.body?.cancel();
    assert.equal(answer.status, 204);
    return orderId;
  };
  const shownOf = async (orderId: string) =>
    await (await fetch(`${url}/orders/${orderId}`)).json();
  // Less was paid for a basket than it costs, after clicking twice.
  const cheap = await buy("basket-8", "1.00", 2);
  await until(async () => (await shownOf(cheap))?.trust === "confirmed");
  const orderId = await buy("basket-7", "50", 1);
  const key = await running.says(/^Release basket-7, once for (\S+)$/);
  assert.equal(key, `order:${orderId}:release.yes`);
  const shown = await shownOf(orderId);
  assert.deepEqual([shown.status, shown.trust], ["success", "confirmed"]);
  const { release, releaseReason } = await shownOf(cheap);
  assert.deepEqual([release, releaseReason], ["wait", "not_as_requested"]);
  assert.deepEqual(running.released(), [key]);
  assert.equal(await running.stop(), 0);
});
