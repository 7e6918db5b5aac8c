import { readConfig } from "../core/settings/config.ts";
import {
  forwardMeters,
  ForwardReport,
} from "../server/forwarding/forward_report.ts";
import { Forwarder } from "../server/forwarding/forwarder.ts";
import { readForwarding } from "../server/forwarding/read_targets.ts";
import { webhookSigner } from "../server/forwarding/signed_webhook.ts";
import { type Ledger, openLedger } from "../ledger/mod.ts";
import { fillLedger } from "./fill_ledger.ts";
import { SECRET, wholeServer } from "./ingest_servers.ts";
import { load } from "./load_generator.ts";
import {
  type Bench,
  type Comparison,
  ratioRow,
  type Row,
} from "./measuring/comparison.ts";
import { limitOf } from "./measuring/machine_usage.ts";
import { interleave, median, rate } from "./measuring/rounds.ts";
import { type Server, startServer, withFolder } from "./process.ts";

/** Events; an order has seven of them, and four transitions or more. */
const count = 14_000;
const rounds = 2;
const sideBySide = 16;
/** What is aimed at, transitions a second. */
const least = 1_000;
const WEBHOOK_SECRET = `whsec_${btoa("a secret of the benchmark alone")}`;

/** Transitions of a ledger, signed and posted to a receiver beside it. */
export const forward: Comparison = {
  name: "forward",
  note:
    `The transitions of a ledger of ${
      count.toLocaleString("en")
    } events in a file go to a receiver in a process of its own on the same ` +
    "machine, which parses each, looks whether it comes in order within its " +
    "order or user, and answers 204. Ours reads the log, the state of each " +
    "order as it is then, signs, posts 16 at a time, and writes how it went. " +
    "The other side posts a body of the same size as often, 16 at a time, " +
    "and does nothing else. A handler that does nothing shows what a " +
    "subscription itself takes. Last, `serve` answers deliveries of 32 " +
    "connections, with and without a target that it forwards to meanwhile.",
  run: (bench) =>
    withFolder(async (folder) => {
      const { say } = bench;
      await using ledger = await openLedger({
        url: `file:${folder}/ledger.db`,
        environment: "sandbox",
      });
      say(`filling a ledger with ${count} events`);
      await fillLedger(ledger, { count });
      await ledger.project();
      await using receiver = await receiverServer();
      const transitions = await countTransitions(ledger);
      let round = 0;
      const told = (name: string, work: () => Promise<number>) => async () => {
        const perSecond = await rate(work);
        say(`${name}: ${Math.round(perSecond)}/s`);
        return perSecond;
      };
      const results = await interleave(rounds, {
        forward: told("forward", async () => {
          await forwardAll(ledger, `${receiver.url}/${round++}`, transitions);
          const { taken, outOfOrder } = await counted(receiver);
          if (taken === transitions && outOfOrder === 0) return taken;
          throw new Error(
            `${taken} came of ${transitions}, ${outOfOrder} out of order`,
          );
        }),
        posts: told("posts alone", async () => {
          await postAll(ledger, receiver.url, transitions);
          return await counted(receiver).then(({ taken }) => taken);
        }),
        handler: told("handler", () => subscribeAll(ledger, `s${round++}`)),
      }, { say });
      const limit = limitOf(results.forward.usages, "receiver and database");
      const ours = results.forward.results;
      const answers = await answering(folder, receiver, bench);
      return [
        ratioRow("forward, one target", {
          ours,
          theirs: [least],
          unit: "transitions/s",
          at: "least",
          bound: 1,
          limit,
          details: { transitions, inOrder: "yes" },
        }),
        ratioRow("forward, against posts alone", {
          ours,
          theirs: results.posts.results,
          unit: "transitions/s",
          at: "least",
          bound: null,
          limit,
        }),
        ratioRow("subscription, an empty handler, against forwarding", {
          ours: results.handler.results,
          theirs: ours,
          unit: "transitions/s",
          at: "least",
          bound: null,
          limit: limitOf(results.handler.usages, "the database's thread"),
        }),
        answers,
      ];
    }),
};

