import { orderId, webhookBody } from "./bodies.ts";
import type { Load } from "./load.ts";
import { runJson } from "./process.ts";

/** What a load is put on. */
export interface LoadOptions {
  /** Address that takes the webhooks. */
  readonly url: string;
  /** Connections; each waits for its answer before it sends the next. */
  readonly connections: number;
  /** How long, seconds. */
  readonly seconds: number;
}

/**
 * Posts webhooks, each of an order of its own: by `wrk`, which takes little of
 * the machine, where it is installed, else by a generator of our own.
 *
 * @throws {Error} When the generator fails.
 */
export async function load(options: LoadOptions): Promise<Load> {
  return await hasWrk() ? byWrk(options) : byOurs(options);
}

let found: Promise<boolean> | null = null;

function hasWrk(): Promise<boolean> {
  return found ??= canRunWrk();
}

async function canRunWrk(): Promise<boolean> {
  try {
    // A program that is not there is thrown at once, not by the promise.
    await new Deno.Command("wrk", {
      args: ["--version"],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).output();
    return true;
  } catch {
    return false;
  }
}

function byOurs(options: LoadOptions): Promise<Load> {
  return runJson<Load>({
    args: [
      "run",
      "--allow-net=127.0.0.1",
      "bench/load.ts",
      options.url,
      String(options.connections),
      String(options.seconds),
    ],
  });
}

async function byWrk(
  { url, connections, seconds }: LoadOptions,
): Promise<Load> {
  const script = await Deno.makeTempFile({ suffix: ".lua" });
  try {
    await Deno.writeTextFile(script, wrkScript(new URL(url)));
    const run = async (duration: number): Promise<Load> => {
      const { code, stdout, stderr } = await new Deno.Command("wrk", {
        args: [
          ...["-t", "1", "-c", String(connections), "-d", `${duration}s`],
          ...["--timeout", "60s", "-s", script, url],
        ],
        stdin: "null",
      }).output();
      const decoder = new TextDecoder();
      const said = decoder.decode(stdout);
      const last = said.trim().split("\n").at(-1) ?? "";
      if (code !== 0 || !last.startsWith("{")) {
        throw new Error(`wrk failed: ${said}${decoder.decode(stderr)}`);
      }
      return JSON.parse(last);
    };
    // The first second warms the server up.
    const { answered } = await run(1);
    const measured = await run(seconds);
    return { ...measured, answered: answered + measured.answered };
  } finally {
    await Deno.remove(script);
  }
}

/** The same request again and again, but for the digits of the order. */
function wrkScript(url: URL): string {
  const body = webhookBody(0, "order_complete");
  const request = `POST ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\n` +
    "content-type: application/json\r\n" +
    `content-length: ${new TextEncoder().encode(body).length}\r\n\r\n${body}`;
  const digits = orderId(0).slice(orderId(0).search(/0+$/));
  const at = request.indexOf(orderId(0)) + orderId(0).length - digits.length;
  const first = Date.now() * 1000;
  return `
local before = ${lua(request.slice(0, at))}
local after = ${lua(request.slice(at + digits.length))}
local number = ${first}
request = function()
  number = number + 1
  return before .. string.format("%0${digits.length}.0f", number) .. after
end
done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\\n{"by":"wrk","perSecond":%.1f,"p50Ms":%.3f,"p99Ms":%.3f,' ..
      '"maxMs":%.3f,"answered":%d,"refused":%d}\\n',
    (summary.requests - errors.status) / summary.duration * 1e6,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    latency.max / 1000, summary.requests - errors.status,
    errors.status + errors.connect + errors.read + errors.write +
      errors.timeout))
end
`;
}

/** A text of printable characters and line ends, as Lua writes it. */
function lua(text: string): string {
  return JSON.stringify(text);
}
