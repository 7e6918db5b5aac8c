import { entriesOf } from "./tar.ts";

/** A registry on loopback that takes publications and serves their files. */
export interface Registry extends AsyncDisposable {
  /** Its address: what `JSR_URL` has to be. */
  readonly url: string;
  /** What was published, by path with a slash in front. */
  readonly files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
  /** Ends it, once. */
  close(): Promise<void>;
}

/** The part of `deno.json` that a registry reads. */
interface Config {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string>>;
}

/** Opens a registry that knows one package, as soon as it is published. */
export function openRegistry(): Registry {
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname.startsWith("/api/")) {
        return await publication(request, files);
      }
      return served(pathname, files);
    },
  );
  let closing: Promise<void> | null = null;
  const close = () => closing ??= server.shutdown();
  return {
    url: `http://127.0.0.1:${server.addr.port}/`,
    files,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** What `deno publish` asks: is the scope ours, is there a package; take it. */
async function publication(
  request: Request,
  files: Map<string, Uint8Array<ArrayBuffer>>,
): Promise<Response> {
  if (request.method === "GET") {
    return /versions/.test(request.url)
      ? new Response(null, { status: 404 })
      : Response.json({ scope: "", name: "" });
  }
  const unpacked = request.body?.pipeThrough(new DecompressionStream("gzip"));
  const archive = await new Response(unpacked ?? null).bytes();
  for (const { path, bytes } of entriesOf(archive)) files.set(path, bytes);
  return Response.json({ id: "1", status: "success", error: null });
}

async function served(
  pathname: string,
  files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>,
): Promise<Response> {
  const config = files.get("/deno.json");
  if (config === undefined) return new Response(null, { status: 404 });
  const { name, version, exports }: Config = JSON.parse(
    new TextDecoder().decode(config),
  );
  if (pathname === `/${name}/meta.json`) {
    return Response.json({ latest: version, versions: { [version]: {} } });
  }
  if (pathname === `/${name}/${version}_meta.json`) {
    return Response.json({ exports, manifest: await manifest(files) });
  }
  const file = files.get(pathname.replace(`/${name}/${version}`, ""));
  return file === undefined
    ? new Response(null, { status: 404 })
    : new Response(
      file,
      { headers: { "content-type": typeOf(pathname) } },
    );
}

async function manifest(
  files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>,
): Promise<Record<string, { size: number; checksum: string }>> {
  const listed: Record<string, { size: number; checksum: string }> = {};
  for (const [path, bytes] of files) {
    const digest = await crypto.subtle.digest("SHA-256", bytes);
    const checksum = `sha256-${new Uint8Array(digest).toHex()}`;
    listed[path] = { size: bytes.length, checksum };
  }
  return listed;
}

function typeOf(path: string): string {
  if (path.endsWith(".ts")) return "text/typescript";
  return path.endsWith(".json") ? "application/json" : "text/plain";
}
