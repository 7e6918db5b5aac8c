/**
 * Writes the npm tarball: `deno task pack [--out DIR]`.
 *
 * @module
 */
import { dirname, join } from "node:path/posix";
import { parseArgs } from "node:util";
import { type Compiled, compileModule, compileTypes } from "./compile.ts";
import { type DenoConfig, packageJson } from "./package_json.ts";
import { DEPLOY_FILE, packedFiles, pages } from "./packed_files.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

/** Of it the package holds name and version alone. */
const CONFIG = "deno.json";

/** Names without a file of their own; pages and pictures go along as well. */
const PAPERS = ["LICENSE"];

/** What an import of the Deno Deploy entry says elsewhere. */
const DEPLOY_ELSEWHERE = `throw new Error(
  "@rampkit/onramp/deploy is the entry of Deno Deploy and runs there alone: " +
    "in Node and Bun use startOnramp of @rampkit/onramp/start",
);
`;

/** Writes the package as npm takes it: a tarball of JavaScript and types. */
export async function pack(out: string): Promise<string> {
  const config: DenoConfig = JSON.parse(await ours(CONFIG));
  const { files, doors } = await packedFiles(root, config.exports);
  const staging = await Deno.makeTempDir({ prefix: "rampkit-pack-" });
  const packages = new Set<string>();
  const put = async (path: string, text: string) => {
    const target = `${staging}/package/${path}`;
    await Deno.mkdir(dirname(target), { recursive: true });
    await Deno.writeTextFile(target, text);
  };
  const putCompiled = async (path: string, { text, imports }: Compiled) => {
    await put(path, text);
    for (const name of packageNames(imports)) packages.add(name);
    for (const name of imports) {
      const data = join(dirname(path), name);
      if (/^\..*\.json$/.test(name) && data !== CONFIG) {
        await put(data, await ours(data));
      }
    }
  };
  try {
    for (const file of files) {
      const path = file.replace(/\.ts$/, ".js");
      await putCompiled(path, compileModule(file, await ours(file)));
    }
    // Only what a door's types lead to: other files need not state theirs.
    const typed = new Set(doors.values());
    for (const file of typed) {
      const types = compileTypes(file, await ours(file));
      await putCompiled(file.replace(/\.ts$/, ".d.ts"), types);
      for (const name of types.imports) {
        if (name.startsWith(".")) typed.add(join(dirname(file), name));
      }
    }
    const { name, version } = config;
    packages.delete(name);
    await put("package.json", json(packageJson(config, doors, packages)));
    await put(CONFIG, json({ name, version })); // The program reads it.
    await put(DEPLOY_FILE, DEPLOY_ELSEWHERE);
    for (const paper of [...PAPERS, ...await pages(root)]) {
      const target = `${staging}/package/${paper}`;
      await Deno.mkdir(dirname(target), { recursive: true });
      await Deno.copyFile(`${root}/${paper}`, target);
    }
    await Deno.mkdir(out, { recursive: true });
    const file = name.replace("@", "").replace("/", "-");
    const tarball = `${out}/${file}-${version}.tgz`;
    await archive(staging, tarball);
    return tarball;
  } finally {
    await Deno.remove(staging, { recursive: true });
  }
}

function ours(path: string): Promise<string> {
  return Deno.readTextFile(`${root}/${path}`);
}

/** The packages among what is imported, without a path inside. */
function packageNames(imports: readonly string[]): string[] {
  return imports.filter((name) => !/^(?:\.|node:)/.test(name))
    .map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name);
}

async function archive(folder: string, tarball: string): Promise<void> {
  const { code, stderr } = await new Deno.Command("tar", {
    args: ["-czf", tarball, "-C", folder, "package"],
  }).output();
  if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

if (import.meta.main) {
  const { values } = parseArgs({
    args: Deno.args,
    options: { out: { type: "string", default: "." } },
  });
  console.log(await pack(values.out));
}
