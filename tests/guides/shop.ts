import {
  type OrderTruth,
  type ServedSandbox,
  serveSandbox,
} from "../../sandbox/mod.ts";
import { TextLineStream } from "../kit/text_line_stream.ts";
import { until } from "../kit/until.ts";

/** Where a program of a guide finds the service, and where it listens. */
export interface Place extends AsyncDisposable {
  /** Its variables. */
  readonly env: Readonly<Record<string, string>>;
  /** Address of the program. */
  readonly url: string;
  /** The service in a box. */
  readonly sandbox: ServedSandbox;
}

/** Serves a sandbox whose webhooks go to a program that is to be started. */
export async function place(
  folder: string,
  secret: string = crypto.randomUUID(),
  port: number = freePort(),
): Promise<Place> {
  const url = `http://127.0.0.1:${port}`;
  const apiKey = `key-${crypto.randomUUID()}`;
  const sandbox = await serveSandbox({
    port: 0,
    apiKey,
    webhookUrl: `${url}/webhooks/${secret}`,
  });
  const env = {
    PORT: String(port),
    RAMPKIT_ENVIRONMENT: "sandbox",
    RAMPKIT_API_KEY: apiKey,
    RAMPKIT_BASE_URL: sandbox.url,
    RAMPKIT_WIDGET_ORIGIN: sandbox.url,
    RAMPKIT_PARTNER_ID: sandbox.sandbox.partnerId,
    RAMPKIT_WEBHOOK_SECRET: secret,
    RAMPKIT_DATABASE_URL: `file:${folder}/rampkit.db`,
  };
  return { env, url, sandbox, [Symbol.asyncDispose]: () => sandbox.close() };
}

/** A program of a guide that runs. */
export interface Program extends AsyncDisposable {
  /** What it has printed, a line each. */
  readonly lines: readonly string[];
  /** Waits until something holds while it runs; fails when it has ended. */
  until(holds: () => boolean | Promise<boolean>, what: string): Promise<void>;
  /** Ends it at once, as a crash does. */
  kill(): Promise<unknown>;
  /** Asks it to end, and gives its exit code. */
  end(): Promise<number>;
}

/** Where programs and their caches are. A setting of this machine is not passed on. */
export function passedOn(
  variable: (name: string) => string | undefined,
): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of ["PATH", "HOME", "DENO_DIR"]) {
    const value = variable(name);
    if (value !== undefined) found[name] = value;
  }
  return found;
}

/** Starts a program of a guide. */
export function start(
  [program = "", ...args]: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Program {
  const child = new Deno.Command(program, {
    args,
    cwd,
    env: { ...passedOn(Deno.env.get), NO_COLOR: "1", ...env },
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const lines: string[] = [];
  const read = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) => {
    const text = stream.pipeThrough(new TextDecoderStream())
      .pipeThrough(new TextLineStream());
    for await (const line of text) lines.push(line);
  };
  const reading = Promise.all([read(child.stdout), read(child.stderr)]);
  let hasEnded = false;
  const ended = child.status.then(({ code }) => {
    hasEnded = true;
    return code;
  });
  const end = async (signal: Deno.Signal) => {
    if (!hasEnded) child.kill(signal);
    const code = await ended;
    await reading;
    return code;
  };
  return {
    lines,
    until: async (holds, what) => {
      const printed = () => `${program} printed:\n${lines.join("\n")}`;
      try {
        await until(async () => {
          if (await holds()) return true;
          if (hasEnded) throw new Error(`${program} has ended`);
          return false;
        }, what);
      } catch (error) {
        throw new Error(printed(), { cause: error });
      }
    },
    kill: () => end("SIGKILL"),
    end: () => end("SIGTERM"),
    [Symbol.asyncDispose]: async () => {
      await end("SIGTERM");
    },
  };
}

/** Waits until a program answers at its address. */
export async function answers(program: Program, url: string): Promise<void> {
  await program.until(async () => {
    const answer = await fetch(url).catch(() => null);
    await answer?.body?.cancel();
    return answer !== null;
  }, `${url} answers`);
}

/** What the widget is opened with. */
export interface Sold {
  readonly sessionId: string;
  readonly clickId: string;
}

/** Buys a basket in a program, once it listens. */
export async function buy(
  program: Program,
  url: string,
  query = "",
): Promise<Sold> {
  let sold: Sold | null = null;
  await program.until(async () => {
    try {
      const answer = await fetch(`${url}/buy${query}`, { method: "POST" });
      const text = await answer.text();
      if (answer.ok) sold = JSON.parse(text);
    } catch {
      // It does not listen yet.
    }
    return sold !== null;
  }, `${url}/buy answers with a session`);
  return sold ?? neverSold();
}

/** Reads what a program prints as the customer's part. */
export async function printedSale(program: Program): Promise<Sold> {
  const sale = () =>
    /--session (\S+) --click (\S+)/.exec(program.lines.join("\n"));
  await program.until(() => sale() !== null, "a sale is printed");
  const [, sessionId, clickId] = sale() ?? [];
  if (sessionId && clickId) return { sessionId, clickId };
  return neverSold();
}

function neverSold(): never {
  throw new Error("Nothing was sold");
}

/** Pays for a session to its success, as the customer and the service do. */
export async function pay(
  { sandbox }: Place,
  sold: Sold,
  currencyAmount?: string,
): Promise<string> {
  const { orderId } = sandbox.sandbox.createOrder({
    sessionId: sold.sessionId,
    clickId: sold.clickId,
    ...currencyAmount === undefined ? {} : { currencyAmount },
  });
  for (const step of ["pay", "authorise", "complete"] as const) {
    sandbox.sandbox.advance(orderId, step);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return orderId;
}

/** Waits until a program has shipped, and gives how often it has. */
export async function shipped(
  program: Program,
  reference: string,
): Promise<number> {
  const times = () =>
    program.lines.filter((line) => line.includes(`Ship ${reference}`));
  await program.until(() => times().length > 0, `Ship ${reference}`);
  // A second time would follow from the webhooks and readings that follow.
  await new Promise((resolve) => setTimeout(resolve, 3000));
  return times().length;
}

/** Orders that ended before anything here was started. */
export function pastOrders({ sandbox }: Place): OrderTruth[] {
  const untilMs = Date.now() - 3_600_000;
  const fromMs = untilMs - 30 * 24 * 3_600_000;
  sandbox.sandbox.backfill({ orders: 20, fromMs, untilMs });
  return sandbox.sandbox.truth();
}

/** A back end that keeps which references it was told to release. */
export function startReceiver(): AsyncDisposable & {
  readonly url: string;
  readonly references: string[];
} {
  const references: string[] = [];
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      const { type, data } = await request.json();
      if (type === "order.release.yes") references.push(data.reference);
      return new Response(null, { status: 204 });
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    references,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** A port that is free now. */
export function freePort(): number {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  return port;
}
