/**
 * Floods a `serve` of its own, and says how deliveries of a real sender and the
 * memory of the process fared.
 *
 * Run: `deno run -A bench/floods/main.ts KIND [SECONDS]`
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { openLedger } from "../../ledger/mod.ts";
import { startServe } from "../../tests/kit/program.ts";
import { until } from "../../tests/kit/until.ts";
import { fillLedger } from "../fill_ledger.ts";
import { webhookBody } from "../bodies.ts";
import { withFolder } from "../process.ts";
import { type FloodKind, FLOODS, type FloodTarget } from "./floods.ts";

const SECRET = "the-secret-in-the-webhook-address";
/** Events in the ledger before it begins: a thousand orders and more. */
const EVENTS = 20_000;
/** Pause between two deliveries of the real sender, ms. */
const PAUSE_MS = 100;
/** The service waits for so long, ms. */
const SENDER_WAITS_MS = 5_000;

/** How one flood went. */
interface Fared {
  readonly flood: FloodKind;
  readonly seconds: number;
  /** Deliveries of the real sender, and those answered 204 within 5 s. */
  readonly deliveries: number;
  readonly answered: number;
  /** Answers other than 204, by status. */
  readonly others: Readonly<Record<string, number>>;
  /** Time to the answer, ms. */
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly mostMs: number;
  /** Resident memory of `serve`, MiB: in the middle, and the most. */
  readonly medianMiB: number;
  readonly mostMiB: number;
  /** The most in each minute. */
  readonly minutesMiB: readonly number[];
}

/** Resident memory of a process, MiB; the most it ever had with `VmHWM`. */
function memoryMiB(pid: number, field: "VmRSS" | "VmHWM"): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const [, kib] = new RegExp(`${field}:\\s+(\\d+)`).exec(status) ?? [];
  return Math.round(Number(kib) / 1024);
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.floor(part * (sorted.length - 1))] ?? 0);
}

/** Sends a delivery; the status that came within five seconds, or why none. */
async function deliver(url: string, number: number): Promise<string> {
  try {
    const answer = await fetch(`${url}/webhooks/${SECRET}`, {
      method: "POST",
      body: webhookBody(1_000_000 + number, "order_complete"),
      signal: AbortSignal.timeout(SENDER_WAITS_MS),
    });
    await answer.body?.cancel();
    return String(answer.status);
  } catch (error) {
    return error instanceof DOMException ? "late" : "broken";
  }
}

async function fared(flood: FloodKind, seconds: number): Promise<Fared> {
  return await withFolder(async (folder) => {
    const database = `file:${folder}/ledger.db`;
    {
      await using ledger = await openLedger({
        url: database,
        environment: "sandbox",
      });
      await fillLedger(ledger, { count: EVENTS });
      await ledger.project();
    }
    await using served = await startServe({
      RAMPKIT_DATABASE_URL: database,
      RAMPKIT_ENVIRONMENT: "sandbox",
      RAMPKIT_WEBHOOK_SECRET: SECRET,
    }, ["--no-poll", "--api-port", "0"]);
    const listens = () =>
      served.log.find((line) => line.includes("api_listening"));
    await until(() => listens() !== undefined);
    const apiUrl = JSON.parse(listens() ?? "{}").url;
    const worker = new Worker(new URL("./flood_worker.ts", import.meta.url), {
      type: "module",
    });
    const target: FloodTarget = {
      kind: flood,
      url: served.url,
      apiUrl,
      secret: SECRET,
    };
    worker.postMessage(target);
    const times: number[] = [];
    const memory: number[] = [];
    const minutesMiB: number[] = [];
    const beganAt = performance.now();
    const others: Record<string, number> = {};
    let answered = 0;
    const endsAt = beganAt + seconds * 1000;
    for (let number = 0; performance.now() < endsAt; number++) {
      const began = performance.now();
      const status = await deliver(served.url, number);
      times.push(performance.now() - began);
      if (status === "204") answered++;
      else others[status] = (others[status] ?? 0) + 1;
      const resident = memoryMiB(served.pid, "VmRSS");
      memory.push(resident);
      const minute = Math.floor((performance.now() - beganAt) / 60_000);
      minutesMiB[minute] = Math.max(minutesMiB[minute] ?? 0, resident);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    const mostMiB = memoryMiB(served.pid, "VmHWM");
    worker.terminate();
    return {
      flood,
      seconds,
      deliveries: times.length,
      answered,
      others,
      medianMs: quantile(times, 0.5),
      p99Ms: quantile(times, 0.99),
      mostMs: quantile(times, 1),
      medianMiB: quantile(memory, 0.5),
      mostMiB,
      minutesMiB,
    };
  });
}

const [kind = "", seconds = "60"] = Deno.args;
if (!(kind in FLOODS)) {
  console.error(`Name a flood: ${Object.keys(FLOODS).join(", ")}`);
  Deno.exit(2);
}
console.log(JSON.stringify(await fared(kind as FloodKind, Number(seconds))));
Deno.exit(0);
