import { CommandError } from "./exit_codes.ts";

/**
 * Opens a file to read, or standard input for `-`.
 *
 * @throws {CommandError} When it cannot be read, saying why.
 */
export async function openInput(
  file: string,
): Promise<ReadableStream<Uint8Array>> {
  if (file === "-") return Deno.stdin.readable;
  try {
    return (await Deno.open(file)).readable;
  } catch (error) {
    const why = error instanceof Deno.errors.NotFound
      ? "there is no such file"
      : (error as Error).message;
    throw new CommandError(`Cannot read ${file}: ${why}`);
  }
}
