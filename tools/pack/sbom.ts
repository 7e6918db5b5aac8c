import { Enums, Models, Serialize, Spec } from "@cyclonedx/cyclonedx-library";

/** The part of `deno.lock` that is used here. */
interface LockFile {
  readonly specifiers: Readonly<Record<string, string>>;
  readonly npm: Readonly<
    Record<
      string,
      {
        readonly integrity?: string;
        readonly dependencies?: readonly string[];
        readonly optionalDependencies?: readonly string[];
      }
    >
  >;
}

/** A package that is installed with ours. */
interface Installed {
  readonly name: string;
  readonly version: string;
  /** Base64 of its SHA-512, as registries state it. */
  readonly sha512: string | null;
  /** Keys in the lock file of what it depends on. */
  readonly dependencies: readonly string[];
}

/**
 * Lists what an installed package brings with it, as CycloneDX 1.6 in JSON:
 * names, versions, licences, hashes, and what depends on what.
 *
 * @param root Folder of the project: its `deno.lock` says which versions.
 * @param own Name and version of the package.
 * @param ranges What it depends on: range by name, as in `package.json`.
 */
export async function sbom(
  root: string,
  own: { readonly name: string; readonly version: string },
  ranges: Readonly<Record<string, string>>,
): Promise<string> {
  const lock: LockFile = JSON.parse(
    await Deno.readTextFile(`${root}/deno.lock`),
  );
  const bom = new Models.Bom();
  const product = new Models.Component(Enums.ComponentType.Library, own.name, {
    version: own.version,
    bomRef: `${own.name}@${own.version}`,
  });
  bom.metadata.component = product;
  const components = new Map<string, Models.Component>();
  const installed = closure(lock, ranges);
  for (const [key, { name, version, sha512 }] of installed) {
    const licence = await licenceOf(name, version);
    const component = new Models.Component(Enums.ComponentType.Library, name, {
      version,
      bomRef: key,
      purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
      hashes: new Models.HashDictionary(
        sha512 === null
          ? []
          : [[Enums.HashAlgorithm["SHA-512"], hexOf(sha512)]],
      ),
      licenses: new Models.LicenseRepository(
        licence === null ? [] : [new Models.LicenseExpression(licence)],
      ),
    });
    components.set(key, component);
    bom.components.add(component);
  }
  for (const [key, { dependencies }] of installed) {
    for (const wanted of dependencies) {
      const found = components.get(wanted);
      if (found) components.get(key)?.dependencies.add(found.bomRef);
    }
  }
  for (const key of keysOf(lock, ranges)) {
    const found = components.get(key);
    if (found) product.dependencies.add(found.bomRef);
  }
  return new Serialize.JsonSerializer(
    new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6),
  ).serialize(bom, { sortLists: true, space: 2 });
}

/** The packages that are installed, by their keys in the lock file. */
function closure(
  lock: LockFile,
  ranges: Readonly<Record<string, string>>,
): Map<string, Installed> {
  const found = new Map<string, Installed>();
  const left = keysOf(lock, ranges);
  for (const key of left) {
    const entry = lock.npm[key];
    if (found.has(key) || entry === undefined) continue;
    const dependencies = [
      ...entry.dependencies ?? [],
      ...entry.optionalDependencies ?? [],
    ].map((named) => keyOf(lock, named));
    const [, name = key, version = ""] = /^(@?[^@]+)@([^_]+)/.exec(key) ?? [];
    const sha512 = /^sha512-(.+)$/.exec(entry.integrity ?? "")?.[1] ?? null;
    found.set(key, { name, version, sha512, dependencies });
    left.push(...dependencies);
  }
  return new Map([...found].sort(([a], [b]) => a < b ? -1 : 1));
}

function keysOf(
  { specifiers }: LockFile,
  ranges: Readonly<Record<string, string>>,
): string[] {
  return Object.keys(ranges).flatMap((name) => {
    const known = Object.keys(specifiers)
      .find((specifier) => specifier.startsWith(`npm:${name}@`));
    return known ? [`${name}@${specifiers[known]}`] : [];
  });
}

/** The lock file names a dependency without version where there is only one. */
function keyOf({ npm }: LockFile, named: string): string {
  if (named in npm) return named;
  return Object.keys(npm).find((key) => key.startsWith(`${named}@`)) ?? named;
}

/** The licence that a package states; null where it is not on this machine. */
async function licenceOf(
  name: string,
  version: string,
): Promise<string | null> {
  const cache = await npmCache();
  for await (const { name: registry } of Deno.readDir(cache)) {
    const file = `${cache}/${registry}/${name}/${version}/package.json`;
    try {
      const { license } = JSON.parse(await Deno.readTextFile(file));
      if (typeof license === "string") return license;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return null;
}

let cacheFolder: Promise<string> | undefined;

/** Where Deno keeps packages. */
function npmCache(): Promise<string> {
  return cacheFolder ??= (async () => {
    const { stdout } = await new Deno.Command("deno", {
      args: ["info", "--json"],
    }).output();
    return JSON.parse(new TextDecoder().decode(stdout)).npmCache;
  })();
}

function hexOf(base64: string): string {
  return Uint8Array.fromBase64(base64).toHex();
}
