import assert from "node:assert/strict";
import { cli, temporaryLedger } from "../kit/cli.ts";
import { type Served, startServe } from "../kit/program.ts";
import { isSmallDiskMissing, smallDisk } from "../kit/small_disk.ts";
import { until } from "../kit/until.ts";

const ignore = await isSmallDiskMissing();
const SECRET = "the-secret-in-the-webhook-address";
const DISK_KIB = 8192;
const FREE_KIB = 2048;
/** A file may grow to 1 MiB; the shell counts in blocks of 512 bytes. */
const LIMIT_BLOCKS = 2048;
/** A delivery that a file of that size cannot hold, and the endpoint takes. */
const OVER_LIMIT_BYTES = 1 << 20;

function environment(
  folder: string,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return {
    RAMPKIT_DATABASE_URL: `file:${folder}/ledger.db`,
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_WEBHOOK_SECRET: SECRET,
    ...more,
  };
}

/** Sends deliveries, one order each, and remembers what was answered. */
class Sender {
  /** Orders of which the delivery was answered 204. */
  readonly accepted = new Set<string>();
  /** Orders of which the delivery was answered 503. */
  readonly refused = new Set<string>();

  /** Sends some at once; returns how many of them were answered 503. */
  async send(served: Served, count: number, bytes = 8000): Promise<number> {
    const before = this.refused.size;
    const sending = Array.from(
      { length: count },
      (_, index) => this.#sendOne(served, this.#sent + index, bytes),
    );
    this.#sent += count;
    await Promise.all(sending);
    return this.refused.size - before;
  }

  #sent = 0;

  async #sendOne(served: Served, number: number, bytes: number) {
    const id = `order-${number}`;
    const body = JSON.stringify({ type: "payment_started", order: { id } });
    const started = performance.now();
    const answer = await fetch(`${served.url}/webhooks/${SECRET}`, {
      method: "POST",
      body: body.padEnd(bytes),
    });
    await answer.body?.cancel();
    const tookMs = performance.now() - started;
    assert.ok(tookMs < 30_000, `${answer.status} came after ${tookMs} ms`);
    if (answer.status !== 204) {
      assert.equal(answer.status, 503);
      assert.match(answer.headers.get("retry-after") ?? "", /^\d+$/);
    }
    (answer.status === 204 ? this.accepted : this.refused).add(id);
  }
}

/** What the process logged under a name, as text. */
function logged(served: Served, event: string): string {
  return served.log.filter((line) => line.includes(`"event":"${event}"`))
    .join("\n");
}

/** What `/readyz` answers, and with which status. */
async function readyz(
  served: Served,
): Promise<{
  status: number;
  spooled: number;
  problem: string | null;
  degraded: readonly string[];
}> {
  const answer = await fetch(`${served.url}/readyz`);
  return { status: answer.status, ...await answer.json() };
}

async function spooled(served: Served): Promise<number> {
  return (await readyz(served)).spooled;
}

/**
 * Waits until `/readyz` says that the ledger refuses deliveries, and why: with
 * 503 where the spool takes none either, else with 200.
 *
 * @param meanwhile Done before each look: a log that was just copied back has
 * room again, which has to be filled first.
 */
async function becomesDegraded(
  served: Served,
  wanted: 200 | 503,
  why: RegExp,
  meanwhile: () => Promise<unknown> = () => Promise.resolve(),
): Promise<void> {
  await until(
    async () => {
      await meanwhile();
      const { status, problem, degraded } = await readyz(served);
      return status === wanted && why.test(`${problem} ${degraded}`);
    },
    `/readyz says ${why}`,
  );
}

/** Waits for a line of the log, which comes by a way of its own. */
async function logs(
  served: Served,
  event: string,
  what: RegExp,
): Promise<void> {
  await until(
    () => Promise.resolve(what.test(logged(served, event))),
    `the log says ${event}, ${what}`,
  );
}

/** Whatever was answered 204 is in the ledger, once, and nothing is broken. */
async function assertKept(
  env: Readonly<Record<string, string>>,
  { accepted, refused }: Sender,
): Promise<void> {
  const listed = await cli(["orders", "list", "--json", "--limit", "0"], env);
  assert.equal(listed.code, 0, listed.err);
  const stored = new Set<string>(
    listed.out.trim().split("\n").map((text) => JSON.parse(text).orderId),
  );
  assert.deepEqual([...accepted.difference(stored)], [], "lost");
  // What was answered 503 may be there too, for nobody can know.
  assert.deepEqual([...stored.difference(accepted).difference(refused)], []);
  const stats = JSON.parse((await cli(["ledger", "stats", "--json"], env)).out);
  assert.equal(stats.events.webhook, stored.size, "each of them once");
  const verified = await cli(["ledger", "verify", "--json"], env);
  assert.equal(verified.code, 0, verified.err);
  assert.equal(JSON.parse(verified.out).ok, true, verified.out);
}

