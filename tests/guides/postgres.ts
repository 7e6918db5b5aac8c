/** A database of Debian's PostgreSQL, in a folder of its own. */
export interface Postgres extends AsyncDisposable {
  /** Its address. */
  readonly url: string;
  /** Runs a query of one column. */
  query(sql: string): Promise<string[]>;
}

const VERSIONS = "/usr/lib/postgresql";

/**
 * Starts one. It refuses to run as root, so root starts it as `postgres`.
 *
 * @throws {Error} When it is not installed.
 */
export async function postgres(): Promise<Postgres> {
  const folder = await Deno.makeTempDir({ dir: "/tmp", prefix: "rampkit-pg-" });
  await Deno.chmod(folder, 0o777);
  const bin = `${VERSIONS}/${await version()}/bin`;
  const data = `${folder}/data`;
  const run = (program: string, ...args: string[]) =>
    output(
      Deno.uid() === 0
        ? ["runuser", "-u", "postgres", "--", `${bin}/${program}`, ...args]
        : [`${bin}/${program}`, ...args],
    );
  await run("initdb", "-D", data, "-A", "trust", "-U", "shop");
  // A socket alone: no port that anybody else may have.
  const options = `-c listen_addresses= -c unix_socket_directories=${folder}`;
  const log = `${folder}/log`;
  await run("pg_ctl", "-D", data, "-o", options, "-l", log, "-w", "start");
  const url = `postgres://shop@/postgres?host=${folder}`;
  return {
    url,
    query: async (sql) => {
      const said = await run("psql", "-qtA", url, "-c", sql);
      return said.split("\n").filter((line) => line !== "");
    },
    [Symbol.asyncDispose]: async () => {
      await run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop");
      await Deno.remove(folder, { recursive: true });
    },
  };
}

async function version(): Promise<string> {
  try {
    for await (const { name } of Deno.readDir(VERSIONS)) return name;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  throw new Error("PostgreSQL is not installed: apt-get install postgresql");
}

async function output(
  [program = "", ...args]: readonly string[],
): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args,
    stdin: "null",
    stderr: "piped",
  }).output();
  const decoder = new TextDecoder();
  if (code === 0) return decoder.decode(stdout);
  throw new Error(`${program} ${args.join(" ")}: ${decoder.decode(stderr)}`);
}
