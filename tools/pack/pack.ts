/**
 * Writes the npm tarball: `deno task pack [--out DIR]`.
 *
 * @module
 */
import { readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path/posix";
import { parseArgs } from "node:util";
import {
  type Compiled,
  compileModule,
  compileTypes,
  OF_PACKAGE,
} from "./compile.ts";
import { type DenoConfig, packageJson } from "./package_json.ts";
import { DEPLOY_FILE, packedFiles, pages, PROGRAM } from "./packed_files.ts";

const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

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
    const target = `${staging}/${path}`;
    await Deno.mkdir(dirname(target), { recursive: true });
    await Deno.writeTextFile(target, text);
  };
  const putCompiled = async (path: string, { text, imports }: Compiled) => {
    await put(path, text);
    for (const name of packageNames(imports)) packages.add(name);
    for (const name of imports) {
      if (!/^\..*\.json$/.test(name)) continue;
      const data = join(dirname(path), name);
      await put(data, await ours(data.replace("modules/", "")));
    }
  };
  try {
    for (const file of files) {
      const path = `modules/${javaScript(file)}`;
      await putCompiled(path, compileModule(file, await ours(file)));
    }
    // Only what a door's types lead to: other files need not state theirs.
    const typed = new Set(doors.values());
    for (const file of typed) {
      const types = compileTypes(file, await ours(file));
      const path = `package/${file.replace(/\.ts$/, ".d.ts")}`;
      await putCompiled(path, types);
      for (const name of types.imports) {
        if (name.startsWith(".")) typed.add(join(dirname(file), name));
      }
    }
    packages.delete(config.name);
    await bundle(staging, [...doors.values(), PROGRAM], packages);
    const about = packageJson(config, doors, packages);
    await put("package/package.json", `${JSON.stringify(about, null, 2)}\n`);
    await put(`package/${DEPLOY_FILE}`, DEPLOY_ELSEWHERE);
    for (const paper of [...PAPERS, ...await pages(root)]) {
      const target = `${staging}/package/${paper}`;
      await Deno.mkdir(dirname(target), { recursive: true });
      await Deno.copyFile(`${root}/${paper}`, target);
    }
    await Deno.mkdir(out, { recursive: true });
    const file = config.name.replace("@", "").replace("/", "-");
    const tarball = `${out}/${file}-${config.version}.tgz`;
    await run("tar", ["-czf", tarball, "-C", staging, "package"]);
    return tarball;
  } finally {
    await Deno.remove(staging, { recursive: true });
  }
}

/**
 * Puts the modules together, what several doors need into files of its own: Node
 * takes a millisecond for each file that it loads.
 */
async function bundle(
  staging: string,
  entries: readonly string[],
  packages: ReadonlySet<string>,
): Promise<void> {
  const [modules, made] = [`${staging}/modules`, `${staging}/package`];
  await run("deno", [
    "bundle",
    ...[...packages].flatMap((name) => ["--external", name]),
    ...["--quiet", "--no-config", "--no-lock", "--code-splitting"],
    ...["--platform", "deno", "--format", "esm", "--outdir", made],
    ...new Set(entries.map((file) => `${modules}/${javaScript(file)}`)),
  ]);
  for (const name of readdirSync(made, { encoding: "utf8", recursive: true })) {
    if (!name.endsWith(".js")) continue;
    const text = await Deno.readTextFile(`${made}/${name}`);
    const placed = text.replaceAll(
      OF_PACKAGE,
      (_, file) => `./${relative(dirname(name), file)}`,
    );
    await Deno.writeTextFile(`${made}/${name}`, placed);
  }
}

function javaScript(file: string): string {
  return file.replace(/\.ts$/, ".js");
}

function ours(path: string): Promise<string> {
  return Deno.readTextFile(`${root}/${path}`);
}

/** The packages among what is imported, without a path inside. */
function packageNames(imports: readonly string[]): string[] {
  return imports.filter((name) => !/^(?:\.|node:)/.test(name))
    .map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name);
}

async function run(program: string, args: readonly string[]): Promise<void> {
  const { code, stderr } = await new Deno.Command(program, {
    args: [...args],
    stdout: "null",
  }).output();
  if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
}

if (import.meta.main) {
  const { values } = parseArgs({
    args: Deno.args,
    options: { out: { type: "string", default: "." } },
  });
  console.log(await pack(values.out));
}