Deno.test({
  name:
    "rampkit serve answers 503 while its disk is full, and goes on without a restart when there is room",
  ignore,
  fn: async () => {
    await using disk = await smallDisk(DISK_KIB);
    await disk.fill(FREE_KIB);
    const sender = new Sender();
    const env = environment(disk.path);
    {
      await using served = await startServe(env, ["--no-poll"], disk.inside);
      await until(
        async () => await sender.send(served, 8) === 8,
        "the disk is full",
      );
      assert.ok(sender.accepted.size > 8, "there was room to begin with");
      await until(
        async () => await sender.send(served, 40) === 40,
        "it stays full",
      );
      const alive = await fetch(`${served.url}/healthz`);
      assert.equal(alive.status, 200);
      await alive.body?.cancel();
      await becomesDegraded(
        served,
        503,
        /database or disk is full/,
        () => sender.send(served, 8),
      );
      await logs(
        served,
        "append_failing",
        /The disk or the quota is full; nothing was written: .*ledger\.db/,
      );
      await logs(served, "spool_failed", /database or disk is full/);
      // Nobody is forwarded to: the log is told all the same.
      await logs(served, "alarm_raised", /"code":"disk_full"/);
      // One cause is one alarm, whatever follows from it.
      const raised = logged(served, "alarm_raised").split("\n")
        .map((line) => JSON.parse(line).code);
      assert.deepEqual(
        [...new Set(raised)].filter((code) =>
          !["disk_nearly_full", "disk_full"].includes(code)
        ),
        [],
      );
      const metrics = await (await fetch(`${served.url}/metrics`)).text();
      assert.match(metrics, /_duration\w*\{[^}]*outcome="failed"/);
      assert.match(metrics, /_deliveries_total\{answer="503"\} \d/);

      await disk.makeRoom();
      await until(
        async () => await sender.send(served, 8) === 0,
        "deliveries are taken again",
      );
      assert.equal(await sender.send(served, 40), 0);
      // The ledger is tried again after seconds.
      await until(
        async () => await spooled(served) === 0,
        "the spool is drained",
      );
      await logs(served, "append_recovered", /./);
      assert.equal((await readyz(served)).status, 200);
      assert.equal(await served.stop(), 0);
    }
    await using copy = await temporaryLedger();
    await disk.copyTo(copy.folder);
    const copied = environment(copy.folder);
    await assertKept(copied, sender);
    const stats = await cli(["ledger", "stats", "--json"], copied);
    assert.equal(
      JSON.parse(stats.out).events.delivery_unanswered,
      sender.refused.size,
    );
  },
});

Deno.test({
  name:
    "rampkit serve keeps deliveries on another disk while the ledger's is full, also after a kill and a start, and drains it when there is room",
  ignore,
  fn: async () => {
    await using disk = await smallDisk(DISK_KIB);
    await disk.fill(FREE_KIB);
    await using other = await temporaryLedger();
    const spool = `${other.folder}/spool`;
    const env = environment(disk.path, { RAMPKIT_SPOOL_DIR: spool });
    const sender = new Sender();
    {
      await using served = await startServe(env, ["--no-poll"], disk.inside);
      await until(
        async () => {
          await sender.send(served, 8);
          return await spooled(served) > 16;
        },
        "deliveries are spooled",
      );
      await served.kill();
    }
    {
      await using served = await startServe(env, ["--no-poll"], disk.inside);
      await sender.send(served, 8);
      assert.ok(await spooled(served) > 16, "what was spooled is still there");
      await becomesDegraded(served, 200, /The disk or the quota is full/);
      await logs(served, "append_failing", /The disk .* is full/);
      await disk.makeRoom();
      await until(
        async () => await spooled(served) === 0,
        "the spool is drained",
      );
      await sender.send(served, 8);
      assert.equal(await served.stop(), 0);
    }
    assert.equal(sender.refused.size, 0);
    assert.deepEqual(
      await Array.fromAsync(Deno.readDir(spool)),
      [],
    );
    await disk.copyTo(other.folder);
    await assertKept(environment(other.folder), sender);
  },
});

Deno.test({
  name:
    "rampkit serve keeps what it answered 204 when its files may not grow, and drains the spool when they may again",
  ignore: Deno.build.os === "windows",
  fn: async () => {
    await using ledger = await temporaryLedger();
    const env = environment(ledger.folder);
    const sender = new Sender();
    {
      await using served = await startServe(env, ["--no-poll"], (program) => [
        "sh",
        "-c",
        `trap '' XFSZ; ulimit -f ${LIMIT_BLOCKS}; exec "$@"`,
        "sh",
        ...program,
      ]);
      await until(
        async () => {
          await sender.send(served, 8);
          return await spooled(served) > 16;
        },
        "the ledger takes no more",
      );
      assert.equal(await sender.send(served, 3, OVER_LIMIT_BYTES), 3);
      await becomesDegraded(
        served,
        200,
        /may be full, over a quota/,
        () => sender.send(served, 8),
      );
      await logs(
        served,
        "append_failing",
        /may be full, over a quota or at a file size limit/,
      );
      await logs(
        served,
        "spool_failed",
        /may be full, over a quota or at a file size limit/,
      );
      assert.equal(await served.stop(), 0);
    }
    {
      await using served = await startServe(env, ["--no-poll"]);
      await until(
        async () => await spooled(served) === 0,
        "the spool is drained",
      );
      assert.equal(await sender.send(served, 8), 0);
      assert.equal(await served.stop(), 0);
    }
    await assertKept(env, sender);
  },
});
