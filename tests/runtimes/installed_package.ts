import { pack } from "../../tools/pack.ts";

const root = new URL("../..", import.meta.url).pathname;

/** A folder of a partner's, with the packed package in it. */
export interface InstalledPackage extends AsyncDisposable {
  /** The folder. */
  readonly folder: string;
  /**
   * Runs a program there.
   *
   * @throws {Error} When its exit code is not `expected`; 0 unless stated.
   */
  run(command: readonly string[], expected?: number): Promise<string>;
}

/** How npm installs more there, quietly. */
export const NPM_INSTALL: readonly string[] = [
  ...["npm", "install", "--no-audit", "--no-fund", "--prefer-offline"],
];

/** Programs of a partner, copied there. */
const PROGRAMS = [
  "contract.mjs",
  "five_lines.mjs",
  "frameworks.mjs",
  "shop_tests.mjs",
  "started.mjs",
  "typed.ts",
  "using.mjs",
];

/** Packs the package and installs it as npm does, from the registry. */
export function installedPackage(): Promise<InstalledPackage> {
  return prepared(async ({ folder, run }) => {
    await Deno.writeTextFile(`${folder}/package.json`, '{"private":true}');
    const tarball = await pack(folder);
    await run([...NPM_INSTALL, tarball]);
  });
}

/**
 * Packs the package and puts it beside the packages that are here already:
 * quicker, and without a registry, but blind to a dependency left out.
 */
export function linkedPackage(): Promise<InstalledPackage> {
  return prepared(async ({ folder, run }) => {
    for (const file of ["deno.json", "deno.lock"]) {
      await Deno.copyFile(`${root}${file}`, `${folder}/${file}`);
    }
    await run(["deno", "install", "--quiet", "--node-modules-dir=auto"]);
    const place = `${folder}/node_modules/@rampkit/onramp`;
    await Deno.mkdir(place, { recursive: true });
    const tarball = await pack(folder);
    await run(["tar", "-xzf", tarball, "-C", place, "--strip-components=1"]);
    // What is left here must not be found by Deno as a project of its own.
    await Deno.remove(`${folder}/deno.json`);
    await Deno.writeTextFile(`${folder}/package.json`, '{"private":true}');
  });
}

async function prepared(
  install: (place: InstalledPackage) => Promise<void>,
): Promise<InstalledPackage> {
  const folder = await Deno.makeTempDir({ prefix: "rampkit-package-" });
  const place: InstalledPackage = {
    folder,
    run: (command, expected = 0) => run(folder, command, expected),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
  try {
    for (const name of PROGRAMS) {
      await Deno.copyFile(new URL(name, import.meta.url), `${folder}/${name}`);
    }
    await install(place);
    return place;
  } catch (error) {
    await place[Symbol.asyncDispose]();
    throw error;
  }
}

async function run(
  folder: string,
  [program = "", ...args]: readonly string[],
  expected: number,
): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args,
    cwd: folder,
    env: { NO_COLOR: "1" },
  }).output();
  const said = new TextDecoder().decode(stdout);
  if (code === expected) return said;
  throw new Error(
    `${program} ${args.join(" ")} ended with ${code}: ` +
      `${said}${new TextDecoder().decode(stderr)}`,
  );
}
