import assert from "node:assert/strict";
import { Webhook } from "standardwebhooks";
import {
  lives,
  SECRET,
  STATUSES,
} from "../../server/forwarding/testing/forwarding_kit.ts";
import { openLedger } from "../../ledger/mod.ts";
import { temporaryLedger } from "../kit/cli.ts";
import { type Served, startServe } from "../kit/program.ts";
import { until } from "../kit/until.ts";

const ORDERS = Array.from({ length: 40 }, (_, index) => `O${index}`);

/** A ledger of orders whose transitions a target has yet to get. */
async function filled(url: string, target: string): Promise<void> {
  await using ledger = await openLedger({ url, environment: "sandbox" });
  const name = `forward:${target}`;
  await ledger.subscribe(
    name,
    { on: "order.confirmed.*", start: false },
    () => {},
  );
  await ledger.append(lives(...ORDERS));
  await ledger.project();
}

const sends = (served: Served) =>
  served.log.some((line) => line.includes('"event":"forwarding"'));

Deno.test("rampkit serve forwards from one of two processes, and loses nothing when that one is killed", async () => {
  await using folder = await temporaryLedger();
  const taken: string[] = [];
  const failed = new Set<string>();
  let came = 0;
  const killed = Promise.withResolvers<void>();
  await using receiver = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      const body = await request.text();
      const headers = Object.fromEntries(request.headers);
      const { data } = new Webhook(SECRET).verify(body, headers) as {
        readonly data: { readonly key?: string };
      };
      // An alarm that orders wait for a person comes to the same receiver.
      const { key } = data;
      if (key === undefined || !key.startsWith("order:")) {
        return new Response(null, { status: 204 });
      }
      // Once each: a second failure would be tried again after minutes.
      if (++came % 9 === 0 && !failed.has(key)) {
        failed.add(key);
        return new Response(null, { status: 500 });
      }
      if (taken.length >= 40) await killed.promise;
      taken.push(key);
      return new Response(null, { status: 204 });
    },
  );
  const target = `http://127.0.0.1:${receiver.addr.port}/hooks`;
  await filled(folder.url, target);
  const env = {
    RAMPKIT_DATABASE_URL: folder.url,
    RAMPKIT_WEBHOOK_SECRET: "the-secret-in-the-webhook-address",
    RAMPKIT_FORWARD_SECRET: SECRET,
    RAMPKIT_FORWARD_TO: `${target} order.confirmed.*`,
  };
  const [first, second] = await Promise.all([
    startServe(env, ["--no-poll"]),
    startServe(env, ["--no-poll"]),
  ]);
  await using _first = first;
  await using _second = second;
  await until(() => taken.length >= 40 && (sends(first) || sends(second)));
  const sender = sends(first) ? first : second;
  const other = sender === first ? second : first;
  assert.equal(sends(other), false, "the other waits for the lease");
  await sender.kill();
  assert.equal(new Set(taken).size, taken.length, "nothing came twice");
  killed.resolve();
  await until(() => sends(other));
  await until(() => new Set(taken).size === 4 * ORDERS.length);
  assert.equal(await other.stop(), 0, other.log.join("\n"));
  for (const order of ORDERS) {
    const told = taken.filter((key) => key.startsWith(`order:${order}:`))
      .map((key) => STATUSES.indexOf(key.split(".").at(-1) ?? ""));
    for (const [at, status] of told.entries()) {
      const before = told[at - 1] ?? -1;
      assert.ok(status <= before + 1, `${order}: ${told.join(" ")}`);
    }
  }
});
