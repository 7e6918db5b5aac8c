import { messageOf } from "../../core/guards.ts";
import { CommandError } from "./exit_codes.ts";

/**
 * Opens a file to read, or standard input for `-`.
 *
 * @param signal Ends the stream with its reason, even while it waits for more.
 * @throws {CommandError} When it cannot be read, saying why.
 */
export async function openInput(
  file: string,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const stream = file === "-" ? Deno.stdin.readable : await openFile(file);
  return stream.pipeThrough(new TransformStream(), { signal });
}

async function openFile(file: string): Promise<ReadableStream<Uint8Array>> {
  let why: string;
  try {
    const { isDirectory } = await Deno.stat(file);
    if (!isDirectory) return (await Deno.open(file)).readable;
    why = "it is a folder";
  } catch (error) {
    why = error instanceof Deno.errors.NotFound
      ? "there is no such file"
      : messageOf(error);
  }
  throw new CommandError(`Cannot read ${file}: ${why}`);
}
