import type { InstalledPackage } from "./installed_package.ts";

const npx = (runtime: string) => ["npx", "--yes", runtime];

/** Each runtime, and what runs a file with it. */
export const RUNTIMES: readonly (readonly [string, readonly string[]])[] = [
  ["Node 22", npx("node@22")],
  ["Node 24", npx("node@24")],
  ["Bun", npx("bun")],
  ["Deno", ["deno", "run", "-A"]],
];

/**
 * What runs a file with a runtime, by the program itself: a signal to npx would
 * not reach what it has started.
 */
export async function itself(
  { run }: InstalledPackage,
  [program = "", ...args]: readonly string[],
): Promise<readonly string[]> {
  if (program !== "npx") return [program, ...args];
  const path = await run([program, ...args, "-p", "process.execPath"]);
  return [path.trim()];
}

/**
 * Runs a program until it prints a line, ends it by SIGTERM, and gives its exit
 * code and what it has printed.
 */
export async function untilLine(
  { folder }: InstalledPackage,
  [program = "", ...args]: readonly string[],
  { line, env = {}, then = () => Promise.resolve() }: {
    readonly line: RegExp;
    /** Done before it is ended. @default {nothing} */
    readonly then?: () => Promise<void>;
    readonly env?: Readonly<Record<string, string>>;
  },
): Promise<{ readonly code: number; readonly said: string }> {
  const child = new Deno.Command(program, {
    args,
    cwd: folder,
    env: { NO_COLOR: "1", ...env },
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let said = "";
  let isTold = false;
  for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
    said += part;
    if (isTold || !line.test(said)) continue;
    isTold = true;
    await then();
    child.kill("SIGTERM");
  }
  const { code } = await child.status;
  return { code, said };
}
