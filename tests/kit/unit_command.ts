const root = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");

/** Where the unit's paths and addresses lead in a test. */
export interface UnitPlaces {
  /** Stands for `/var/lib/rampkit`. */
  readonly state: string;
  /** Host and port of a service that stands for the real ones. */
  readonly service: string;
}

/** The command line of the systemd unit, as it is written there. */
export async function unitCommand(): Promise<readonly string[]> {
  const unit = await Deno.readTextFile(`${root}/docs/deploy/rampkit.service`);
  const [, command = ""] = /^ExecStart=((?:.*\\\n)*.*)$/m.exec(unit) ?? [];
  return command.replaceAll("\\\n", " ").split(/\s+/);
}

/** The same with the paths and addresses of a test, on a free port. */
export async function unitCommandAt(
  { state, service }: UnitPlaces,
): Promise<readonly string[]> {
  const [cache = ""] = import.meta.resolve("zod").replace("file://", "")
    .split("/npm/");
  const places: readonly (readonly [string, string])[] = [
    ["/usr/local/bin/deno", "deno"],
    ["/opt/rampkit-cache", cache],
    ["/opt/rampkit", root],
    ["/var/lib/rampkit", state],
    ["127.0.0.1:8787", "127.0.0.1:0"],
    ["partner.wert.io:443,partner-sandbox.wert.io:443", service],
  ];
  const words = (await unitCommand()).map((word) =>
    places.reduce((text, [from, to]) => text.replaceAll(from, to), word)
  );
  return words.map((word, index) => words[index - 1] === "--port" ? "0" : word);
}
