import { dirname } from "node:path/posix";
import type { Registry } from "./registry.ts";

const root = new URL("../..", import.meta.url).pathname;

/** What a process did. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A partner's folder, with a cache of its own for what the registry serves. */
export interface FreshProject extends AsyncDisposable {
  /** The folder. */
  readonly folder: string;
  /** The program to run there. */
  readonly program: string;
  /** What its processes have to find in their environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs Deno there. */
  deno(args: readonly string[]): Promise<Ran>;
  /** Writes one of its files. */
  write(path: string, text: string): Promise<void>;
}

/** Publishes this checkout with the publisher of `deno publish` itself. */
export function publish(registry: Registry): Promise<Ran> {
  // Types and slow types are checked by the dry run, once for everything.
  const quick = ["--allow-dirty", "--no-check", "--allow-slow-types"];
  return ran("deno", ["publish", "--token", "none", ...quick], {
    cwd: root,
    env: { JSR_URL: registry.url, NO_COLOR: "1" },
  });
}

/** How a fresh project is made. */
export interface FreshProjectOptions {
  /**
   * The program to run there.
   *
   * @default "deno"
   */
  readonly deno?: string;
  /**
   * Whether packages of npm come from this checkout's cache, in the versions of
   * its lock.
   *
   * @default true
   */
  readonly warm?: boolean;
}

/** Makes a folder that knows the package by name alone. */
export async function freshProject(
  registry: Registry,
  { deno = "deno", warm = true }: FreshProjectOptions = {},
): Promise<FreshProject> {
  const folder = await Deno.makeTempDir({ prefix: "rampkit-fresh-" });
  const cache = await Deno.makeTempDir({ prefix: "rampkit-cache-" });
  const env = {
    DENO_DIR: cache,
    JSR_URL: registry.url,
    NO_COLOR: "1",
    // What starts a process of `deno` starts the same one.
    PATH: `${dirname(deno)}:${Deno.env.get("PATH")}`,
  };
  const write = (path: string, text: string) =>
    Deno.writeTextFile(`${folder}/${path}`, text);
  if (warm) {
    await Deno.symlink(await npmCache(), `${cache}/npm`);
    await Deno.copyFile(`${root}deno.lock`, `${folder}/deno.lock`);
  }
  await write(
    "deno.json",
    JSON.stringify({
      imports: { "@rampkit/onramp": "jsr:@rampkit/onramp@^0.1.0" },
    }),
  );
  return {
    folder,
    program: deno,
    env,
    write,
    deno: (args) => ran(deno, args, { cwd: folder, env }),
    [Symbol.asyncDispose]: async () => {
      await Deno.remove(folder, { recursive: true });
      await Deno.remove(cache, { recursive: true });
    },
  };
}

async function npmCache(): Promise<string> {
  const { out } = await ran("deno", ["info", "--json"], { cwd: root, env: {} });
  return JSON.parse(out).npmCache;
}

async function ran(
  program: string,
  args: readonly string[],
  place: { readonly cwd: string; readonly env: Record<string, string> },
): Promise<Ran> {
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    stdin: "null",
    ...place,
  }).output();
  return {
    code,
    out: new TextDecoder().decode(stdout),
    err: new TextDecoder().decode(stderr),
  };
}
