/**
 * Says how much memory `serve` holds while a hundred new orders a second come,
 * three webhooks each, by the flags of `deno task serve` and without its poller.
 *
 * Run: `deno run -A bench/floods/steady.ts [SECONDS]`
 *
 * @module
 */
import { startServe } from "../../tests/kit/program.ts";
import { webhookBody } from "../bodies.ts";
import { SECRET } from "../ingest_servers.ts";
import { withFolder } from "../process.ts";

const ordersPerSecond = 100;
const webhooks = ["payment_started", "transfer_started", "order_complete"];
/** Each waits for its answer before it sends the next webhook. */
const senders = 20;

interface Loaded {
  /** Orders in a second: fewer than wanted where the machine is busy. */
  readonly perSecond: number;
  /** The most memory of each fifth of the time, MB. */
  readonly fifthsMb: readonly number[];
}

async function load(
  url: string,
  pid: number,
  seconds: number,
): Promise<Loaded> {
  const beganMs = performance.now();
  const partDone = (): number => (performance.now() - beganMs) / 1000 / seconds;
  const fifthsMb = [0, 0, 0, 0, 0];
  let next = 0;
  const send = async (): Promise<void> => {
    while (partDone() < 1) {
      const order = next++;
      const dueMs = beganMs + order * 1000 / ordersPerSecond;
      await sleepUntil(dueMs);
      for (const type of webhooks) {
        const answer = await fetch(`${url}/webhooks/${SECRET}`, {
          method: "POST",
          body: webhookBody(order, type),
        });
        await answer.body?.cancel();
        if (answer.status !== 204) {
          throw new Error(`A webhook was answered ${answer.status}, not 204`);
        }
      }
    }
  };
  const look = async (): Promise<void> => {
    while (partDone() < 1) {
      const fifth = Math.floor(5 * partDone());
      const mb = await residentMb(pid);
      fifthsMb[fifth] = Math.max(fifthsMb[fifth] ?? 0, mb);
      await sleepUntil(performance.now() + 1000);
    }
  };
  await Promise.all([look(), ...Array.from({ length: senders }, send)]);
  return { perSecond: next / (performance.now() - beganMs) * 1000, fifthsMb };
}

async function sleepUntil(ms: number): Promise<void> {
  const waitMs = ms - performance.now();
  if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
}

async function residentMb(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024 / 1e6);
}

if (import.meta.main) {
  const [seconds = "600"] = Deno.args;
  await withFolder(async (folder) => {
    await using served = await startServe({
      RAMPKIT_ENVIRONMENT: "sandbox",
      RAMPKIT_DATABASE_URL: `file:${folder}/ledger.db`,
      RAMPKIT_WEBHOOK_SECRET: SECRET,
    }, ["--no-poll"]);
    console.log(
      JSON.stringify(await load(served.url, served.pid, Number(seconds))),
    );
  });
}
