import { main } from "../../cli/mod.ts";
import { temporaryFolder } from "./temporary_folder.ts";

/** What a command did. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Commands that run for long keep their database in a thread, as they do. */
const LONG = ["serve", "listen", "console", "demo"];

/** Runs a command in this process, with the environment given and no other. */
export async function cli(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  signal: AbortSignal = new AbortController().signal,
  onOut: (text: string) => void = () => {},
  colour = false,
): Promise<Ran> {
  let out = "";
  let err = "";
  const code = await main(args, {
    out: (text) => {
      out += text;
      onOut(text);
    },
    err: (text) => err += text,
    env: (name) => env[name],
    columns: null,
    colour,
    now: () => Date.now(),
    signal,
    worker: LONG.includes(args[0] ?? ""),
  });
  return { code, out, err };
}

/** A ledger file of its own, removed with its folder in the end. */
export async function temporaryLedger(): Promise<
  { readonly url: string; readonly folder: string } & AsyncDisposable
> {
  const folder = await temporaryFolder();
  return {
    folder: folder.path,
    url: `file:${folder.path}/ledger.db`,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
