import assert from "node:assert/strict";
import { Webhook } from "standardwebhooks";
import { openLedger } from "../../ledger/mod.ts";
import { patient } from "../../ledger/testing/patient.ts";
import {
  orderRead,
  orderWebhook,
  session,
} from "../../ledger/testing/projection_test_kit.ts";
import {
  sqldAvailable,
  startSqld,
} from "../../ledger/testing/sqld_test_server.ts";
import { SECRET as FORWARD_SECRET } from "../../server/forwarding/testing/forwarding_kit.ts";
import { cli, temporaryLedger } from "../kit/cli.ts";
import { startServe } from "../kit/program.ts";
import { until } from "../kit/until.ts";

const WAITING = 28;

Deno.test({
  name:
    "a ledger moves from a file to a server and back into a file: what is owed is told, and nothing else",
  ignore: !sqldAvailable,
  fn: async () => {
    await using stored = await temporaryLedger();
    const { folder } = stored;
    const told: string[] = [];
    await using target = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      async (request) => {
        const { data } = new Webhook(FORWARD_SECRET).verify(
          await request.text(),
          Object.fromEntries(request.headers),
        ) as { readonly data: { readonly id: string } };
        told.push(data.id);
        return new Response(null, { status: 204 });
      },
    );
    const env = {
      RAMPKIT_DATABASE_URL: stored.url,
      RAMPKIT_ENVIRONMENT: "sandbox",
      RAMPKIT_WEBHOOK_SECRET: "the-secret-in-the-webhook-address",
      RAMPKIT_SPOOL_DIR: `${folder}/spool`,
      RAMPKIT_FORWARD_SECRET: FORWARD_SECRET,
      RAMPKIT_FORWARD_TO:
        `http://127.0.0.1:${target.addr.port}/hooks order.claimed.*`,
    };
    const at = (url: string) => ({ ...env, RAMPKIT_DATABASE_URL: url });
    const ran = async (args: string[], where: Record<string, string> = env) => {
      const { code, out, err } = await cli(args, where);
      assert.equal(code, 0, `${args.join(" ")}: ${out}${err}`);
      return out;
    };
    const post = async (url: string, id: string) => {
      const answer = await fetch(
        `${url}/webhooks/${env.RAMPKIT_WEBHOOK_SECRET}`,
        {
          method: "POST",
          body: `{"type":"payment_started","order":{"id":"${id}"}}`,
        },
      );
      await answer.body?.cancel();
      assert.equal(answer.status, 204);
    };

    {
      await using serve = await startServe(env, ["--no-poll"]);
      await post(serve.url, "told-before");
      await until(() => told.length > 0);
      // Stopped before its answer is written down, it would be told again.
      await until(async () => (await owing(stored.url)).outbox.length === 0);
      const early = await cli(["ledger", "export", "--move"], env);
      assert.equal(early.code, 1);
      assert.match(
        early.err,
        /^Cannot move .* in use by serve .*stop it first/m,
      );
      assert.equal(await serve.stop(), 0, serve.log.join("\n"));
    }
    assert.deepEqual(new Set(told.splice(0)), new Set(["told-before"]));
    await fill(stored.url);
    const own = await owing(stored.url);
    assert.deepEqual(own.outbox, ["3 dead", "20 due", "5 due again"]);
    for (const rows of own.rest) assert.ok(rows.length > 0);

    const moved = `${folder}/moved.ndjson`;
    const said = await ran(["ledger", "export", "--move", "--output", moved]);
    assert.equal(said, "");
    await using server = await startSqld({ directory: `${folder}/sqld` });
    const remote = at(server.url);
    assert.match(
      await ran(["ledger", "import", moved, "--move"], remote),
      /^Moved in \d+ events, with all that is owed; start serve on this ledger/,
    );
    assert.deepEqual(await owing(server.url), own);
    const again = `${folder}/again.ndjson`;
    await ran(["ledger", "export", "--move", "--output", again], remote);
    const text = await Deno.readTextFile(moved);
    assert.equal(await Deno.readTextFile(again), text);

    const back = at(`file:${folder}/back.db`);
    const cut = `${folder}/cut.ndjson`;
    await Deno.writeTextFile(
      cut,
      text.slice(0, text.lastIndexOf("\n", text.length - 2)),
    );
    const partly = await cli(["ledger", "import", cut, "--move"], back);
    assert.match(partly.err, /the file is cut after line/);
    for (
      const command of [["orders", "list"], ["ledger", "export", "--move"]]
    ) {
      const { code, err } = await cli(command, back);
      assert.equal(code, 1);
      assert.match(err, /moved into it in part only; run .* --move` again/);
    }
    await ran(["ledger", "import", again, "--move"], back);
    const full = await cli(["ledger", "import", again, "--move"], back);
    assert.equal(full.code, 1);
    assert.match(full.err, /holds something already; name an empty one, or/);
    assert.equal(
      await ran(["ledger", "export", "--move"], back),
      text,
      "the refused import changed nothing",
    );

    await using serve = await startServe(back, ["--no-poll"]);
    await post(serve.url, "told-after");
    await until(() => told.includes("told-after"));
    await until(async () => {
      const { outbox } = await owing(back.RAMPKIT_DATABASE_URL);
      return outbox.join() === "3 dead";
    });
    assert.equal(await serve.stop(), 0, serve.log.join("\n"));
    const alive = Array.from({ length: WAITING - 3 }, (_, n) => `O${n + 3}`);
    // At least once each: an answer that is lost makes it twice.
    assert.deepEqual(
      [...new Set(told)].sort(),
      ["told-after", ...alive].sort(),
    );
    const letters = await ran(["subscriptions", "list", "--json"], back);
    for (const id of ["O0", "O1", "O2"]) {
      assert.ok(letters.includes(`"${id}"`), letters);
    }
    for (const where of [env, remote, back]) {
      await ran(["ledger", "verify", "--states"], where);
    }
    const paid = JSON.parse(
      await ran(["orders", "show", "PAID", "--json"], back),
    );
    assert.deepEqual([paid.status, paid.release], ["success", "yes"]);
  },
});

/** Twenty-eight to be told: three were given up, and five were begun. */
async function fill(url: string): Promise<void> {
  await using ledger = await openLedger({ url, ...patient });
  await ledger.append([
    session(0, "S1", "C1", "10", "basket-1"),
    orderRead(5, {
      ...{ orderId: "PAID", status: "success", created: 2, tx: "T" },
      ...{ user: "U1", click: "C1" },
    }),
    ...Array.from(
      { length: WAITING },
      (_, n) =>
        orderWebhook(`W${n}`, 6, { type: "payment_started", orderId: `O${n}` }),
    ),
  ]);
  await ledger.project();
  const of = (condition: string) =>
    `seq IN (SELECT seq FROM log JOIN orders USING (no) WHERE id ${condition})`;
  await ledger.driver.batch([
    {
      sql: `UPDATE outbox SET state = 'dead', attempts = 12, error = '503'
        WHERE ${of("IN ('O0', 'O1', 'O2')")}`,
      args: [],
    },
    {
      sql: `UPDATE outbox SET due_at = 1, attempts = 1, error = '503'
        WHERE ${of("IN ('O3', 'O4', 'O5', 'O6', 'O7')")}`,
      args: [],
    },
  ], "write");
}

/** What is to be told, who holds purchases, and since when the ledger is live. */
async function owing(url: string) {
  await using ledger = await openLedger({ url, readOnly: true, ...patient });
  const [outbox, ...rest] = await ledger.driver.batch(
    [
      `SELECT count(*) || ' ' || state || iif(attempts BETWEEN 1 AND 9, ' again', '')
      AS said FROM outbox GROUP BY state, attempts ORDER BY state, attempts`,
      "SELECT name, no, held FROM purchases",
      "SELECT seq, no FROM log ORDER BY seq",
      "SELECT name, patterns, seq FROM subscriptions",
      "SELECT name, url FROM targets",
      "SELECT live_from FROM ledger",
    ].map((sql) => ({ sql, args: [] })),
    "read",
  );
  return {
    outbox: (outbox?.rows ?? []).map(([said]) => String(said)),
    rest: rest.map(({ rows }) => rows),
  };
}
