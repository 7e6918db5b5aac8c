import assert from "node:assert/strict";
import { ulid } from "ulid";
import { openLedger } from "../../ledger/mod.ts";
import { temporaryLedger } from "../kit/cli.ts";
import { PERMISSIONS } from "../kit/program.ts";
import { TextLineStream } from "../kit/text_line_stream.ts";
import { until } from "../kit/until.ts";

const ORDERS = 40;
/** Keys after which the first process hangs, so that it is killed at its work. */
const BEFORE_KILL = 20;
/** Orders that a handler is called for at a time, as `subscriber.ts` asks. */
const CONCURRENCY = 4;

/** A process that calls a handler. */
interface Subscriber {
  /** What it said: `delivers`, `waits`, and the keys it began with. */
  readonly said: readonly string[];
  readonly keys: () => readonly string[];
  /** Ends it as `kill -9` does, and reads what it had said until then. */
  readonly kill: () => Promise<void>;
}

function startSubscriber(...args: readonly string[]): Subscriber {
  const program = new URL("./subscriber.ts", import.meta.url).pathname;
  const child = new Deno.Command("deno", {
    args: ["run", ...PERMISSIONS, program, ...args],
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const said: string[] = [];
  const reading = (async () => {
    const lines = child.stdout.pipeThrough(new TextDecoderStream())
      .pipeThrough(new TextLineStream());
    for await (const line of lines) said.push(line);
  })();
  return {
    said,
    keys: () => said.filter((line) => line.startsWith("order:")),
    kill: async () => {
      child.kill("SIGKILL");
      await child.status;
      await reading;
    },
  };
}

Deno.test("of two processes that subscribe under one name one delivers, and the other takes over when it is killed", async () => {
  await using stored = await temporaryLedger();
  {
    await using ledger = await openLedger({
      url: stored.url,
      environment: "sandbox",
    });
    for (let number = 0; number < ORDERS; number++) {
      await ledger.appendDelivery({
        id: ulid(),
        receivedAt: new Date().toISOString(),
        body: new TextEncoder().encode(JSON.stringify({
          type: "payment_started",
          click_id: "",
          order: { id: `order-${number}` },
        })),
      });
    }
    await ledger.project();
  }
  const first = startSubscriber(stored.url, String(BEFORE_KILL));
  await until(() => first.keys().length === BEFORE_KILL + CONCURRENCY);
  // How it went is written in groups: what is not written is told again.
  await until(async () => {
    await using ledger = await openLedger({ url: stored.url, readOnly: true });
    const left = { sql: "SELECT count(*) FROM outbox", args: [] };
    const [found] = await ledger.driver.batch([left], "read");
    return found?.rows[0]?.[0] === ORDERS - BEFORE_KILL;
  });
  const second = startSubscriber(stored.url);
  await until(() => second.said.length > 0);
  assert.deepEqual(second.said, ["waits"]);
  await first.kill();
  const begun = first.keys();
  assert.deepEqual(second.keys(), [], "nobody else delivers meanwhile");
  await until(() => new Set([...begun, ...second.keys()]).size === ORDERS);
  await second.kill();
  assert.deepEqual(second.said.slice(0, 2), ["waits", "delivers"]);
  // What was in flight is told again, and nothing else.
  const inFlight = begun.slice(BEFORE_KILL);
  const again = second.keys().filter((key) => begun.includes(key));
  assert.deepEqual(again.toSorted(), inFlight.toSorted());
  assert.equal(new Set(begun).size, begun.length);
  assert.equal(new Set(second.keys()).size, second.keys().length);
});
