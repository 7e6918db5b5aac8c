import { dirname } from "node:path/posix";
import { installedPackage } from "../runtimes/installed_package.ts";
import { type Guide, writeGuide } from "./guide.ts";
import { type Program, start } from "./shop.ts";

/** A folder of a reader's, with the packed package and a page's files in it. */
export interface Project extends AsyncDisposable {
  /** The folder. */
  readonly folder: string;
  /**
   * Runs a command line of the page to its end.
   *
   * @returns What it printed to standard output.
   * @throws {Error} When its exit code is not 0.
   */
  run(line: string, env?: Variables): Promise<string>;
  /** Starts a command line of the page. */
  start(line: string, env?: Variables): Program;
}

type Variables = Readonly<Record<string, string>>;

/** What installing the package leaves in a folder that was empty. */
const INSTALLED = ["package.json", "package-lock.json", "node_modules"];

/** Packs the package and installs it once; each page gets a copy of that. */
export async function projects(): Promise<
  AsyncDisposable & { withGuide(guide: Guide): Promise<Project> }
> {
  const installed = await installedPackage();
  const path = await runtimes(installed.run);
  return {
    withGuide: async (guide) => {
      const folder = await Deno.makeTempDir({ prefix: "rampkit-guide-" });
      const from = INSTALLED.map((name) => `${installed.folder}/${name}`);
      // npm replaces files and writes into none: links will do for copies.
      await installed.run(["cp", "-al", ...from, folder]);
      await writeGuide(guide, folder);
      const env = {
        // What is installed in the folder is called by its name, as npx does.
        PATH: [`${folder}/node_modules/.bin`, ...path].join(":"),
        HOME: Deno.env.get("HOME") ?? "",
        NO_COLOR: "1",
        NEXT_TELEMETRY_DISABLED: "1",
        npm_config_audit: "false",
        npm_config_fund: "false",
        npm_config_prefer_offline: "true",
      };
      const command = (line: string) => // A signal to npx would not reach what it starts.
      ["bash", "-c", `exec ${line.replace(/\bnpx /, "")}`];
      return {
        folder,
        run: async (line, more = {}) => {
          const { code, stdout, stderr } = await new Deno.Command("bash", {
            args: ["-c", line],
            cwd: folder,
            // How npm reaches its registry from here is in other variables.
            env: { ...env, ...more },
            stdin: "null",
          }).output();
          const said = new TextDecoder().decode(stdout);
          if (code === 0) return said;
          throw new Error(
            `${line} ended with ${code}: ${said}` +
              new TextDecoder().decode(stderr),
          );
        },
        start: (line, more = {}) =>
          start(command(line), folder, { ...env, ...more }),
        [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
      };
    },
    [Symbol.asyncDispose]: () => installed[Symbol.asyncDispose](),
  };
}

/** Folders of the programs that a reader has: Node 22, Bun, and what is here. */
async function runtimes(
  run: (command: readonly string[]) => Promise<string>,
): Promise<string[]> {
  const placeOf = (runtime: string, command: string) =>
    run(["npx", "--yes", "--package", runtime, "-c", command]);
  const node = await placeOf("node@22", "node -p process.execPath");
  const bun = await placeOf("bun", "command -v bun");
  const here = Deno.env.get("PATH") ?? "";
  return [dirname(node.trim()), dirname(bun.trim()), here];
}
