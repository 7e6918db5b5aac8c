/**
 * Copies a ledger in a file to a sqld of its own, and is killed once on the way:
 * how long it takes, and how much memory.
 *
 * Run: `deno run -A bench/capacity/copy.ts FILE [SECONDS]`, where it is killed
 * after so many seconds.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { startSqld } from "../../ledger/testing/sqld_test_server.ts";
import { LEDGER_PERMISSIONS, withFolder } from "../process.ts";

/** What one run of the command came to. */
interface Ran {
  readonly code: number;
  readonly out: string;
  readonly seconds: number;
  /** The most memory it held, MB. */
  readonly highestMb: number;
}

async function rampkit(
  args: readonly string[],
  url: string,
  killedAfterMs: number | null = null,
): Promise<Ran> {
  const start = performance.now();
  const child = new Deno.Command("deno", {
    args: ["run", ...LEDGER_PERMISSIONS, "cli/main.ts", ...args],
    cwd: new URL("../..", import.meta.url).pathname,
    env: { RAMPKIT_DATABASE_URL: url },
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let highestMb = 0;
  const looking = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
      const [, kib = "0"] = /VmHWM:\s+(\d+)/.exec(status) ?? [];
      highestMb = Math.max(highestMb, Math.round(Number(kib) * 1.024 / 1000));
    } catch { /* It ended a moment ago. */ }
  }, 100);
  const killing = killedAfterMs === null
    ? null
    : setTimeout(() => child.kill("SIGKILL"), killedAfterMs);
  const { code, stdout } = await child.output();
  clearInterval(looking);
  if (killing !== null) clearTimeout(killing);
  return {
    code,
    out: new TextDecoder().decode(stdout),
    seconds: (performance.now() - start) / 1000,
    highestMb,
  };
}

async function copyTo(
  server: string,
  { file, killedAfterMs, say }: {
    readonly file: string;
    readonly killedAfterMs: number;
    readonly say: (what: string, ran: Ran) => void;
  },
): Promise<void> {
  const url = `file:${file}`;
  const to = ["ledger", "copy", "--to", server, "--json"];
  say("killed", await rampkit(to, url, killedAfterMs));
  for (const more of [[], [], ["--finish"]]) {
    const ran = await rampkit([...to, ...more], url);
    say(["copy", ...more].join(" "), ran);
    if (ran.code !== 0) throw new Error(`It ended with ${ran.code}`);
  }
  const verify = ["ledger", "verify", "--json"];
  say("verify in the file", await rampkit(verify, url));
  say("verify on the server", await rampkit(verify, server));
}

if (import.meta.main) {
  const [file, seconds = "10"] = Deno.args;
  if (file === undefined) {
    console.error("Which ledger is to be copied?");
    Deno.exit(2);
  }
  await withFolder(async (directory) => {
    await using server = await startSqld({ directory });
    await copyTo(server.url, {
      file,
      killedAfterMs: Number(seconds) * 1000,
      say: (what, { seconds, highestMb, out }) =>
        console.log(
          `${what}: ${seconds.toFixed(1)} s, ${highestMb} MB at most; ` +
            out.trim(),
        ),
    });
  });
}
