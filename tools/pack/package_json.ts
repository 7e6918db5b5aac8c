import { DEPLOY_FILE, PROGRAM_FILE } from "./packed_files.ts";

// Empty until they are known: then no package names them, and no link leads
// nowhere.
export const repository: string = "";
export const homepage: string = "";

/** What the package is found by. */
const KEYWORDS = [
  "fiat-onramp",
  "onramp",
  "crypto",
  "payments",
  "webhooks",
  "event-sourcing",
  "ledger",
  "reconciliation",
  "libsql",
  "sqlite",
];

/** All that does something when it is loaded: a bundler may drop the rest. */
const SIDE_EFFECTS = [
  `./${PROGRAM_FILE}`,
  "./ledger/thread/database_thread.js",
];

/** The part of `deno.json` that is used here. */
export interface DenoConfig {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly imports: Readonly<Record<string, string>>;
}

/** What npm has to know of the package. */
export interface PackageJson extends Readonly<Record<string, unknown>> {
  /** Range of versions by name. */
  readonly dependencies: Readonly<Record<string, string>>;
}

/**
 * What npm has to know of the package.
 *
 * @throws {TypeError} When one of them is not in `deno.json`.
 */
export function packageJson(
  config: DenoConfig,
  doors: ReadonlyMap<string, string>,
  packages: ReadonlySet<string>,
): PackageJson {
  const { name, version, license, imports } = config;
  const wanted = [...packages].flatMap((used) => {
    const types = `@types/${used}`;
    return types in imports ? [used, types] : [used];
  });
  return {
    name,
    version,
    license,
    description: "Event-sourced ledger, webhook endpoint, poller and sandbox " +
      "for partners of a fiat-to-crypto onramp service",
    keywords: KEYWORDS,
    ...repository === "" ? {} : {
      repository: { type: "git", url: `git+${repository}.git` },
      bugs: `${repository}/issues`,
    },
    ...homepage === "" ? {} : { homepage },
    type: "module",
    sideEffects: SIDE_EFFECTS,
    engines: { node: "^22.22.3 || >=24.15" },
    exports: {
      ...Object.fromEntries(
        [...doors].map(([door, path]) => [door, {
          types: `./${path.replace(/\.ts$/, ".d.ts")}`,
          default: `./${path.replace(/\.ts$/, ".js")}`,
        }]),
      ),
      // A sentence in place of a path that is not exported.
      "./deploy": `./${DEPLOY_FILE}`,
    },
    bin: { rampkit: `./${PROGRAM_FILE}` },
    dependencies: Object.fromEntries(
      wanted.sort().map((used) => [used, range(imports, used)]),
    ),
  };
}

function range(imports: DenoConfig["imports"], name: string): string {
  const version = imports[name]?.split(`npm:${name}@`)[1];
  if (version !== undefined) return version;
  throw new TypeError(`Cannot pack: ${name} is not among the imports`);
}
