import { errorCode, messageOf } from "../../core/guards.ts";
import { CommandError } from "../../core/settings/errors.ts";

/**
 * Opens a server.
 *
 * @throws {CommandError} When the port is taken, or may not be used, or the
 * address is not of this machine.
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
    if (isNotOurs(error)) {
      throw new CommandError(
        `Cannot open ${what}: the address of ${hostFlag(flag)} is not one of ` +
          "this machine's; pass one that is, 127.0.0.1 for this machine alone " +
          "or 0.0.0.0 for all",
      );
    }
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

/**
 * Whether the address is of another machine, or a name that does not resolve.
 */
function isNotOurs(error: unknown): boolean {
  const code = errorCode(error);
  return code === "EADDRNOTAVAIL" || code === "ENOTFOUND" ||
    // Deno gives this error no code.
    messageOf(error).startsWith("failed to lookup address");
}

/** The flag of the address beside that of the port. */
function hostFlag(portFlag: string): string {
  return portFlag.replace(/port$/, "host");
}

/** The address of a server, for people who open it. */
export function urlOf(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Whether an address to listen on is reached from this machine alone. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host);
}