/** Deliveries that `serve` answers, while it forwards and while it does not. */
async function answering(
  folder: string,
  receiver: Server,
  { burstSeconds, say }: Bench,
): Promise<Row> {
  let server = 0;
  const burst = async (env: Readonly<Record<string, string>>) => {
    await using served = await wholeServer(`${folder}/s${server++}.db`, env);
    const answered = await load({
      url: `${served.url}/webhooks/${SECRET}`,
      connections: 32,
      seconds: burstSeconds,
    });
    say(`serve: ${Math.round(answered.perSecond)}/s, p99 ${answered.p99Ms} ms`);
    return answered;
  };
  const sides = await interleave(rounds, {
    forwarding: () =>
      burst({
        RAMPKIT_FORWARD_TO: `${receiver.url}/serve${server}`,
        RAMPKIT_FORWARD_SECRET: WEBHOOK_SECRET,
      }),
    alone: () => burst({}),
  }, { say });
  const { forwarding, alone } = sides;
  const p99 = (side: typeof alone) =>
    median(side.results.map(({ p99Ms }) => p99Ms));
  return ratioRow("serve, answers while it forwards, against without", {
    ours: forwarding.results.map(({ perSecond }) => perSecond),
    theirs: alone.results.map(({ perSecond }) => perSecond),
    unit: "requests/s",
    at: "least",
    bound: 0.9,
    limit: limitOf(forwarding.usages, "disk and receiver"),
    details: { p99Ms: p99(forwarding), p99MsWithout: p99(alone) },
  });
}

function receiverServer(): Promise<Server> {
  return startServer({
    args: ["run", "--allow-net=127.0.0.1", "bench/webhook_receiver.ts"],
  });
}

async function countTransitions(ledger: Ledger): Promise<number> {
  let counted = 0;
  for (let after = 0;;) {
    const page = await ledger.transitions({ after, limit: 1000 });
    const last = page.at(-1);
    if (last === undefined) return counted;
    counted += page.length;
    after = last.seq;
  }
}

/** Forwards everything from the start, and stops when it was posted. */
async function forwardAll(
  ledger: Ledger,
  url: string,
  transitions: number,
): Promise<void> {
  const forwarding = readForwarding(
    readConfig(() => undefined, {
      forwardTo: [url],
      forwardSecrets: WEBHOOK_SECRET,
    }),
  );
  const [target] = forwarding?.targets ?? [];
  if (target === undefined) throw new Error("There is no target");
  const stop = new AbortController();
  let taken = 0;
  const nothing = { record: () => {}, add: () => {} };
  const report = new ForwardReport({
    target: url,
    name: target.name,
    log: () => {},
    now: Date.now,
    meters: {
      ...forwardMeters({
        createCounter: () => nothing,
        createHistogram: () => nothing,
        createGauge: () => nothing,
        createObservableGauge: () => ({ addCallback: () => {} }),
      }),
      attempts: {
        add: () => {
          if (++taken === transitions) stop.abort();
        },
      },
    },
  });
  await new Forwarder({
    ledger,
    target,
    sign: webhookSigner([WEBHOOK_SECRET]),
    report,
    now: Date.now,
    from: "start",
    concurrency: sideBySide,
  }).run(stop.signal);
}

/** What came since this was last asked. */
async function counted(
  receiver: Server,
): Promise<{ readonly taken: number; readonly outOfOrder: number }> {
  return await (await fetch(receiver.url)).json();
}

async function postAll(
  ledger: Ledger,
  url: string,
  count: number,
): Promise<void> {
  const { value: state } = await ledger.orders.list({ limit: 1 }).next();
  const body = JSON.stringify({
    type: "order.confirmed.success",
    data: { entity: "none", id: "none", seq: 0, state },
  });
  const headers = { "content-type": "application/json" };
  let left = count;
  await Promise.all(
    Array.from({ length: sideBySide }, async () => {
      while (left-- > 0) {
        const answer = await fetch(url, { method: "POST", headers, body });
        await answer.body?.cancel();
      }
    }),
  );
}

async function subscribeAll(ledger: Ledger, name: string): Promise<number> {
  const subscription = await ledger.subscribe(
    name,
    { on: "*", from: "start", start: false },
    () => {},
  );
  const { delivered } = await subscription.dispatch();
  await subscription.stop();
  return delivered;
}
