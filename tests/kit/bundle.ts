import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Bundles a module of this folder for the browser. */
export async function bundle(file: string): Promise<string> {
  const out = await Deno.makeTempFile({ suffix: ".js" });
  try {
    const { success, stderr } = await new Deno.Command("deno", {
      args: [
        ...["bundle", "--quiet", "--platform", "browser", "--format", "iife"],
        ...["--output", out, `${root}tests/kit/${file}`],
      ],
      cwd: root,
      stdout: "null",
    }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
    return await Deno.readTextFile(out);
  } finally {
    await Deno.remove(out);
  }
}
