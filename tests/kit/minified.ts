import assert from "node:assert/strict";

/** A module, bundled for the browser and minified; by default without packages. */
export function minified(
  source: string,
  config: readonly string[] = ["--no-lock", "--no-config"],
): Promise<string> {
  return withFile(source, async (file) => {
    const out = `${file}.js`;
    const { code, stderr } = await new Deno.Command("deno", {
      args: [
        ...["bundle", "--quiet", ...config, "--minify"],
        ...["--platform", "browser", "--output", out, file],
      ],
      stdout: "null",
    }).output();
    assert.equal(code, 0, new TextDecoder().decode(stderr));
    return await Deno.readTextFile(out);
  });
}

/** Hands over a file that holds a text, for as long as `use` takes. */
export async function withFile<T>(
  text: string,
  use: (file: string) => Promise<T>,
): Promise<T> {
  const directory = await Deno.makeTempDir({ prefix: "bundle" });
  try {
    const file = `${directory}/entry.ts`;
    await Deno.writeTextFile(file, text);
    return await use(file);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** How many bytes a text has once it is compressed. */
export async function gzippedBytesOf(text: string): Promise<number> {
  const stream = new Blob([text]).stream()
    .pipeThrough(new CompressionStream("gzip"));
  return (await new Response(stream).arrayBuffer()).byteLength;
}
