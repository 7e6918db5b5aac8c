import { open, stat } from "node:fs/promises";
import process from "node:process";
import { Readable } from "node:stream";
import { errorCode, messageOf } from "../../core/guards.ts";
import { CommandError } from "../../core/settings/errors.ts";

/**
 * Opens a file to read, or standard input for `-`.
 *
 * @throws {CommandError} When it cannot be read, saying why.
 */
export async function openInput(
  file: string,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const stream = file === "-" ? process.stdin : await openFile(file);
  return webStream(stream).pipeThrough(new TransformStream(), { signal });
}

function webStream(stream: Readable): ReadableStream<Uint8Array> {
  return Readable.toWeb(stream) as ReadableStream<Uint8Array>;
}

async function openFile(file: string): Promise<Readable> {
  let why: string;
  try {
    const isDirectory = (await stat(file)).isDirectory();
    if (!isDirectory) return (await open(file)).createReadStream();
    why = "it is a folder";
  } catch (error) {
    why = errorCode(error) === "ENOENT"
      ? "there is no such file"
      : messageOf(error);
  }
  throw new CommandError(`Cannot read ${file}: ${why}`);
}
