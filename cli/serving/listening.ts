import { errorCode } from "../../core/guards.ts";
import { CommandError } from "../program/exit_codes.ts";

/**
 * Opens a server.
 *
 * @param what What cannot be opened otherwise, for people: `the shop`.
 * @param port The port it is to listen on.
 * @param flag The flag that names the port.
 * @throws {CommandError} When the port is taken, or may not be used.
 */
export async function listening<T>(
  what: string,
  port: number,
  open: () => T | Promise<T>,
  flag: string = "--port",
): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const why = errorCode(error) === "EADDRINUSE"
      ? "is taken"
      : errorCode(error) === "EACCES"
      ? "may not be used by this user"
      : null;
    if (why === null) throw error;
    throw new CommandError(
      `Cannot open ${what}: port ${port} ${why}; pass another with ${flag}, ` +
        "or 0 for a free one",
    );
  }
}
